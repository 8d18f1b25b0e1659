import Contracts
import Store

extension MessageFields {
    static let columns = """
        number, application, kind, run, order_seconds, order_sequence, accepted_at, token, expiration, priority,
        content_bytes, alert_bytes, bytes, fan_out, complete, is_cancelled, cursor, participant_max, unsettled,
        delivered, superseded, expired, failed, unreachable, cancelled,
        revision, settled_at, settled_unnoted, taken_unnoted, sweep_at, sweep_cursor
        """

    fileprivate init(_ row: borrowing Row) throws(StoreError) {
        number = row.int(0)
        application = row.text(1)
        kind = try row.word(2)
        run = row.int(3)
        order = Order(seconds: row.int(4), sequence: row.int(5))
        acceptedAt = row.int(6)
        token = row.optionalText(7)
        expirationSeconds = row.int(8)
        priority = Int(row.int(9))
        contentBytes = Int(row.int(10))
        alertBytes = Int(row.int(11))
        bytes = Int(row.int(12))
        isFanOut = row.bool(13)
        isComplete = row.bool(14)
        isCancelled = row.bool(15)
        cursor = row.optionalInt(16)
        participantMax = row.int(17)
        unsettled = Int(row.int(18))
        for (place, outcome) in Outcome.stored.enumerated() { counts[outcome] = Int(row.int(19 + place)) }
        revision = row.int(25)
        settledAt = row.optionalInt(26)
        isSettledUnnoted = row.bool(27)
        isTakenUnnoted = row.bool(28)
        sweepAt = row.optionalInt(29)
        sweepCursor = row.int(30)
    }
}

extension Outcome {
    /// The outcomes in the order of their columns.
    static let stored: [Outcome] = [.delivered, .superseded, .expired, .failed, .unreachable, .cancelled]
}

extension Ledger {
    private static let byNumber = SQL("SELECT \(MessageFields.columns) FROM message WHERE number = ?")

    func message(_ number: Int64) throws(StoreError) -> MessageFields? {
        try database.first(Ledger.byNumber, .int(number)) { row throws(StoreError) in try MessageFields(row) }
    }

    /// Where a message stands that ingest takes for complete and not settled.
    enum Standing {
        /// It is not there, or not all of it.
        case missing
        /// It is not settled, or ingest is told so just now.
        case open
        /// It is settled, and ingest has noted that.
        case settled
    }

    /// Where an application's message stands.
    func standing(_ number: Int64, of application: String) throws(StoreError) -> Standing {
        let found = try database.first(
            """
            SELECT settled_at IS NOT NULL AND settled_unnoted = 0 FROM message
            WHERE number = ? AND application = ? AND complete = 1
            """, .int(number), .text(application)
        ) { $0.bool(0) }
        return found.map { $0 ? .settled : .open } ?? .missing
    }

    func add(_ message: MessageFields) throws(StoreError) {
        try database.run(
            """
            INSERT INTO message (number, application, kind, run, order_seconds, order_sequence, accepted_at, token,
                expiration, priority, content_bytes, alert_bytes, bytes, fan_out, complete, is_cancelled,
                participant_max, unsettled, delivered, superseded, expired, failed, unreachable, cancelled,
                revision, settled_unnoted, taken_unnoted, sweep_cursor)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)
            """, .int(message.number), .text(message.application), .text(message.kind.rawValue),
            .int(message.run), .int(message.order.seconds), .int(message.order.sequence),
            .int(message.acceptedAt),
            Value(message.token), .int(message.expirationSeconds), Value(message.priority),
            Value(message.contentBytes), Value(message.alertBytes), Value(message.bytes))
    }

    func save(_ message: MessageFields) throws(StoreError) {
        try database.run(
            """
            UPDATE message SET fan_out = ?, complete = ?, is_cancelled = ?, cursor = ?, participant_max = ?,
                unsettled = ?, delivered = ?, superseded = ?, expired = ?, failed = ?, unreachable = ?,
                cancelled = ?, revision = ?, settled_at = ?, settled_unnoted = ?, taken_unnoted = ?, sweep_at = ?,
                sweep_cursor = ? WHERE number = ?
            """,
            values: [
                Value(message.isFanOut), Value(message.isComplete), Value(message.isCancelled),
                Value(message.cursor), .int(message.participantMax), Value(message.unsettled),
            ] + Outcome.stored.map { Value(message.counts[$0]) } + [
                .int(message.revision), Value(message.settledAt), Value(message.isSettledUnnoted),
                Value(message.isTakenUnnoted), Value(message.sweepAt), .int(message.sweepCursor),
                .int(message.number),
            ])
    }

