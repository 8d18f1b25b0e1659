import Contracts
import Store

/// A command that sends nothing: a cancel, a pause or a resume.
struct Control {
    var head: MessageHead
    /// The message that a cancel is for.
    var cancels: Int64?
    /// What a pause or resume is for; nil is both.
    var environment: APNsEnvironment?
}

extension Journal {
    /// Keeps a command that sends nothing until it is taken.
    ///
    /// - Returns: how many bytes it counts for in the backlog.
    func insert(_ control: Control, door: Door) throws(StoreError) -> Int {
        let head = control.head
        try database.run(
            """
            INSERT INTO messages (sequence, application, door, kind, activity, space, run, orderSeconds, acceptedAt,
                cancels, environment)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            """,
            .int(head.sequence), .text(head.application), .text(door.rawValue), .text(head.kind.rawValue),
            .text(head.activity.name), .int(head.activity.space.rawValue), .int(head.run),
            .int(head.order.seconds), .int(head.acceptedAtMilliseconds), Value(control.cancels),
            Value(control.environment?.rawValue))
        try database.run(
            """
            INSERT INTO commands (sequence, bytes, audience, priority, expirationSeconds, contentState, attributes, alert)
            VALUES (?, ?, ?, 10, 0, x'', x'', x'')
            """, .int(head.sequence), .int(Int64(Journal.rowBytes)), .text(try text(Audience.activity)))
        if let cancelled = control.cancels {
            try database.run(
                "UPDATE messages SET cancelledBy = ? WHERE sequence = ?", .int(head.sequence), .int(cancelled)
            )
        }
        return Journal.rowBytes
    }

    /// Whether somebody has asked to cancel a message.
    func isCancelled(_ message: Int64) throws(StoreError) -> Bool {
        try database.first(
            "SELECT cancelledBy IS NOT NULL FROM messages WHERE sequence = ?", .int(message)
        ) { $0.bool(0) } ?? false
    }
}
