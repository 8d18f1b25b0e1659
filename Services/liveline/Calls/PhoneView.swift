import JSON

/// What a phone shows and what it has shown, as the simulator tells.
struct PhoneView: Sendable {
    /// One push as the phone saw it.
    struct Event: Sendable, Equatable {
        /// Milliseconds since 1970.
        var atMilliseconds: Int64
        var event: String
        var activity: String
        /// `started`, `updated`, `ended`, `shown`, `stored` or `ignored`.
        var verdict: String
        /// Why it was ignored.
        var reason: String?
        /// The content state, JSON text.
        var state: String

        /// Whether the person saw it.
        var isVisible: Bool { verdict != "ignored" && verdict != "stored" }
    }

    /// An activity on the phone.
    struct Activity: Sendable, Equatable {
        var id: String
        /// `active`, `ended` or `dismissed`.
        var state: String
        /// The update token that its app has, in hex; nil for none.
        var token: String?
        /// The content state that it shows, JSON text.
        var shown: String
    }

    var hardwareID: String
    var isOnline: Bool
    var pushes: Int64
    var duplicates: Int64
    var activities: [Activity]
    var history: [Event]

    /// Reads the simulator's answer; nil if it is none.
    init?(_ value: JSONValue) {
        guard let hardwareID = value["hwid"]?.string else { return nil }
        self.hardwareID = hardwareID
        isOnline = value["online"]?.bool ?? true
        pushes = value["pushes"]?.int64 ?? 0
        duplicates = value["duplicates"]?.int64 ?? 0
        activities = value["activities"]?.elements?.map(Self.activity) ?? []
        history = value["history"]?.elements?.map(Self.event) ?? []
    }

    private static func activity(_ value: JSONValue) -> Activity {
        Activity(
            id: value["id"]?.string ?? "", state: value["state"]?.string ?? "",
            token: value["token"]?.string, shown: text(value["contentState"]))
    }

    private static func event(_ value: JSONValue) -> Event {
        Event(
            atMilliseconds: value["at"]?.int64 ?? 0, event: value["event"]?.string ?? "",
            activity: value["activity"]?.string ?? "", verdict: value["verdict"]?.string ?? "",
            reason: value["why"]?.string, state: text(value["contentState"]))
    }

    private static func text(_ value: JSONValue?) -> String {
        value.map { $0.isNull ? "" : String(decoding: $0.bytes, as: UTF8.self) } ?? ""
    }
}
