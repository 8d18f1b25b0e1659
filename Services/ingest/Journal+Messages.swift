import Contracts
import Store

/// What a message is beside its push.
struct MessageHead: Equatable {
    var sequence: Int64
    var application: String
    var kind: Command.Kind
    var activity: ActivityName
    var run: Int64
    var order: Order
    var acceptedAtMilliseconds: Int64
}

/// What a caller may know of a message.
struct MessageStatus: Equatable {
    var head: MessageHead
    var door: String
    var takenAtMilliseconds: Int64?
    var settledAtMilliseconds: Int64?
    var revision: Int64?
    var counts = OutcomeCounts()
    /// The cancel that was accepted for it.
    var cancelledBy: Int64?
}

/// A command that waits no more.
struct TakenCommand: Equatable {
    var application: String
    var kind: Command.Kind
    /// What it counted for in the backlog.
    var bytes: Int
}

extension Journal {
    /// Keeps a command until it is taken, and its message for longer.
    ///
    /// - Returns: how many bytes it counts for in the backlog.
    func insert(_ head: MessageHead, _ draft: Draft, audience: Audience, door: Door) throws(StoreError) -> Int
    {
        try database.run(
            """
            INSERT INTO messages (sequence, application, door, kind, activity, space, run, orderSeconds, acceptedAt)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
            """,
            .int(head.sequence), .text(head.application), .text(door.rawValue), .text(head.kind.rawValue),
            .text(head.activity.name), .int(head.activity.space.rawValue), .int(head.run),
            .int(head.order.seconds), .int(head.acceptedAtMilliseconds))
        let audience = try text(audience)
        let bytes = draft.payload.byteCount + audience.utf8.count + Journal.rowBytes
        let push = draft.notification
        try database.run(
            """
            INSERT INTO commands VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            """,
            .int(head.sequence), .int(Int64(bytes)), .text(audience), Value(push.attributesType),
            Value(push.timestampSeconds), Value(push.staleDateSeconds), Value(push.dismissalDateSeconds),
            Value(push.relevanceScore), Value(push.inputPushToken), Value(push.inputPushChannel),
            .int(Int64(push.priority)), .int(push.expirationSeconds), Value(push.collapseID),
            Value(push.apnsID),
            Value(push.fallback?.title), Value(push.fallback?.body), .blob(draft.payload.contentState),
            .blob(draft.payload.attributes), .blob(draft.payload.alert))
        return bytes
    }

    /// About what a row needs beside its payload, in bytes.
    static var rowBytes: Int { 300 }

    /// The command of a message that is not taken yet.
    func command(_ sequence: Int64) throws(StoreError) -> Command? {
        try database.first(
            """
            SELECT m.application, m.kind, m.activity, m.run, m.orderSeconds, m.acceptedAt, c.audience,
                c.attributesType, c.timestampSeconds, c.staleDateSeconds, c.dismissalDateSeconds, c.relevanceScore,
                c.inputPushToken, c.inputPushChannel, c.priority, c.expirationSeconds, c.collapseID, c.apnsID,
                c.fallbackTitle, c.fallbackBody, c.contentState, c.attributes, c.alert, m.cancels, m.environment,
                r.channel, r.channelEnvironment, r.channelStored
            FROM commands c JOIN messages m ON m.sequence = c.sequence LEFT JOIN runs r ON r.run = m.run
            WHERE c.sequence = ?
            """, .int(sequence)
        ) { row throws(StoreError) in
            guard let kind = Command.Kind(rawValue: row.text(1)) else {
                throw StoreError(call: "decode", message: "a message has an unknown kind")
            }
            var command = Command(
                sequence: sequence, application: row.text(0), kind: kind, run: row.int(3),
                activity: row.text(2),
                order: Order(seconds: row.int(4), sequence: sequence), acceptedAtMilliseconds: row.int(5),
                audience: try value(Audience.self, row.text(6)),
                notification: Journal.notification(kind, row),
                payload: Payload(
                    contentState: row.blob(20), attributes: row.blob(21), alert: row.blob(22)))
            command.cancelledMessage = row.optionalInt(23)
            command.environment = row.optionalText(24).flatMap(APNsEnvironment.init(rawValue:))
            command.channel = try Journal.channel(row, 25)
            return command
        }
    }

    private static func notification(_ kind: Command.Kind, _ row: borrowing Row) -> Notification? {
        guard let event = ActivityEvent(rawValue: kind.rawValue) else { return nil }
        var push = Notification(event: event, priority: Int(row.int(14)), expirationSeconds: row.int(15))
        push.attributesType = row.optionalText(7)
        push.timestampSeconds = row.optionalInt(8)
        push.staleDateSeconds = row.optionalInt(9)
        push.dismissalDateSeconds = row.optionalInt(10)
        push.relevanceScore = row.optionalText(11)
        push.inputPushToken = row.optionalText(12)
        push.inputPushChannel = row.optionalText(13)
        push.collapseID = row.optionalText(16)
        push.apnsID = row.optionalText(17)
        push.fallback = row.optionalText(19).map {
            Notification.Fallback(title: row.optionalText(18), body: $0)
        }
        return push
    }

