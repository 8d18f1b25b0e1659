extension PhoneView {
    /// The phone's activities and all that it was sent, oldest first, one line each.
    var text: String {
        let head = "\(hardwareID): \(pushes) pushes, \(duplicates) twice\(isOnline ? "" : ", offline")"
        let now = activities.map { activity in
            "  \(activity.id) is \(activity.state)\(activity.token != nil ? "" : ", without a token"): \(activity.shown)"
        }
        return ([head] + now + history.map(Self.line)).joined(separator: "\n")
    }

    private static func line(_ event: Event) -> String {
        let what = event.reason.map { "\(event.event) \(event.verdict), \($0)" } ?? event.verdict
        return "    \(ClockText.day(event.atMilliseconds))  \(event.activity)  \(what)  \(event.state)"
    }
}
