import Store

extension Ledger {
    /// The tables, and the indexes that the hot questions use.
    ///
    /// `delivery_place` answers both "what of this queue is due" and "what is handed over": a row that moves from one
    /// to the other moves in one index. What ends rows by time is asked for each message, not for each row.
    ///
    /// `participant_by_token` holds only who is served by token beside a channel, so that an update of a run in which a
    /// million listen meets none of these.
    static let schema = Schema(steps: [
        devices + participants + messages + deliveries + rest, channels, deaths, waits, controls,
    ])

    private static let devices = """
        CREATE TABLE setting (name TEXT PRIMARY KEY, value INTEGER NOT NULL) STRICT, WITHOUT ROWID;
        CREATE TABLE application (number INTEGER PRIMARY KEY, code TEXT NOT NULL UNIQUE) STRICT;

        CREATE TABLE device (
            number INTEGER PRIMARY KEY AUTOINCREMENT, application TEXT NOT NULL, hwid TEXT NOT NULL,
            environment TEXT, os_version TEXT, push_token TEXT, push_accepted_at INTEGER NOT NULL,
            frequent INTEGER, sequence INTEGER NOT NULL, unregistered INTEGER NOT NULL,
            start_full_at INTEGER NOT NULL, start_handed INTEGER, guest_run INTEGER
        ) STRICT;
        CREATE UNIQUE INDEX device_hwid ON device (application, hwid);
        CREATE INDEX device_push_token ON device (push_token) WHERE push_token IS NOT NULL;

        CREATE TABLE start_token (
            device INTEGER NOT NULL, type TEXT NOT NULL, token TEXT, state INTEGER NOT NULL,
            sequence INTEGER NOT NULL, client_seconds INTEGER, accepted_at INTEGER NOT NULL,
            first_at INTEGER NOT NULL, PRIMARY KEY (device, type)
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX start_token_token ON start_token (token) WHERE token IS NOT NULL;
        CREATE TABLE start_wait (
            device INTEGER NOT NULL, message INTEGER NOT NULL, PRIMARY KEY (device, message)
        ) STRICT, WITHOUT ROWID;

        """
    private static let participants = """
        CREATE TABLE run (
            number INTEGER PRIMARY KEY, application TEXT NOT NULL, activity TEXT NOT NULL,
            started_at INTEGER NOT NULL, removes_at INTEGER NOT NULL, start INTEGER,
            start_complete INTEGER NOT NULL, "end" INTEGER,
            participants INTEGER NOT NULL, open INTEGER NOT NULL, waiting INTEGER NOT NULL,
            empty_said INTEGER NOT NULL, registration INTEGER NOT NULL
        ) STRICT;
        CREATE INDEX run_removes_at ON run (removes_at);
        CREATE INDEX run_activity ON run (application, activity);

        CREATE TABLE participant (
            number INTEGER PRIMARY KEY, run INTEGER NOT NULL, device INTEGER NOT NULL, state INTEGER NOT NULL,
            full_at INTEGER NOT NULL, five_at INTEGER NOT NULL, last_seconds INTEGER, last_sequence INTEGER,
            last_wire INTEGER NOT NULL, waiting INTEGER, handed INTEGER, newest INTEGER, "end" INTEGER,
            sent_at INTEGER, outcome TEXT, reason TEXT,
            token TEXT, token_state INTEGER NOT NULL, token_sequence INTEGER NOT NULL, client_seconds INTEGER,
            accepted_at INTEGER NOT NULL, first_at INTEGER NOT NULL
        ) STRICT;
        CREATE UNIQUE INDEX participant_place ON participant (run, device);
        CREATE INDEX participant_token ON participant (token) WHERE token IS NOT NULL;
        CREATE INDEX participant_device ON participant (device) WHERE token IS NOT NULL;

        """
    private static let messages = """
        CREATE TABLE message (
            number INTEGER PRIMARY KEY, application TEXT NOT NULL, kind TEXT NOT NULL, run INTEGER NOT NULL,
            order_seconds INTEGER NOT NULL, order_sequence INTEGER NOT NULL, accepted_at INTEGER NOT NULL,
            token TEXT, expiration INTEGER NOT NULL, priority INTEGER NOT NULL,
            content_bytes INTEGER NOT NULL, alert_bytes INTEGER NOT NULL, bytes INTEGER NOT NULL,
            fan_out INTEGER NOT NULL, complete INTEGER NOT NULL, is_cancelled INTEGER NOT NULL,
            cursor INTEGER, participant_max INTEGER NOT NULL, unsettled INTEGER NOT NULL,
            delivered INTEGER NOT NULL, superseded INTEGER NOT NULL, expired INTEGER NOT NULL,
            failed INTEGER NOT NULL, unreachable INTEGER NOT NULL, cancelled INTEGER NOT NULL,
            revision INTEGER NOT NULL, settled_at INTEGER, settled_unnoted INTEGER NOT NULL,
            taken_unnoted INTEGER NOT NULL, sweep_at INTEGER, sweep_cursor INTEGER NOT NULL
        ) STRICT;
        CREATE INDEX message_run ON message (run);
        CREATE INDEX message_open ON message (application) WHERE settled_at IS NULL;
        CREATE INDEX message_cursor ON message (number) WHERE cursor IS NOT NULL;
        CREATE INDEX message_sweep_at ON message (sweep_at) WHERE sweep_at IS NOT NULL;
        CREATE INDEX message_settled ON message (number) WHERE settled_unnoted = 1;
        CREATE INDEX message_taken ON message (number) WHERE taken_unnoted = 1;

        CREATE TABLE content (
            message INTEGER PRIMARY KEY, activity TEXT NOT NULL, event TEXT NOT NULL, attributes_type TEXT,
            timestamp INTEGER, stale_date INTEGER, dismissal_date INTEGER, relevance TEXT, input_token TEXT,
            input_channel TEXT, priority INTEGER NOT NULL, expiration INTEGER NOT NULL, collapse_id TEXT,
            apns_id TEXT, fallback_title TEXT, fallback_body TEXT,
            state BLOB NOT NULL, attributes BLOB NOT NULL, alert BLOB NOT NULL
        ) STRICT;

        CREATE TABLE pass (
            message INTEGER NOT NULL, epoch INTEGER NOT NULL, number INTEGER NOT NULL, batches INTEGER NOT NULL,
            last INTEGER, PRIMARY KEY (message, epoch, number)
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE batch (
            message INTEGER NOT NULL, epoch INTEGER NOT NULL, number INTEGER NOT NULL, place INTEGER NOT NULL,
            PRIMARY KEY (message, epoch, number, place)
        ) STRICT, WITHOUT ROWID;

        """
    private static let deliveries = """
        CREATE TABLE delivery (
            message INTEGER NOT NULL, device INTEGER NOT NULL, participant INTEGER NOT NULL,
            state INTEGER NOT NULL, place INTEGER, at INTEGER NOT NULL, attempt INTEGER NOT NULL,
            priority INTEGER NOT NULL, alert INTEGER, not_before INTEGER NOT NULL, send_before INTEGER NOT NULL,
            limiter INTEGER NOT NULL, wire INTEGER, sent_at INTEGER NOT NULL, unsure INTEGER NOT NULL,
            trial INTEGER NOT NULL, reason TEXT, changed_at INTEGER NOT NULL, PRIMARY KEY (message, device)
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX delivery_place ON delivery (place, at, message, device) WHERE place IS NOT NULL;

        """
    private static let channels = """
        ALTER TABLE participant ADD COLUMN listens INTEGER;
        CREATE INDEX participant_by_token ON participant (run, device) WHERE listens = 0;
        ALTER TABLE run ADD COLUMN channel TEXT;
        ALTER TABLE run ADD COLUMN channel_stored INTEGER NOT NULL DEFAULT 0;
        ALTER TABLE run ADD COLUMN channel_participant INTEGER NOT NULL DEFAULT 0;
        ALTER TABLE run ADD COLUMN channel_members INTEGER NOT NULL DEFAULT 0;
        ALTER TABLE run ADD COLUMN channel_older_out INTEGER NOT NULL DEFAULT 0;
        ALTER TABLE run ADD COLUMN channel_newest_out INTEGER NOT NULL DEFAULT 0;
        ALTER TABLE run ADD COLUMN channel_held_until INTEGER NOT NULL DEFAULT 0;
        """
    /// Of a token that died before this step is known only that it was later than its registration.
    private static let deaths = """
        ALTER TABLE start_token ADD COLUMN died_at INTEGER NOT NULL DEFAULT 0;
        UPDATE start_token SET died_at = accepted_at WHERE state = 2;
        ALTER TABLE participant ADD COLUMN died_at INTEGER NOT NULL DEFAULT 0;
        UPDATE participant SET died_at = accepted_at WHERE token_state = 2;
        ALTER TABLE device ADD COLUMN push_state INTEGER NOT NULL DEFAULT 0;
        ALTER TABLE device ADD COLUMN push_died_at INTEGER NOT NULL DEFAULT 0;
        """
    private static let waits = """
        ALTER TABLE delivery ADD COLUMN retry_at INTEGER NOT NULL DEFAULT 0;
        """
    /// `control` holds the cancels, pauses and resumes that ingest has not noted as taken; messages carry that themselves.
    private static let controls = """
        CREATE TABLE control (number INTEGER PRIMARY KEY) STRICT;
        ALTER TABLE delivery ADD COLUMN token_sequence INTEGER NOT NULL DEFAULT 0;
        """
    private static let rest = """
        CREATE TABLE fact (
            number INTEGER PRIMARY KEY AUTOINCREMENT, application TEXT NOT NULL, kind TEXT NOT NULL, token TEXT,
            run INTEGER, registration INTEGER NOT NULL
        ) STRICT;

        CREATE TABLE gate (
            application TEXT NOT NULL, environment TEXT NOT NULL, bad_tokens INTEGER NOT NULL, fault TEXT,
            since INTEGER NOT NULL, trial_delay INTEGER NOT NULL, trial_at INTEGER NOT NULL,
            trial_message INTEGER, trial_device INTEGER, held INTEGER NOT NULL, held_sequence INTEGER NOT NULL,
            PRIMARY KEY (application, environment)
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE bad_token (
            application TEXT NOT NULL, environment TEXT NOT NULL, token TEXT NOT NULL, noted_at INTEGER NOT NULL,
            PRIMARY KEY (application, environment, token)
        ) STRICT, WITHOUT ROWID;
        """
}
