/// Every bound, size and wait of the registry that is not a delivery setting.
struct Limits: Sendable, Equatable {
    /// How many deliveries without an outcome the ledger holds, for all applications together; 4,000,000.
    var rowsMax = 4_000_000
    /// How many bytes of payload belong to messages that are not settled, together; 2 GiB, all of it on disk.
    var bytesMax = 2 << 30
    /// Which part of both one application may use: one in so many.
    var shareDivisor = 4
    /// The most rows one turn treats for each of its duties; together they take a few milliseconds.
    var rowsPerTurn = 16
    /// How many rows of one queue go before the next queue has its turn.
    var rowsPerRound = 16
    /// From how many recipients on a message is a fan-out, with a queue of its own.
    var fanOutMin = 50
    /// While single rows are about, how many times its own length a turn of fan-outs is followed by rest.
    var fanOutRestFactor = 4
    /// How long after a single row that holds, in milliseconds.
    var fanOutRestRememberedMilliseconds: Int64 = 1_000
    /// The longest such rest, in milliseconds.
    var fanOutRestLongestMilliseconds: Int64 = 250
    /// How many un-noted answers of one kind are under way to ingest.
    var underWayMax = 1_000
    /// How many `BadDeviceToken` in a row pause an application in one environment.
    var badTokensMax = 20
    /// How long after the pause the first trial goes, in milliseconds; then at doubling times.
    var trialFirstMilliseconds: Int64 = 30_000
    /// The longest of those times, in milliseconds.
    var trialLongestMilliseconds: Int64 = 900_000
    /// How long after a reload what a fault holds back is tried, in milliseconds: the gateways read theirs meanwhile.
    var trialAfterReloadMilliseconds: Int64 = 1_000
    /// How long before its slot a row is handed over, in milliseconds.
    var leadMilliseconds: Int64 = 250
    /// How long a repeat has the bytes of the first attempt, in milliseconds.
    var repeatMilliseconds: Int64 = 30_000
    /// How large an APNs body may be, in bytes (Apple, Sending notification requests to APNs).
    var bodyBytesMax = 4_096
    /// What a body is taken to hold besides content-state and alert, in bytes.
    var bodyBytesBesides = 300
    /// How long after a token an empty one is taken for that of the activity before, in milliseconds.
    var dismissalGraceMilliseconds: Int64 = 10_000
    /// How many runs and messages are kept in memory; the ledger has all of them.
    var cachedRecordsMax = 20_000
    /// How many messages are gone through for their activities in turns, of single ones and of fan-outs each; 1,024.
    var expandingMax = 1_024
    /// How many payloads are kept in memory.
    var cachedContentsMax = 256
    /// How often the time is kept for the next life, in milliseconds.
    var clockKeptEachMilliseconds: Int64 = 60_000
    /// How many activities one device holds tokens for; 1,000.
    ///
    /// For one more the oldest ends, as if its token had been taken. iOS shows a few at a time. All are gone through at
    /// once when the device unregisters.
    var activitiesPerDeviceMax = 1_000
    /// Of how many attributes types one device holds push-to-start tokens; 100.
    ///
    /// For one more the place that was registered longest ago is forgotten. An app has a few types. One token may stand in
    /// all of these places, and is moved from them at once.
    var startTypesPerDeviceMax = 100
    /// How many lines one answer to a query has.
    var linesMax = 1_000
}

/// Why a delivery ended without an answer of APNs; an operator reads these words.
enum Cause {
    static let noStartToken = "no-start-token"
    static let noToken = "no-token"
    static let tokenDied = "token-died"
    static let tokenSetAside = "token-set-aside"
    static let tokenTaken = "token-taken"
    static let neverStarted = "never-started"
    static let alreadyRunning = "already-running"
    static let dismissed = "dismissed"
    static let unregistered = "unregistered"
    static let activityOver = "activity-over"
    static let ended = "ended"
    static let noParticipant = "no-participant"
    static let newerState = "newer-state"
}
