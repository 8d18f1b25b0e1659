internal import CSQLite

/// One connection to an SQLite store, for one thread.
///
/// Commits are durable when they return (`synchronous=FULL` over a write-ahead log). Each statement is prepared once
/// and kept. A file is made with mode 0600, and so are its log and index.
public final class Database {
    /// Where a store lives.
    public enum Location: Equatable, Sendable {
        /// In memory, for this connection alone, gone with it.
        case memory
        /// In the file at this path, which is made if it is missing; its directory must exist.
        case file(String)
    }

    /// The settings of a connection.
    public struct Options: Equatable, Sendable {
        /// How long a call waits for another connection's lock, in milliseconds; 500 by default, since a service says no
        /// hello and answers nobody meanwhile.
        public var busyTimeoutMilliseconds: Int32 = 500
        /// How large the page cache grows, in KiB; 8,192 by default.
        public var cacheKibibytesMax = 8_192
        /// How large the write-ahead log grows before it is copied back, in bytes; 1 MiB by default, or an eighth of
        /// what is free on the disk if that is less.
        ///
        /// One commit, or a reader that stays in one transaction, can carry it beyond. The commit that copies it back
        /// waits for that: 1 to 2 ms for 1 MiB, 10 to 15 ms for 8.
        public var logBytesTarget = 1 << 20

        /// Takes the defaults.
        public init() {}
    }

    // Declared before the connection: statements are finalised before it closes.
    private var cache = StatementCache()
    let connection: Connection
    let options: Options
    /// A transaction was begun here and neither committed nor rolled back.
    public internal(set) var isInTransaction = false
    /// Why SQLite ended the transaction by itself; thrown by whatever comes next until `rollback` or `commit`.
    var transactionFailure: StoreError?
    /// The file; nil in memory.
    let path: String?
    /// Its files; nil in memory.
    var place: StorePlace?
    /// What the log may grow to now, in bytes.
    var logBytes: Int64 = 0
    var commitsUntilLook = 0
    /// The disk was full when something was last written.
    var needsRoom = false
    /// A write has failed, and none has succeeded since.
    var needsProof = false

    /// Opens the store and sets it up.
    ///
    /// - Throws: `StoreError` when the file cannot be opened, is not a database, is damaged or read-only.
    public init(_ location: Location, options: Options = Options()) throws(StoreError) {
        self.options = options
        switch location {
        case .memory:
            path = nil
            connection = try Connection(path: ":memory:")
            try configure()
        case .file(let path):
            guard !path.isEmpty, !path.utf8.contains(0) else {
                throw StoreError(call: "open", extendedCode: SQLITE_CANTOPEN, message: "no usable path")
            }
            // An absolute or dotted path cannot be read as ":memory:" or as a URI.
            let plain = path.hasPrefix("/") ? path : "./" + path
            try PrivateFile.createIfMissing(plain)
            self.path = plain
            connection = try Connection(path: plain)
            try configure()
            try useWriteAheadLog(path: plain)
            place = try StorePlace(plain)
        }
    }

    /// Opens the store only to look at it; it must be there.
    init(lookingAt path: String) throws(StoreError) {
        options = Options()
        // Nothing is written, so that no log has to be looked after.
        self.path = nil
        connection = try Connection(path: path.hasPrefix("/") ? path : "./" + path, isReadOnly: true)
        connection.setBusyTimeout(milliseconds: options.busyTimeoutMilliseconds)
        try connection.execute(script: "PRAGMA query_only = ON; PRAGMA trusted_schema = OFF;")
    }

    /// How many rows the last INSERT, UPDATE or DELETE touched.
    public var changes: Int { connection.changes }

    /// The key of the row inserted last.
    public var lastInsertedRowID: Int64 { connection.lastInsertedRowID }

    /// How many prepared statements are kept.
    var cachedStatementCount: Int { cache.count }

    /// Finds or prepares a statement; one on which a query stands is not handed out twice.
    func statement(for sql: SQL) throws(StoreError) -> Statement {
        if let known = cache[sql] {
            return known.isInUse ? try connection.prepare(known.sql) : known
        }
        let made = try connection.prepare(sql.text)
        cache.insert(made, for: sql)
        return made
    }
}

extension Database {
    private func configure() throws(StoreError) {
        connection.setBusyTimeout(milliseconds: options.busyTimeoutMilliseconds)
        // Constraints between tables are the cores' work: a check on each row would be paid on the hot path.
        try connection.execute(
            script: """
                PRAGMA synchronous = FULL;
                PRAGMA foreign_keys = OFF;
                PRAGMA trusted_schema = OFF;
                PRAGMA temp_store = MEMORY;
                PRAGMA cache_size = -\(options.cacheKibibytesMax);
                """)
    }

    private func useWriteAheadLog(path: String) throws(StoreError) {
        guard !connection.isReadOnly else {
            throw StoreError(
                call: "open", extendedCode: SQLITE_READONLY, message: "the file is read-only: \(path)")
        }
        let mode = try switchJournal()
        guard mode == "wal" else {
            throw StoreError(call: "open", message: "no write-ahead log here (journal mode \(mode)): \(path)")
        }
        try fitLog()
    }

    /// Switches a new file to the write-ahead log, while other connections may be at the same.
    ///
    /// SQLite refuses at once, without waiting for the busy timeout, where two that switch would wait for each other.
    private func switchJournal() throws(StoreError) -> String {
        let pauseMilliseconds: Int32 = 5
        var waitedMilliseconds: Int32 = 0
        while true {
            do {
                return try first("PRAGMA journal_mode = WAL") { $0.text(0) } ?? "none"
            } catch {
                guard error.isBusy, waitedMilliseconds < options.busyTimeoutMilliseconds else { throw error }
            }
            sqlite3_sleep(pauseMilliseconds)
            waitedMilliseconds += pauseMilliseconds
        }
    }
}

@available(*, unavailable)
extension Database: Sendable {}
