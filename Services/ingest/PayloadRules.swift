import Contracts
import JSON

/// The table of what a push may hold; both doors read by it and by nothing else.
///
/// Apple, Starting and updating Live Activities with ActivityKit push notifications.
struct PayloadRule: Sendable {
    /// The member's name, the same in `live_activity` and in `aps`.
    let name: String
    /// What its value must be.
    let form: Form
    /// Whether it belongs to a start.
    let start: Presence
    /// Whether it belongs to an update.
    let update: Presence
    /// Whether it belongs to an end.
    let end: Presence

    /// Whether a member belongs to an event.
    enum Presence: Sendable { case required, optional, refused }

    /// What a value must be.
    enum Form: Sendable {
        case object
        /// What `AlertRule` says.
        case alert
        case text
        /// A number that a `Double` holds, kept as it is written.
        case number
        /// The number 1.
        case one
        /// The id of a channel, in base64.
        case channel
        case seconds
        /// Seconds that lie at most five minutes ahead.
        case pastSeconds
        /// Seconds that lie at most four hours after an end.
        case dismissal
    }

    /// Every member that a push may hold beside `event`.
    static let table: [PayloadRule] = [
        PayloadRule("content-state", .object, start: .required, update: .required, end: .optional),
        PayloadRule("attributes-type", .text, start: .required, update: .refused, end: .refused),
        PayloadRule("attributes", .object, start: .required, update: .refused, end: .refused),
        PayloadRule("alert", .alert, start: .optional, update: .optional, end: .optional),
        PayloadRule("timestamp", .pastSeconds, start: .optional, update: .optional, end: .optional),
        PayloadRule("stale-date", .seconds, start: .optional, update: .optional, end: .optional),
        PayloadRule("dismissal-date", .dismissal, start: .refused, update: .optional, end: .optional),
        PayloadRule("relevance-score", .number, start: .optional, update: .optional, end: .optional),
        PayloadRule("input-push-token", .one, start: .optional, update: .refused, end: .refused),
        PayloadRule("input-push-channel", .channel, start: .optional, update: .refused, end: .refused),
    ]

    init(_ name: String, _ form: Form, start: Presence, update: Presence, end: Presence) {
        (self.name, self.form, self.start, self.update, self.end) = (name, form, start, update, end)
    }

    /// Whether it belongs to an event at a door.
    func presence(in event: ActivityEvent, _ dialect: PayloadDialect) -> Presence {
        let presence =
            switch event {
            case .start: start
            case .update: update
            case .end: end
            }
        return presence == .optional && dialect.alsoRequired.contains(name) ? .required : presence
    }
}

/// What differs between the doors when they read a push.
struct PayloadDialect: Sendable {
    /// The events that the call takes.
    let events: [ActivityEvent]
    /// The event of a push that names none; nil where it must.
    let eventDefault: ActivityEvent?
    /// Members that this door's own document requires although Apple does not.
    let alsoRequired: Set<String>
    /// Members of this door beside those of the table.
    let also: Set<String>
    /// Every member that a push may hold at this door.
    let known: Set<String>

    /// Describes a door; `also` are its members beside those of the table.
    init(
        events: [ActivityEvent], eventDefault: ActivityEvent? = nil, alsoRequired: Set<String> = [],
        also: Set<String> = []
    ) {
        self.events = events
        self.eventDefault = eventDefault
        self.alsoRequired = alsoRequired
        self.also = also
        known = Set(PayloadRule.table.map(\.name)).union(also).union(["event"])
    }

    /// What is said of an event that the door does not take.
    var eventProblem: String {
        let accepted = events.map { JSONText.quote($0.rawValue) }.joined(separator: ", ")
        return "must be \(events.count == 1 ? accepted : "one of \(accepted)")"
    }

    /// `startLiveActivity`; older calls do not name the event.
    static let pushwooshStart = PayloadDialect(events: [.start], eventDefault: .start, also: ["title"])
    /// `updateLiveActivity`.
    static let pushwooshUpdate = PayloadDialect(
        events: [.update, .end], alsoRequired: ["content-state"], also: ["title"])
    /// `messages:send`.
    static let firebase = PayloadDialect(events: ActivityEvent.allCases)
}

/// A push that has been checked against the table.
struct CheckedPush {
    let event: ActivityEvent
    /// The object it stands in.
    let members: ObjectReader

    /// Checks a push: its event first, then each row of the table, then names that are in no row.
    init(_ members: ObjectReader, _ dialect: PayloadDialect, nowSeconds: Int64) throws(Refusal) {
        self.members = members
        event = try CheckedPush.event(members, dialect)
        for rule in PayloadRule.table {
            try CheckedPush.check(rule, members, event, dialect, nowSeconds)
        }
        try members.refuseUnknown(known: dialect.known)
    }