    /// The oldest messages whose activity is still gone through, of those that are fan-outs or of the others.
    func expanding(fanOuts: Bool, limit: Int) throws(StoreError) -> [Int64] {
        try database.all(
            "SELECT number FROM message WHERE cursor IS NOT NULL AND fan_out = ? ORDER BY number LIMIT ?",
            Value(fanOuts), Value(limit)
        ) { $0.int(0) }
    }

    /// The messages that ingest has not noted as settled, from one on.
    func settledUnnoted(after number: Int64, limit: Int) throws(StoreError) -> [Int64] {
        try database.all(
            "SELECT number FROM message WHERE settled_unnoted = 1 AND number > ? ORDER BY number LIMIT ?",
            .int(number), Value(limit)
        ) { $0.int(0) }
    }

    /// The messages, cancels, pauses and resumes that ingest has not noted as taken, from one on.
    func takenUnnoted(after number: Int64, limit: Int) throws(StoreError) -> [Int64] {
        try database.all(
            """
            SELECT number FROM message WHERE taken_unnoted = 1 AND number > ?1
            UNION ALL SELECT number FROM control WHERE number > ?1
            ORDER BY number LIMIT ?2
            """, .int(number), Value(limit)
        ) { $0.int(0) }
    }

    /// Keeps that a cancel, a pause or a resume is taken until ingest has noted it.
    func addControl(_ number: Int64) throws(StoreError) {
        try database.run("INSERT OR IGNORE INTO control (number) VALUES (?)", .int(number))
    }

    func removeControl(_ number: Int64) throws(StoreError) {
        try database.run("DELETE FROM control WHERE number = ?", .int(number))
    }

    /// The message whose rows are to be gone through first.
    func nextSweep() throws(StoreError) -> (message: Int64, at: Int64)? {
        try database.first(
            "SELECT number, sweep_at FROM message WHERE sweep_at IS NOT NULL ORDER BY sweep_at LIMIT 1"
        ) { ($0.int(0), $0.int(1)) }
    }

    /// What waits, by application.
    func load() throws(StoreError) -> [(application: String, rows: Int, bytes: Int)] {
        try database.all(
            """
            SELECT application, sum(unsettled), sum(bytes) FROM message WHERE settled_at IS NULL
            GROUP BY application ORDER BY application
            """
        ) { ($0.text(0), Int($0.int(1)), Int($0.int(2))) }
    }

    /// The newest update that was meant for everybody who took part in a run when a participant did.
    func newestUpdate(run: Int64, participant: Int64) throws(StoreError) -> Int64? {
        try database.first(
            """
            SELECT number FROM message
            WHERE run = ? AND participant_max >= ? AND kind = 'update' AND is_cancelled = 0
            ORDER BY order_seconds DESC, order_sequence DESC LIMIT 1
            """, .int(run), .int(participant)
        ) { $0.int(0) }
    }

    /// The newest state among the latest thousand messages of a run that was delivered to somebody or may still be.
    ///
    /// One that was settled may still be while it has not expired, if a token for it was missing or refused, or nobody
    /// was there: a token that is registered gets it then. What was only replaced by a newer one never goes again, also
    /// if that is taken back.
    func newestState(run: Int64, atSeconds now: Int64) throws(StoreError) -> NewestState? {
        try database.first(
            """
            SELECT m.number, c.event, m.order_seconds, c.state FROM message m JOIN content c ON c.message = m.number
            WHERE m.number IN (SELECT number FROM message WHERE run = ?1 ORDER BY number DESC LIMIT 1000)
                AND length(c.state) > 0 AND (m.delivered > 0 OR m.is_cancelled = 0 AND (m.settled_at IS NULL
                    OR m.kind <> 'start' AND m.expiration > ?2
                        AND (m.unreachable + m.failed > 0 OR m.superseded + m.expired = 0)))
            ORDER BY m.order_seconds DESC, m.order_sequence DESC LIMIT 1
            """, .int(run), .int(now)
        ) { row throws(StoreError) in
            NewestState(
                message: row.int(0), event: try row.word(1), orderSeconds: row.int(2),
                contentState: String(decoding: row.blob(3), as: UTF8.self))
        }
    }

    /// Some message of a run.
    func message(ofRun run: Int64) throws(StoreError) -> Int64? {
        try database.first(
            "SELECT number FROM message WHERE run = ? ORDER BY number LIMIT 1", .int(run)
        ) { $0.int(0) }
    }

    func removeMessage(_ number: Int64) throws(StoreError) {
        try database.run("DELETE FROM message WHERE number = ?", .int(number))
        try database.run("DELETE FROM content WHERE message = ?", .int(number))
        try removePasses(message: number)
    }
}
