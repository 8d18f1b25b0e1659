public import Service
public import Store

/// The device profiles: who has which tags, users and ordinary push tokens.
///
/// One row for each device and one for each value of each tag. A tag that was taken away keeps a row with the
/// sequence that did it, so that an older registration that comes late changes nothing.
public final class Profiles: TransactionalStore {
    let database: Database

    /// Opens the profiles and brings them to the newest schema.
    ///
    /// - Throws: `StoreError` if they cannot be opened or are newer than this program.
    public init(_ location: Database.Location) throws(StoreError) {
        database = try Database(location)
        try database.migrate(to: Profiles.schema)
    }

    /// Opens a write transaction.
    public func begin() throws(StoreError) { try database.begin() }
    /// Makes what was written durable.
    public func commit() throws(StoreError) { try database.commit() }
    /// Takes back what was written.
    public func rollback() throws(StoreError) { try database.rollback() }

    /// The tables of the profiles.
    ///
    /// `value` holds text, an integer or a real number as it is, so that one index serves every comparison; a
    /// boolean is 0 or 1. `kind` tells how the value is shown: see `TagKind`.
    static let schema = Schema(steps: [
        """
        CREATE TABLE applications (id INTEGER PRIMARY KEY, code TEXT NOT NULL UNIQUE) STRICT;
        CREATE TABLE devices (
            id INTEGER PRIMARY KEY, application INTEGER NOT NULL, hwid TEXT NOT NULL,
            active INTEGER NOT NULL, profile_sequence INTEGER NOT NULL, user_sequence INTEGER NOT NULL,
            user TEXT, push_token TEXT, device_type INTEGER, environment TEXT, os_version TEXT,
            language TEXT, app_version TEXT, device_model TEXT, timezone_seconds INTEGER,
            UNIQUE (application, hwid)
        ) STRICT;
        CREATE INDEX devices_user ON devices (application, user) WHERE user IS NOT NULL;
        CREATE INDEX devices_push_token ON devices (application, push_token) WHERE push_token IS NOT NULL;
        CREATE TABLE tags (
            device INTEGER NOT NULL, name TEXT NOT NULL, position INTEGER NOT NULL,
            application INTEGER NOT NULL, kind INTEGER NOT NULL, value ANY, sequence INTEGER NOT NULL,
            PRIMARY KEY (device, name, position)
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX tags_value ON tags (application, name, value, device) WHERE kind > 0;
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
