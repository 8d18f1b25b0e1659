import JSON

/// What one call of `startLiveActivity` or `updateLiveActivity` says.
struct LiveActivityCall: Sendable, Equatable {
    /// What happens to the activity.
    enum Event: String, Sendable, CaseIterable { case start, update, end }

    /// Whom a start is for.
    enum Audience: Sendable, Equatable {
        case filter(String)
        case devices([String])
        case users([String])
    }

    var event: Event
    var activity: String
    /// The broadcast channel that a start binds, or that a change is for if it names no activity.
    var channel: String?
    /// The content state, JSON text of an object.
    var state: [UInt8]
    /// Of a start only.
    var audience: Audience?
    var attributesType: String?
    /// The attributes, JSON text of an object.
    var attributes: [UInt8]?
    /// The fallback's text, which is also the body of the alert.
    var content: String?
    var title: String?
    /// The alert, JSON text of an object or a string.
    var alert: [UInt8]?
    var relevanceScore: Int64?
    var staleAtSeconds: Int64?
    var dismissalSeconds: Int64?
    var timestampSeconds: Int64?

    init(_ event: Event, activity: String, state: [UInt8]) {
        self.event = event
        self.activity = activity
        self.state = state
    }

    /// The method's name in the path.
    var method: String { event == .start ? "startLiveActivity" : "updateLiveActivity" }

    /// The body (Pushwoosh, Live Activities API).
    func body(application: String, auth: String) -> [UInt8] {
        JSONWriter.object { body in
            body.object("request") { request in
                request.member("application", application)
                request.member("auth", auth)
                request.array("notifications") { $0.object(write) }
            }
        }
    }

    private func write(_ notification: inout JSONWriter) {
        if let content { notification.member("content", content) }
        if let title, event == .start { notification.member("title", title) }
        if event == .start || channel == nil { notification.member("live_activity_id", activity) }
        if let channel { notification.member("channel", channel) }
        switch audience {
        case .filter(let name): notification.member("filter", name)
        case .devices(let list): notification.member("devices", list)
        case .users(let list): notification.member("users", list)
        case nil: break
        }
        notification.object("live_activity", writeActivity)
    }

    private func writeActivity(_ activity: inout JSONWriter) {
        activity.member("event", event.rawValue)
        activity.member("content-state", JSONRaw(state))
        if let attributesType { activity.member("attributes-type", attributesType) }
        if let attributes { activity.member("attributes", JSONRaw(attributes)) }
        if let alert { activity.member("alert", JSONRaw(alert)) }
        if let relevanceScore { activity.member("relevance-score", relevanceScore) }
        if let staleAtSeconds { activity.member("stale-date", staleAtSeconds) }
        if let dismissalSeconds { activity.member("dismissal-date", dismissalSeconds) }
        if let timestampSeconds { activity.member("timestamp", timestampSeconds) }
    }
}