    private static func event(_ members: ObjectReader, _ dialect: PayloadDialect) throws(Refusal)
        -> ActivityEvent
    {
        guard let value = members.value["event"] else {
            if let event = dialect.eventDefault { return event }
            throw members.wrong("event", "missing; it \(dialect.eventProblem)", label: "event")
        }
        guard let text = value.string, let event = dialect.events.first(where: { $0.rawValue == text }) else {
            throw members.wrong("event", dialect.eventProblem, label: "event")
        }
        return event
    }

    private static func check(
        _ rule: PayloadRule, _ members: ObjectReader, _ event: ActivityEvent, _ dialect: PayloadDialect,
        _ nowSeconds: Int64
    ) throws(Refusal) {
        let presence = rule.presence(in: event, dialect)
        guard let value = members.value[rule.name] else {
            guard presence != .required else { throw members.wrong(rule.name, "missing", label: rule.name) }
            return
        }
        guard presence != .refused else {
            throw members.wrong(rule.name, "does not belong to \(event.article)", label: rule.name)
        }
        do {
            try check(rule.form, value, event, members, nowSeconds)
        } catch {
            // Counted under the member: the table's names are few.
            var named = error
            named.label = rule.name
            throw named
        }
    }

    private static func check(
        _ form: PayloadRule.Form, _ value: JSONValue, _ event: ActivityEvent, _ members: ObjectReader,
        _ nowSeconds: Int64
    ) throws(Refusal) {
        switch form {
        case .object:
            guard value.kind == .object else { throw ObjectReader.wrong(value, "must be an object") }
        case .alert: try AlertRule.check(value)
        case .text: _ = try Texts.text(value)
        case .number:
            guard value.double != nil else { throw ObjectReader.wrong(value, "must be a finite number") }
        case .one:
            guard value.int64 == 1 else { throw ObjectReader.wrong(value, "must be 1") }
        case .channel:
            let text = try Texts.text(value)
            guard isBase64(text) else { throw ObjectReader.wrong(value, "must be base64", label: "value") }
        case .seconds: _ = try Seconds.any(value)
        case .pastSeconds: _ = try Seconds.notAhead(value, nowSeconds: nowSeconds)
        case .dismissal:
            let sent = max(members.value["timestamp"]?.int64 ?? 0, nowSeconds)
            // It goes out with an end only.
            guard event == .end else { return _ = try Seconds.any(value) }
            _ = try Seconds.dismissal(value, sentSeconds: sent)
        }
    }

    /// Whether a text is base64 with its padding (RFC 4648, section 4).
    private static func isBase64(_ text: String) -> Bool {
        let digits = text.utf8.reversed().drop { $0 == UInt8(ascii: "=") }
        guard text.utf8.count % 4 == 0, text.utf8.count - digits.count <= 2 else { return false }
        return digits.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "+"), UInt8(ascii: "/"):
                true
            default: false
            }
        }
    }

    /// The bytes of a member as they came in; empty if it is absent.
    func bytes(_ member: String) -> [UInt8] { members.value[member]?.bytes ?? [] }

    /// The raw members.
    var payload: Payload {
        Payload(
            contentState: bytes("content-state"), attributes: bytes("attributes"), alert: bytes("alert"))
    }

    /// The small members, with what follows from the moment of acceptance.
    func notification(priority: Int, expirationSeconds: Int64) -> Notification {
        let value = members.value
        var notification = Notification(
            event: event, priority: priority, expirationSeconds: expirationSeconds)
        notification.attributesType = value["attributes-type"]?.string
        notification.timestampSeconds = value["timestamp"]?.int64
        notification.staleDateSeconds = value["stale-date"]?.int64
        notification.dismissalDateSeconds = value["dismissal-date"]?.int64
        notification.relevanceScore = value["relevance-score"].map {
            String(decoding: $0.bytes, as: UTF8.self)
        }
        notification.inputPushToken = value["input-push-token"].map {
            String(decoding: $0.bytes, as: UTF8.self)
        }
        notification.inputPushChannel = value["input-push-channel"]?.string
        if event == .start, notification.inputPushToken == nil, notification.inputPushChannel == nil {
            // On iOS 18 and later a started activity gets an update token only if it is asked for.
            notification.inputPushToken = "1"
        }
        return notification
    }
}

extension ActivityEvent {
    fileprivate var article: String { self == .start ? "a start" : "an \(rawValue)" }
}
