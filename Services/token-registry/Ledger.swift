import Contracts
import Service
import Store

/// The registry's store: devices, tokens, participants, messages, and one row for each delivery until it has an
/// outcome.
///
/// Rows are kept under integer keys that grow, so that a batch is appended. All that must survive a crash is here;
/// what the registry has in memory besides is read from here when it starts.
final class Ledger: TransactionalStore {
    let database: Database
    /// What `apns-id`s are made from; the first opening fixes it.
    let seed: UInt64
    /// Which run of the kernel this is, in which the monotonic clock goes on; nil if it is not known.
    let boot: Int64?

    /// Opens the ledger in a database and brings its tables up to date.
    ///
    /// - Parameters:
    ///   - database: an open store.
    ///   - seed: a random number, used if the ledger is new.
    ///   - openedAtSeconds: now, in seconds since 1970; 0 leaves the numbers of facts where they are.
    ///   - boot: which run of the kernel this is; nil if it is not known.
    /// - Throws: `StoreError` if the store fails.
    init(_ database: Database, seed: UInt64, openedAtSeconds: Int64 = 0, boot: Int64? = nil)
        throws(StoreError)
    {
        self.database = database
        self.boot = boot
        try database.migrate(to: Ledger.schema)
        try database.transaction { () throws(StoreError) in
            try database.run(
                "INSERT OR IGNORE INTO setting (name, value) VALUES ('seed', ?)",
                .int(Int64(bitPattern: seed)))
        }
        let kept = try database.first("SELECT value FROM setting WHERE name = 'seed'") { $0.int(0) }
        self.seed = kept.map { UInt64(bitPattern: $0) } ?? seed
        try database.transaction { () throws(StoreError) in
            try numberFacts(from: numbersGoOn(openedAtSeconds: openedAtSeconds))
        }
    }

    /// Opens a write transaction.
    ///
    /// - Throws: `StoreError` if the store cannot be locked.
    func begin() throws(StoreError) { try database.begin() }

    /// Makes what was written since `begin` durable.
    ///
    /// - Throws: `StoreError` if it cannot.
    func commit() throws(StoreError) { try database.commit() }

    /// Takes back what was written since `begin`.
    ///
    /// - Throws: `StoreError` if the store is beyond use.
    func rollback() throws(StoreError) { try database.rollback() }
}

extension Row {
    /// Reads a column that holds one of a few integers.
    func code<Code: RawRepresentable<Int64>>(_ column: Int) throws(StoreError) -> Code {
        guard let code = Code(rawValue: int(column)) else {
            throw StoreError(call: "read", message: "column \(column) holds no \(Code.self)")
        }
        return code
    }

    /// Reads a column that holds one of a few words.
    func word<Word: RawRepresentable<String>>(_ column: Int) throws(StoreError) -> Word {
        guard let word = Word(rawValue: text(column)) else {
            throw StoreError(call: "read", message: "column \(column) holds no \(Word.self)")
        }
        return word
    }
}

extension Value {
    /// Wraps a count.
    init(_ count: Int) { self = .int(Int64(count)) }
}
