import Service
import Contracts
import Store

/// Lets go, in small steps, of what need not be remembered any more.
///
/// Rows stand in the order in which they were accepted, so that a pass walks from the oldest to the first that is too
/// young. A step looks at a bounded number of rows; after one that found as many, the next follows soon.
struct Housekeeping {
    /// The most rows one step looks at.
    static let rowsPerStep = 100
    /// How long between two steps of one pass, in milliseconds.
    static let stepMilliseconds: Int64 = 50
    /// How long between two passes, in milliseconds.
    static let passMilliseconds: Int64 = 60_000

    /// When the next step is due, on the monotonic clock; nil before the first turn.
    private(set) var nextMilliseconds: Int64?
    private var cursors: [Table: Int64] = [:]

    /// What is tidied.
    enum Table: CaseIterable { case messages, runs, tokens, replies }

    /// Makes a step if one is due.
    ///
    /// - Parameters:
    ///   - now: the time of the turn.
    ///   - limits: how long the rest is remembered.
    ///   - retentionMilliseconds: how long a settled message can be asked about, in milliseconds.
    ///   - journal: what is tidied.
    /// - Throws: `StoreError` if the store fails.
    mutating func turn(
        at now: Moment, _ limits: IngestLimits, retentionMilliseconds: Int64, in journal: Journal
    ) throws(StoreError) {
        guard now.monotonic >= nextMilliseconds ?? .min else { return }
        for table in Table.allCases {
            cursors[table] = try journal.purge(
                table, behind: cursors[table] ?? 0, nowMilliseconds: now.wall, limits,
                retentionMilliseconds: retentionMilliseconds)
        }
        let isPassOver = cursors.values.allSatisfy { $0 == 0 }
        nextMilliseconds =
            now.monotonic + (isPassOver ? Housekeeping.passMilliseconds : Housekeeping.stepMilliseconds)
    }
}

extension Journal {
    /// Takes one step through a table.
    ///
    /// - Returns: the key to go on behind; 0 when the pass is over.
    func purge(
        _ table: Housekeeping.Table, behind cursor: Int64, nowMilliseconds now: Int64, _ limits: IngestLimits,
        retentionMilliseconds: Int64
    ) throws(StoreError) -> Int64 {
        switch table {
        case .messages:
            try purge(
                behind: cursor, before: now - retentionMilliseconds,
                select:
                    "SELECT sequence, acceptedAt, settledAt FROM messages WHERE sequence > ? ORDER BY sequence LIMIT ?",
                delete: "DELETE FROM messages WHERE sequence = ?")
        case .runs:
            try purge(
                behind: cursor, before: now - limits.memoryMilliseconds,
                select: "SELECT run, beganAt, beganAt FROM runs WHERE run > ? ORDER BY run LIMIT ?",
                delete: "DELETE FROM runs WHERE run = ?")
        case .replies:
            try purge(
                behind: cursor, before: now - limits.idempotencyMilliseconds,
                select: "SELECT id, answeredAt, answeredAt FROM replies WHERE id > ? ORDER BY id LIMIT ?",
                delete: "DELETE FROM replies WHERE id = ?")
        case .tokens:
            // What is known against a token is remembered as long as messages are. The order of the rows is that of
            // their first use, which says nothing about their last: so each one is looked at.
            try purgeTokens(
                behind: cursor, before: now - limits.memoryMilliseconds,
                markedBefore: now - retentionMilliseconds)
        }
    }

    private func purge(behind cursor: Int64, before cutoff: Int64, select: SQL, delete: SQL)
        throws(StoreError)
        -> Int64
    {
        let limit = Housekeeping.rowsPerStep
        let rows = try database.all(select, .int(cursor), .int(Int64(limit))) { row in
            (key: row.int(0), at: row.int(1), doneAt: row.optionalInt(2))
        }
        for row in rows where row.at < cutoff {
            if let doneAt = row.doneAt, doneAt < cutoff { try database.run(delete, .int(row.key)) }
        }
        guard let last = rows.last, rows.count == limit, last.at < cutoff else { return 0 }
        return last.key
    }

    private func purgeTokens(behind cursor: Int64, before cutoff: Int64, markedBefore markedCutoff: Int64)
        throws(StoreError) -> Int64
    {
        let limit = Housekeeping.rowsPerStep
        let rows = try database.all(
            "SELECT id, seenAt, mark IS NOT NULL FROM tokens WHERE id > ? ORDER BY id LIMIT ?", .int(cursor),
            .int(Int64(limit))
        ) { (id: $0.int(0), seenAt: $0.int(1), isMarked: $0.bool(2)) }
        for row in rows where row.seenAt < (row.isMarked ? markedCutoff : cutoff) {
            try database.run("DELETE FROM tokens WHERE id = ?", .int(row.id))
        }
        guard let last = rows.last, rows.count == limit else { return 0 }
        return last.id
    }
}
