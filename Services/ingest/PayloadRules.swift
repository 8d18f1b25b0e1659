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
        /// An object, or a string that is the text of the alert.
        case alert
        case text
        /// Any number, kept as it is written.
        case number
        case integer
        case seconds
        /// Seconds that lie at most five minutes ahead.
        case pastSeconds
    }

    /// Every member that a push may hold beside `event`.
    static let table: [PayloadRule] = [
        PayloadRule("content-state", .object, start: .required, update: .required, end: .optional),
        PayloadRule("attributes-type", .text, start: .required, update: .refused, end: .refused),
        PayloadRule("attributes", .object, start: .required, update: .refused, end: .refused),
        PayloadRule("alert", .alert, start: .optional, update: .optional, end: .optional),
        PayloadRule("timestamp", .pastSeconds, start: .optional, update: .optional, end: .optional),
        PayloadRule("stale-date", .seconds, start: .optional, update: .optional, end: .optional),
        PayloadRule("dismissal-date", .seconds, start: .refused, update: .optional, end: .optional),
        PayloadRule("relevance-score", .number, start: .optional, update: .optional, end: .optional),
        PayloadRule("input-push-token", .integer, start: .optional, update: .refused, end: .refused),
        PayloadRule("input-push-channel", .text, start: .optional, update: .refused, end: .refused),
    ]

    init(_ name: String, _ form: Form, start: Presence, update: Presence, end: Presence) {
        (self.name, self.form, self.start, self.update, self.end) = (name, form, start, update, end)
    }

    func presence(in event: ActivityEvent) -> Presence {
        switch event {
        case .start: start
        case .update: update
        case .end: end
        }
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
        known = Set(PayloadRule.table.map(\.name)).union(also).union(["event"])
    }

    /// What is said of an event that the door does not take.
    var eventProblem: String {
        let accepted = events.map { JSONText.quote($0.rawValue) }.joined(separator: ", ")
        return "must be \(events.count == 1 ? accepted : "one of \(accepted)")"
    }
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
        var presence = rule.presence(in: event)
        if dialect.alsoRequired.contains(rule.name), presence == .optional { presence = .required }
        guard let value = members.value[rule.name] else {
            guard presence != .required else { throw members.wrong(rule.name, "missing", label: rule.name) }
            return
        }
        guard presence != .refused else {
            throw members.wrong(rule.name, "does not belong to \(event.article)", label: rule.name)
        }
        do {
            try check(rule.form, value, nowSeconds)
        } catch {
            // Counted under the member: the table's names are few.
            var named = error
            named.label = rule.name
            throw named
        }
    }

    private static func check(_ form: PayloadRule.Form, _ value: JSONValue, _ nowSeconds: Int64)
        throws(Refusal)
    {
        switch form {
        case .object:
            guard value.kind == .object else { throw ObjectReader.wrong(value, "must be an object") }
        case .alert:
            guard value.kind == .object || value.kind == .string else {
                throw ObjectReader.wrong(value, "must be an object or a string")
            }
        case .text: _ = try Texts.text(value)
        case .number:
            guard value.kind == .number else { throw ObjectReader.wrong(value, "must be a number") }
        case .integer:
            guard value.int64 != nil else { throw ObjectReader.wrong(value, "must be an integer") }
        case .seconds: _ = try Seconds.any(value)
        case .pastSeconds: _ = try Seconds.notAhead(value, nowSeconds: nowSeconds)
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
