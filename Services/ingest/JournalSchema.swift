import Store

extension Journal {
    /// How the journal came to be as it is.
    ///
    /// - `meta`: the last sequence that was given out, the secret of message codes, and the latest order once the clock
    ///   was set back.
    /// - `messages`: what callers can ask about, for as long as it is remembered. A row is changed twice or so: when it is
    ///   taken and when it is settled.
    ///   `cancelledBy` and `cancels` join a message and its cancel; `environment` is what a pause or resume is for.
    /// - `commands`: what a message needs until it is taken, and no longer. `audience` is the `Audience` of the contracts as
    ///   JSON; the small members of the push are columns; the raw ones are the bytes that came in.
    /// - `registrations`: until both receivers have them. `change` is the `Registration.Change` of the contracts as JSON;
    ///   `pending` has bit 1 for the segmenter and bit 2 for the token registry.
    /// - `registrationGroups`: registrations that were accepted together, until both receivers have them; `groupContents`
    ///   holds their `RegistrationGroup`, apart, so that a change of `pending` does not write it again.
    /// - `runs`: the lives of activities, remembered for 12 h. `space` is what the name is: 0 an id, 1 an update token,
    ///   2 a push-to-start token, 3 a broadcast channel. `attributesBytes` is the size of its start's attributes,
    ///   and `tokenDiedAt` is when it was last heard that one of its tokens has died.
    /// - `tokens`: which run a token was registered for, and what is known against it.
    /// - `replies`: what was answered to calls with an `Idempotency-Key`, for 24 h.
    /// - `channels`: how broadcast channels were made, as far as it was heard; a run names the one it is bound to.
    /// - `messagesWaiting` and `registrationsWaiting` are what is read in pages: the two flows of an application's
    ///   commands (`AtHand.Flow`), and its registrations.
    /// - `messagesOpen` is what the ledger is asked about (`LedgerCheck`).
    /// - `filters`: by name; `expression` is the `Filter` of the contracts as JSON.
    static let schema = Schema(steps: [
        """
        CREATE TABLE meta (name TEXT PRIMARY KEY, number INTEGER, bytes BLOB) STRICT;
        CREATE TABLE messages (
            sequence INTEGER PRIMARY KEY, application TEXT NOT NULL, door TEXT NOT NULL, kind TEXT NOT NULL,
            activity TEXT NOT NULL, space INTEGER NOT NULL, run INTEGER NOT NULL, orderSeconds INTEGER NOT NULL,
            acceptedAt INTEGER NOT NULL, takenAt INTEGER, settledAt INTEGER, revision INTEGER,
            delivered INTEGER NOT NULL DEFAULT 0, superseded INTEGER NOT NULL DEFAULT 0,
            expired INTEGER NOT NULL DEFAULT 0, failed INTEGER NOT NULL DEFAULT 0,
            unreachable INTEGER NOT NULL DEFAULT 0, cancelled INTEGER NOT NULL DEFAULT 0) STRICT;
        CREATE TABLE commands (
            sequence INTEGER PRIMARY KEY, bytes INTEGER NOT NULL, audience TEXT NOT NULL, attributesType TEXT,
            timestampSeconds INTEGER, staleDateSeconds INTEGER, dismissalDateSeconds INTEGER, relevanceScore TEXT,
            inputPushToken TEXT, inputPushChannel TEXT, priority INTEGER NOT NULL,
            expirationSeconds INTEGER NOT NULL, collapseID TEXT, apnsID TEXT, fallbackTitle TEXT, fallbackBody TEXT,
            contentState BLOB NOT NULL, attributes BLOB NOT NULL, alert BLOB NOT NULL) STRICT;
        CREATE TABLE registrations (
            sequence INTEGER PRIMARY KEY, application TEXT NOT NULL, device TEXT NOT NULL, change TEXT NOT NULL,
            acceptedAt INTEGER NOT NULL, activity TEXT, token TEXT, pending INTEGER NOT NULL) STRICT;
        CREATE TABLE runs (
            run INTEGER PRIMARY KEY, application TEXT NOT NULL, space INTEGER NOT NULL, activity TEXT NOT NULL,
            beganAt INTEGER NOT NULL, isStart INTEGER NOT NULL, digest BLOB, endedBy INTEGER,
            endSettled INTEGER NOT NULL DEFAULT 0, emptyBy INTEGER, firstTokenAt INTEGER,
            lastRegistration INTEGER NOT NULL DEFAULT 0) STRICT;
        CREATE INDEX runsByActivity ON runs (application, space, activity, run);
        CREATE TABLE tokens (
            id INTEGER PRIMARY KEY, application TEXT NOT NULL, token TEXT NOT NULL, run INTEGER, device TEXT,
            registration INTEGER NOT NULL DEFAULT 0, fact INTEGER NOT NULL DEFAULT 0, mark TEXT,
            firstAt INTEGER NOT NULL, seenAt INTEGER NOT NULL) STRICT;
        CREATE UNIQUE INDEX tokensByToken ON tokens (application, token);
        CREATE INDEX tokensByRun ON tokens (run, device);
        CREATE TABLE filters (
            id INTEGER PRIMARY KEY, application TEXT NOT NULL, name TEXT NOT NULL, code TEXT NOT NULL UNIQUE,
            expression TEXT NOT NULL, expiresOn TEXT, UNIQUE (application, name)) STRICT;
        """,
        """
        ALTER TABLE messages ADD COLUMN cancelledBy INTEGER;
        ALTER TABLE messages ADD COLUMN cancels INTEGER;
        ALTER TABLE messages ADD COLUMN environment TEXT;
        """,
        """
        CREATE TABLE replies (
            id INTEGER PRIMARY KEY, application TEXT NOT NULL, path TEXT NOT NULL, key TEXT NOT NULL,
            digest BLOB NOT NULL, status INTEGER NOT NULL, body BLOB NOT NULL, answeredAt INTEGER NOT NULL,
            UNIQUE (application, path, key)) STRICT;
        """,
        "ALTER TABLE runs ADD COLUMN attributesBytes INTEGER;",
        """
        CREATE TABLE registrationGroups (
            sequence INTEGER PRIMARY KEY, application TEXT NOT NULL, count INTEGER NOT NULL,
            pending INTEGER NOT NULL) STRICT;
        CREATE TABLE groupContents (sequence INTEGER PRIMARY KEY, content BLOB NOT NULL) STRICT;
        """,
        """
        CREATE TABLE channels (
            id INTEGER PRIMARY KEY, application TEXT NOT NULL, channel TEXT NOT NULL, environment TEXT NOT NULL,
            isStored INTEGER NOT NULL, notedAt INTEGER NOT NULL, UNIQUE (application, channel)) STRICT;
        ALTER TABLE runs ADD COLUMN channel TEXT;
        ALTER TABLE runs ADD COLUMN channelEnvironment TEXT;
        ALTER TABLE runs ADD COLUMN channelStored INTEGER;
        CREATE INDEX runsByChannel ON runs (application, channel, run) WHERE channel IS NOT NULL;
        """,
        """
        CREATE INDEX messagesWaiting ON messages (application, (kind IN ('start', 'update')), sequence)
            WHERE takenAt IS NULL;
        CREATE INDEX registrationsWaiting ON registrations (application, sequence);
        """,
        """
        CREATE INDEX messagesOpen ON messages (application, sequence)
            WHERE takenAt IS NOT NULL AND settledAt IS NULL;
        """,
        """
        ALTER TABLE runs ADD COLUMN tokenDiedAt INTEGER;
        CREATE INDEX tokensDied ON tokens (run, device) WHERE mark = 'died';
        """,
    ])
}