    /// How many commands of each application are not taken yet, and the bytes they count for.
    func waitingCommandCounts() throws(StoreError) -> [(
        application: String, flow: AtHand.Flow, count: Int, bytes: Int
    )] {
        try database.all(
            """
            SELECT m.application, m.kind IN ('start', 'update') AS isBound, count(*), sum(c.bytes)
            FROM commands c JOIN messages m ON m.sequence = c.sequence GROUP BY m.application, isBound
            ORDER BY m.application, isBound
            """
        ) { ($0.text(0), $0.bool(1) ? .bound : .free, Int($0.int(2)), Int($0.int(3))) }
    }

    /// A page of the commands that are not taken yet, the oldest first, and whether each is to be cancelled.
    func waitingCommands(_ page: AtHand.Page) throws(StoreError) -> [(head: MessageHead, isCancelled: Bool)] {
        try database.all(
            """
            SELECT sequence, application, kind, activity, space, run, orderSeconds, acceptedAt,
                cancelledBy IS NOT NULL
            FROM messages
            WHERE takenAt IS NULL AND application = ? AND (kind IN ('start', 'update')) = ? AND sequence > ?
                AND sequence <= ?
            ORDER BY sequence LIMIT ?
            """, .text(page.application), .int(page.flow == .bound ? 1 : 0), .int(page.behind),
            .int(page.through), .int(Int64(page.countMax))
        ) { row throws(StoreError) in (try Journal.head(row), row.bool(8)) }
    }

    /// What is known of a message.
    func status(_ sequence: Int64) throws(StoreError) -> MessageStatus? {
        try database.first(
            """
            SELECT sequence, application, kind, activity, space, run, orderSeconds, acceptedAt, door, takenAt, settledAt,
                revision, delivered, superseded, expired, failed, unreachable, cancelled,
                cancelledBy
            FROM messages WHERE sequence = ?
            """, .int(sequence)
        ) { row throws(StoreError) in
            var status = MessageStatus(
                head: try Journal.head(row), door: row.text(8), takenAtMilliseconds: row.optionalInt(9),
                settledAtMilliseconds: row.optionalInt(10), revision: row.optionalInt(11))
            for (column, outcome) in Outcome.allCases.enumerated() {
                status.counts[outcome] = Int(row.int(12 + column))
            }
            status.cancelledBy = row.optionalInt(12 + Outcome.allCases.count)
            return status
        }
    }

    private static func head(_ row: borrowing Row) throws(StoreError) -> MessageHead {
        guard let kind = Command.Kind(rawValue: row.text(2)),
            let space = ActivityName.Space(rawValue: row.int(4))
        else { throw StoreError(call: "decode", message: "a message has an unknown kind") }
        return MessageHead(
            sequence: row.int(0), application: row.text(1), kind: kind,
            activity: ActivityName(application: row.text(1), space: space, name: row.text(3)),
            run: row.int(5),
            order: Order(seconds: row.int(6), sequence: row.int(0)), acceptedAtMilliseconds: row.int(7))
    }

    /// Notes that the ledger has the whole message; its push is of no more use here.
    ///
    /// - Returns: whose it was, and the bytes it counted for; nil if it was not waiting any more.
    func markTaken(_ sequence: Int64, atMilliseconds now: Int64) throws(StoreError) -> TakenCommand? {
        let bytes = try database.first(
            "DELETE FROM commands WHERE sequence = ? RETURNING bytes", .int(sequence)
        ) { Int($0.int(0)) }
        guard let bytes else { return nil }
        // What sends nothing has no deliveries to wait for.
        let taken = try database.first(
            """
            UPDATE messages SET takenAt = ?1,
                settledAt = CASE WHEN kind IN ('cancel', 'pause', 'resume') THEN ?1 ELSE settledAt END
            WHERE sequence = ?2 RETURNING application, kind
            """, .int(now), .int(sequence)
        ) { row throws(StoreError) in
            guard let kind = Command.Kind(rawValue: row.text(1)) else {
                throw StoreError(call: "decode", message: "a message has an unknown kind")
            }
            return TakenCommand(application: row.text(0), kind: kind, bytes: bytes)
        }
        guard let taken else {
            throw StoreError(call: "taken", message: "a command has no message")
        }
        return taken
    }

    /// Keeps the highest revision of how a message ended.
    func settle(_ settled: Settled) throws(StoreError) {
        let counts = settled.counts
        try database.run(
            """
            UPDATE messages SET settledAt = ?, revision = ?, delivered = ?, superseded = ?, expired = ?, failed = ?,
                unreachable = ?, cancelled = ?
            WHERE sequence = ?
            """,
            .int(settled.settledAtMilliseconds), .int(settled.revision), .int(Int64(counts.delivered)),
            .int(Int64(counts.superseded)), .int(Int64(counts.expired)), .int(Int64(counts.failed)),
            .int(Int64(counts.unreachable)), .int(Int64(counts.cancelled)), .int(settled.message))
    }
}
