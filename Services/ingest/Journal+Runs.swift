import Contracts
import Store

/// One life of an activity, as the door knows it.
struct Run: Equatable {
    /// The sequence of what began it, which names it.
    var number: Int64
    var activity: ActivityName
    var beganAtMilliseconds: Int64
    /// Whether a start began it; else a token of the app's own, or the first use of a token.
    var isStart: Bool
    /// The digest of that start.
    var digest: [UInt8]?
    /// The end that was accepted for it.
    var endedBy: Int64?
    /// Whether that end is settled.
    var isEndSettled = false
    /// The fact that said that no participant is left.
    var emptyBy: Int64?
    /// When its first token was registered.
    var firstTokenAtMilliseconds: Int64?
    /// The sequence of the newest registration for it.
    var lastRegistration: Int64 = 0
    /// The broadcast channel that it is bound to.
    var channel: Channel?
    /// How many bytes the attributes of its start have; nil if no start began it.
    var attributesBytes: Int64?
    /// When it was last heard that APNs called a token of it dead, milliseconds since 1970.
    var tokenDiedAtMilliseconds: Int64?
}

extension Journal {
    /// The newest run of an activity.
    func newestRun(_ activity: ActivityName) throws(StoreError) -> Run? {
        try database.first(
            """
            SELECT run, application, space, activity, beganAt, isStart, digest, endedBy, endSettled, emptyBy,
                firstTokenAt, lastRegistration, channel, channelEnvironment, channelStored, attributesBytes, tokenDiedAt
            FROM runs WHERE application = ? AND space = ? AND activity = ? ORDER BY run DESC LIMIT 1
            """, .text(activity.application), .int(activity.space.rawValue), .text(activity.name)
        ) { row throws(StoreError) in try Journal.run(row) }
    }

    /// A run by its number.
    func run(_ number: Int64) throws(StoreError) -> Run? {
        try database.first(
            """
            SELECT run, application, space, activity, beganAt, isStart, digest, endedBy, endSettled, emptyBy,
                firstTokenAt, lastRegistration, channel, channelEnvironment, channelStored, attributesBytes, tokenDiedAt
            FROM runs WHERE run = ?
            """, .int(number)
        ) { row throws(StoreError) in try Journal.run(row) }
    }

    /// The start of an activity that began after an instant and was written with the same bytes.
    func sameStart(_ activity: ActivityName, digest: [UInt8], afterMilliseconds: Int64) throws(StoreError)
        -> Int64?
    {
        try database.first(
            """
            SELECT run FROM runs WHERE application = ? AND space = ? AND activity = ? AND beganAt > ? AND digest = ?
                AND NOT EXISTS (SELECT 1 FROM messages WHERE messages.sequence = runs.run AND cancelledBy IS NOT NULL)
            ORDER BY run LIMIT 1
            """, .text(activity.application), .int(activity.space.rawValue), .text(activity.name),
            .int(afterMilliseconds), .blob(digest)
        ) { $0.int(0) }
    }

    private static func run(_ row: borrowing Row) throws(StoreError) -> Run {
        guard let space = ActivityName.Space(rawValue: row.int(2)) else {
            throw StoreError(call: "decode", message: "a run has an unknown kind of name")
        }
        return Run(
            number: row.int(0),
            activity: ActivityName(application: row.text(1), space: space, name: row.text(3)),
            beganAtMilliseconds: row.int(4), isStart: row.bool(5), digest: row.optionalBlob(6),
            endedBy: row.optionalInt(7), isEndSettled: row.bool(8), emptyBy: row.optionalInt(9),
            firstTokenAtMilliseconds: row.optionalInt(10), lastRegistration: row.int(11),
            channel: try channel(row, 12), attributesBytes: row.optionalInt(15),
            tokenDiedAtMilliseconds: row.optionalInt(16))
    }

    /// Keeps a run that begins.
    func insert(_ run: Run) throws(StoreError) {
        try database.run(
            """
            INSERT INTO runs (run, application, space, activity, beganAt, isStart, digest, channel,
                channelEnvironment, channelStored, attributesBytes) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            """, .int(run.number), .text(run.activity.application), .int(run.activity.space.rawValue),
            .text(run.activity.name), .int(run.beganAtMilliseconds), Value(run.isStart), Value(run.digest),
            Value(run.channel?.id), Value(run.channel?.environment.rawValue),
            run.channel.map { Value($0.isStored) } ?? .null, Value(run.attributesBytes))
    }

    /// Notes that an end was accepted.
    func markEnded(_ run: Int64, by sequence: Int64) throws(StoreError) {
        try database.run("UPDATE runs SET endedBy = ? WHERE run = ?", .int(sequence), .int(run))
    }

    /// Notes that the end of a run is settled, if this was the one.
    func markEndSettled(_ run: Int64, by sequence: Int64) throws(StoreError) {
        try database.run(
            "UPDATE runs SET endSettled = 1 WHERE run = ? AND endedBy = ?", .int(run), .int(sequence))
    }

    /// Notes that nobody is left in a run, unless somebody has registered since.
    func markEmpty(_ run: Int64, byFact fact: Int64, restingOn registration: Int64) throws(StoreError) {
        try database.run(
            """
            UPDATE runs SET emptyBy = ?1 WHERE run = ?2 AND lastRegistration <= ?3
                AND (emptyBy IS NULL OR emptyBy < ?1)
            """, .int(fact), .int(run), .int(registration))
    }

    /// Notes that APNs called a token of a run dead.
    func markTokenDied(_ run: Int64, atMilliseconds now: Int64) throws(StoreError) {
        try database.run("UPDATE runs SET tokenDiedAt = ? WHERE run = ?", .int(now), .int(run))
    }

    /// Notes a registration for a run, which is empty no more.
    func markRegistered(_ run: Int64, by sequence: Int64, hasToken: Bool, atMilliseconds now: Int64)
        throws(StoreError)
    {
        guard hasToken else {
            return try database.run(
                "UPDATE runs SET lastRegistration = ? WHERE run = ?", .int(sequence), .int(run))
        }
        try database.run(
            """
            UPDATE runs SET lastRegistration = ?, emptyBy = NULL, firstTokenAt = coalesce(firstTokenAt, ?)
            WHERE run = ?
            """, .int(sequence), .int(now), .int(run))
    }
}
