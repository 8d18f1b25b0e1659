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
        return "    \(clock(event.atMilliseconds))  \(event.activity)  \(what)  \(event.state)"
    }

    /// The time of day in UTC.
    private static func clock(_ milliseconds: Int64) -> String {
        let seconds = milliseconds / 1_000 % 86_400
        let parts = [seconds / 3_600, seconds / 60 % 60, seconds % 60].map { $0 < 10 ? "0\($0)" : "\($0)" }
        let rest = String(milliseconds % 1_000 + 1_000).dropFirst()
        return "\(parts.joined(separator: ":")).\(rest)"
    }
}
