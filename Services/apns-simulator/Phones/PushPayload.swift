import JSON

/// The parts of a push that a phone acts on, found in one pass over the body and never copied.
struct PushPayload: Sendable {
    let aps: JSONValue
    let eventName: String?
    let contentState: JSONValue?
    let attributesType: String?
    let attributes: JSONValue?
    let alert: JSONValue?
    let timestampSeconds: Int64?
    let staleAtSeconds: Int64?
    let dismissalSeconds: Int64?
    /// Whether `input-push-token` is 1.
    let asksForToken: Bool
    let channel: String?

    /// Reads a body; nil when it is not JSON or has no `aps` object, which a phone drops.
    init?(_ body: [UInt8]) {
        guard let document = try? JSONDocument(body), let aps = document.root["aps"] else { return nil }
        guard let members = aps.members else { return nil }
        var found: [JSONValue?] = Array(repeating: nil, count: Self.names.count)
        for (name, value) in members {
            if let place = Self.places[name] { found[place] = value }
        }
        self.aps = aps
        eventName = found[0]?.string
        contentState = found[1].flatMap { $0.kind == .object ? $0 : nil }
        attributesType = found[2]?.string
        attributes = found[3].flatMap { $0.kind == .object ? $0 : nil }
        alert = found[4].flatMap { $0.kind == .object || $0.kind == .string ? $0 : nil }
        timestampSeconds = found[5].flatMap(Self.seconds)
        staleAtSeconds = found[6].flatMap(Self.seconds)
        dismissalSeconds = found[7].flatMap(Self.seconds)
        asksForToken = found[8]?.int64 == 1
        channel = found[9]?.string
    }

    private static let names = [
        "event", "content-state", "attributes-type", "attributes", "alert", "timestamp", "stale-date",
        "dismissal-date", "input-push-token", "input-push-channel",
    ]
    private static let places = Dictionary(uniqueKeysWithValues: names.enumerated().map { ($1, $0) })

    private static func seconds(_ value: JSONValue) -> Int64? {
        value.int64 ?? value.double.flatMap { Int64(exactly: $0.rounded(.down)) }
    }

    /// The event, `alert` for an ordinary notification, `none` for a name no phone knows.
    var event: PushEvent {
        switch eventName {
        case "start": .start
        case "update": .update
        case "end": .end
        case nil: alert == nil ? .none : .alert
        default: .none
        }
    }

    /// The id under which Pushwoosh's library, or the app by its own member of `attributes`, knows the activity.
    func activityID(member: String) -> String? {
        attributes?["pushwoosh"]?["activityId"]?.string ?? attributes?[member]?.string
    }

    /// A small integer that the sender put into the content state, or its `data`, to find the push again.
    func marker(member: String) -> Int64? {
        guard let contentState else { return nil }
        return contentState[member]?.int64 ?? contentState["data"]?[member]?.int64
    }
}
