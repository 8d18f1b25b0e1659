public import Service
public import Store

/// The device profiles: who has which tags, users and ordinary push tokens.
///
/// One row for each device and one for each value of each tag. A tag that was taken away keeps a row with the
/// sequence that did it, so that an older registration that comes late changes nothing.
public final class Profiles: TransactionalStore {
    let database: Database
    private let location: Database.Location
    /// Connections whose reading is over, kept for the next one.
    private var idleReaders: [Database] = []
    /// Numbers that were looked up or given out, valid until a transaction is taken back.
    var known = KnownNumbers()

    /// How many connections are kept for later readings.
    private static let idleReadersMax = 4

    /// Opens the profiles and brings them to the newest schema.
    ///
    /// - Throws: `StoreError` if they cannot be opened or are newer than this program.
    public init(_ location: Database.Location) throws(StoreError) {
        self.location = location
        database = try Database(location)
        try database.migrate(to: Profiles.schema)
    }

    /// Opens a write transaction.
    public func begin() throws(StoreError) { try database.begin() }

    /// Makes what was written durable.
    public func commit() throws(StoreError) {
        do {
            try database.commit()
        } catch {
            known = KnownNumbers()
            throw error
        }
    }

    /// Takes back what was written.
    public func rollback() throws(StoreError) {
        known = KnownNumbers()
        try database.rollback()
    }

    /// A connection that sees the profiles as they are committed now, until `endReading`; nil in memory, where there
    /// is only one connection.
    ///
    /// What is let go without `endReading` is closed.
    func beginReading() throws(StoreError) -> Database? {
        guard case .file = location else { return nil }
        var options = Database.Options()
        // A reading goes through each page once.
        options.cacheKibibytesMax = 1_024
        let reader =
            if let idle = idleReaders.popLast() { idle } else { try Database(location, options: options) }
        try reader.beginReading()
        return reader
    }

    /// Ends a reading, so that the log no longer grows for it.
    func endReading(_ reader: Database) throws(StoreError) {
        try reader.rollback()
        if idleReaders.count < Profiles.idleReadersMax { idleReaders.append(reader) }
    }

    /// The tables of the profiles.
    ///
    /// A device's number begins with that of its application, so that the devices of one stand together, in the order
    /// in which they came. `joined` is the sequence by which it was last counted in; `active` is 0 once it has
    /// unregistered.
    ///
    /// The key of `tags` puts the values of one tag in a column by device number, for conditions that many devices
    /// fulfil; the index puts them in order of value, for those that few do. `value` holds text, an integer or a real
    /// number as it is, so that one index serves every comparison; a boolean is 0 or 1. `kind` tells how the value is
    /// shown: see `TagKind`.
    static let schema = Schema(steps: [
        """
        CREATE TABLE applications (id INTEGER PRIMARY KEY, code TEXT NOT NULL UNIQUE) STRICT;
        CREATE TABLE devices (
            id INTEGER PRIMARY KEY, application INTEGER NOT NULL, active INTEGER NOT NULL,
            joined INTEGER NOT NULL, device_type INTEGER, hwid TEXT NOT NULL,
            profile_sequence INTEGER NOT NULL, user_sequence INTEGER NOT NULL,
            user TEXT, push_token TEXT, environment TEXT, os_version TEXT,
            language TEXT, app_version TEXT, device_model TEXT, timezone_seconds INTEGER,
            UNIQUE (application, hwid)
        ) STRICT;
        CREATE INDEX devices_user ON devices (application, user) WHERE user IS NOT NULL;
        CREATE INDEX devices_push_token ON devices (application, push_token) WHERE push_token IS NOT NULL;
        CREATE TABLE tag_names (
            id INTEGER PRIMARY KEY, application INTEGER NOT NULL, name TEXT NOT NULL,
            UNIQUE (application, name)
        ) STRICT;
        CREATE TABLE tags (
            tag INTEGER NOT NULL, device INTEGER NOT NULL, position INTEGER NOT NULL,
            kind INTEGER NOT NULL, value ANY, sequence INTEGER NOT NULL,
            PRIMARY KEY (tag, device, position)
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX tags_value ON tags (tag, value, device) WHERE kind > 0;
        """
    ])
}

/// How a stored tag value is shown.
enum TagKind: Int64 {
    /// The tag was taken away; only its sequence is of use.
    case removed = 0
    case string = 1
    case number = 2
    case boolean = 3
    case list = 4
    /// A list without members: it is set, and equals nothing.
    case emptyList = 5
}
