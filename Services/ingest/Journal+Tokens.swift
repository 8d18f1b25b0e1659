import Contracts
import Store

/// What the door knows of a Live Activity token.
struct TokenRecord: Equatable {
    /// The run it was registered for or used for; nil for a push-to-start token.
    var run: Int64?
    /// The sequence of its newest registration; 0 if it was only used.
    var registration: Int64
    /// The highest fact about it.
    var fact: Int64
    /// What is known against it.
    var mark: Mark?

    /// What may be known against a token.
    enum Mark: String {
        /// APNs called it dead.
        case died = "died"
        /// Its activity has ended.
        case ended = "ended"
        /// The person has dismissed the activity since it was registered, as the phone says: the registry decides whether
        /// that counts, but nobody is awaited there with a new one.
        case dismissed = "dismissed"
    }
}

extension Journal {
    /// What is known of a token.
    func token(_ token: String, application: String) throws(StoreError) -> TokenRecord? {
        try database.first(
            "SELECT run, registration, fact, mark FROM tokens WHERE application = ? AND token = ?",
            .text(application), .text(token)
        ) { row in
            TokenRecord(
                run: row.optionalInt(0), registration: row.int(1), fact: row.int(2),
                mark: row.optionalText(3).flatMap(TokenRecord.Mark.init(rawValue:)))
        }
    }

    /// What is known against a device's newest token of a run, and since when, milliseconds since 1970; nil if it has
    /// none.
    func newestToken(_ run: Int64, device: String) throws(StoreError) -> (mark: TokenRecord.Mark?, at: Int64)?
    {
        try database.first(
            """
            SELECT mark, seenAt FROM tokens WHERE run = ? AND device = ? ORDER BY registration DESC LIMIT 1
            """, .int(run), .text(device)
        ) { (row) in (row.optionalText(0).flatMap(TokenRecord.Mark.init(rawValue:)), row.int(1)) }
    }

    /// Notes that a device whose token of a run has died, or will be said to have, does not come with another: the person
    /// dismissed the activity.
    func awaitNoMore(_ device: String, in run: Int64) throws(StoreError) {
        try database.run(
            """
            UPDATE tokens SET mark = CASE mark WHEN 'died' THEN 'ended' ELSE 'dismissed' END
            WHERE run = ? AND device = ? AND (mark IS NULL OR mark = 'died')
            """, .int(run), .text(device))
        try database.run(
            """
            UPDATE runs SET tokenDiedAt = NULL WHERE run = ?1 AND tokenDiedAt IS NOT NULL
                AND NOT EXISTS (SELECT 1 FROM tokens WHERE run = ?1 AND mark = 'died')
            """, .int(run))
    }

    /// Notes a registration of a token, which lifts what was known against it.
    func register(
        _ token: String, application: String, run: Int64?, device: String, sequence: Int64,
        atMilliseconds now: Int64
    ) throws(StoreError) {
        try database.run(
            """
            INSERT INTO tokens (application, token, run, device, registration, firstAt, seenAt)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?6)
            ON CONFLICT (application, token) DO UPDATE SET registration = ?5, mark = NULL, seenAt = ?6,
                firstAt = CASE WHEN run IS ?3 AND device IS ?4 THEN firstAt ELSE ?6 END, run = ?3, device = ?4
            """, .text(application), .text(token), Value(run), .text(device), .int(sequence), .int(now))
    }

    /// Notes that a token was used which nobody registered.
    func use(_ token: String, application: String, run: Int64, atMilliseconds now: Int64) throws(StoreError) {
        try database.run(
            """
            INSERT INTO tokens (application, token, run, firstAt, seenAt) VALUES (?1, ?2, ?3, ?4, ?4)
            ON CONFLICT (application, token) DO UPDATE SET run = ?3, mark = NULL, seenAt = ?4
            """, .text(application), .text(token), .int(run), .int(now))
    }

    /// Notes that an end for the holder of a token was accepted.
    func markEnded(_ token: String, application: String) throws(StoreError) {
        try database.run(
            "UPDATE tokens SET mark = 'ended' WHERE application = ? AND token = ?", .text(application),
            .text(token))
    }

    /// Keeps a fact about a token, unless a newer fact or registration is known.
    ///
    /// Of one whose activity was dismissed it makes no difference whether it died.
    func note(
        _ mark: TokenRecord.Mark?, _ token: String, application: String, fact: Int64,
        restingOn registration: Int64,
        atMilliseconds now: Int64
    ) throws(StoreError) {
        try database.run(
            """
            INSERT INTO tokens (application, token, fact, mark, firstAt, seenAt) VALUES (?1, ?2, ?3, ?4, ?6, ?6)
            ON CONFLICT (application, token) DO UPDATE SET fact = ?3, seenAt = ?6,
                mark = CASE WHEN mark = 'dismissed' AND ?4 = 'died' THEN 'ended' ELSE ?4 END
                WHERE fact < ?3 AND registration <= ?5
            """, .text(application), .text(token), .int(fact), Value(mark?.rawValue), .int(registration),
            .int(now))
    }
}
