import Contracts
import Crypto
import FoundationEssentials
import Service
import Store

/// What ingest keeps: everything it has accepted until others have it, and what it must know to refuse.
///
/// One SQLite store. Messages and registrations share one sequence, which never goes back, also when rows are gone, and
/// which goes on above the clock with each opening: the other services know what they had by its number, and a journal
/// that is new, or a copy of former days, must not give a number again that they have seen.
final class Journal: TransactionalStore {
    let database: Database
    /// Turns sequences into the codes that callers get.
    let codes: MessageCode
    /// What access tokens are made with.
    let tokenSecret: [UInt8]
    let coder = ParcelCoder()
    /// The group that was read last: each goes to two services, mostly in one turn.
    var lastGroup: RegistrationGroup?
    private let encoder = JSONEncoder()
    private let decoder = JSONDecoder()
    private var activityAudience: String?
    /// The last sequence that was given out in the open transaction, stored by its commit; nil if none was.
    private var lastSequence: Int64?

    /// Opens the journal.
    ///
    /// - Parameters:
    ///   - location: a file, or memory for tests and `--stdio`.
    ///   - freshSecret: 32 random bytes that a new journal keeps as its secret of message codes.
    ///   - openedAtSeconds: now, in seconds since 1970; 0 leaves the sequence where it is, as for a world that ends with
    ///     its journal.
    /// - Throws: `StoreError` if it cannot be opened or upgraded.
    init(_ location: Database.Location, freshSecret: [UInt8], openedAtSeconds: Int64 = 0) throws(StoreError) {
        let database = try Database(location)
        try database.migrate(to: Journal.schema)
        self.database = database
        let secret = try Journal.secret(database, fresh: freshSecret)
        codes = MessageCode(secret: secret)
        tokenSecret = SHA256.authenticationCode(Array("access tokens".utf8), key: secret)
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        try database.transaction { () throws(StoreError) in
            try database.run(
                "UPDATE meta SET number = ?1 WHERE name = 'sequence' AND number < ?1",
                .int(numbersGoOn(openedAtSeconds: openedAtSeconds)))
        }
    }

    private static func secret(_ database: Database, fresh: [UInt8]) throws(StoreError) -> [UInt8] {
        try database.transaction { () throws(StoreError) in
            try database.run(
                "INSERT OR IGNORE INTO meta (name, bytes) VALUES ('codeSecret', ?)", .blob(fresh))
            try database.run("INSERT OR IGNORE INTO meta (name, number) VALUES ('sequence', 0)")
            return try database.first("SELECT bytes FROM meta WHERE name = 'codeSecret'") { $0.blob(0) } ?? []
        }
    }

    func begin() throws(StoreError) {
        lastSequence = nil
        try database.begin()
    }

    func beginReading() throws(StoreError) {
        lastSequence = nil
        try database.beginReading()
    }

    func commit() throws(StoreError) {
        if let lastSequence {
            try database.run("UPDATE meta SET number = ? WHERE name = 'sequence'", .int(lastSequence))
        }
        try database.commit()
    }

    func rollback() throws(StoreError) {
        lastSequence = nil
        // Its sequence may be given out again.
        lastGroup = nil
        try database.rollback()
    }

    /// Gives out the next sequence of the open transaction, or the first of the next ones.
    func nextSequence(of count: Int = 1) throws(StoreError) -> Int64 {
        let last: Int64
        if let lastSequence { last = lastSequence } else { last = try storedSequence() }
        lastSequence = last + Int64(count)
        return last + 1
    }

    /// The latest second that a message may have got as its order without its caller's doing.
    func latestOrderSeconds() throws(StoreError) -> Int64 {
        let accepted = try database.first("SELECT acceptedAt FROM messages ORDER BY sequence DESC LIMIT 1") {
            $0.int(0)
        }
        let kept = try database.first("SELECT number FROM meta WHERE name = 'orderSeconds'") { $0.int(0) }
        return max((accepted ?? 0) / 1_000, kept ?? 0)
    }

    /// Remembers a second that lies ahead of a clock that was set back.
    func keep(orderSeconds: Int64) throws(StoreError) {
        try database.run(
            """
            INSERT INTO meta (name, number) VALUES ('orderSeconds', ?1)
            ON CONFLICT (name) DO UPDATE SET number = ?1 WHERE number < ?1
            """, .int(orderSeconds))
    }

    private func storedSequence() throws(StoreError) -> Int64 {
        let stored = try database.first("SELECT number FROM meta WHERE name = 'sequence'") { $0.int(0) }
        guard let stored else { throw StoreError(call: "sequence", message: "the journal has no sequence") }
        return stored
    }

    /// Does several things of which a refusal takes back all.
    ///
    /// - Parameters:
    ///   - undoable: whether there may be something to take back; false spares two statements.
    ///   - body: says whether what it did is to stay.
    /// - Throws: what the body throws; the caller then rolls back the whole transaction.
    func together(undoable: Bool, _ body: () throws(StoreError) -> Bool) throws(StoreError) {
        guard undoable else {
            _ = try body()
            return
        }
        let former = lastSequence
        try database.run("SAVEPOINT together")
        if !(try body()) {
            try database.run("ROLLBACK TO together")
            lastSequence = former
        }
        try database.run("RELEASE together")
    }

    /// An audience as the text of a column.
    func text(_ audience: Audience) throws(StoreError) -> String {
        guard audience == .activity else { return try encoded(audience) }
        // That of most updates: it need not be written anew for each.
        if let activityAudience { return activityAudience }
        let text = try encoded(audience)
        activityAudience = text
        return text
    }

    /// One value of the contracts as the text of a column.
    func encoded(_ value: some Encodable) throws(StoreError) -> String {
        do {
            return String(decoding: try encoder.encode(value), as: UTF8.self)
        } catch {
            throw StoreError(call: "encode", message: "a \(type(of: value)) cannot be written")
        }
    }

    /// The value of the contracts that a column holds.
    func value<T: Decodable>(_ type: T.Type, _ text: String) throws(StoreError) -> T {
        do {
            return try decoder.decode(type, from: Data(text.utf8))
        } catch {
            throw StoreError(call: "decode", message: "a column holds no \(type)")
        }
    }
}
