import Contracts
import Service

typealias MessageRecord = Record<MessageFields>

/// One message: what decides about its rows, and how many of them ended how.
struct MessageFields: Equatable {
    /// The journal's sequence.
    let number: Int64
    let application: String
    let kind: ActivityEvent
    let run: Int64
    let order: Order
    let acceptedAt: Int64
    /// The token of an audience that is one.
    let token: String?
    /// Seconds since 1970; 0 is one attempt.
    let expirationSeconds: Int64
    let priority: Int
    let contentBytes: Int
    let alertBytes: Int
    /// All bytes of its payload.
    let bytes: Int
    /// Whether it has a queue of its own.
    var isFanOut = false
    /// Whether every row it is to have is known: every index of one pass, or an activity taken as it is.
    var isComplete = false
    var isCancelled = false
    /// The last device of the activity that has its row; nil when all have.
    var cursor: Int64?
    /// The newest participant that it is for.
    var participantMax: Int64 = 0
    /// How many rows have no outcome.
    var unsettled = 0
    var counts = OutcomeCounts()
    var revision: Int64 = 0
    /// When the last row ended, milliseconds since 1970; nil while it is not settled.
    var settledAt: Int64?
    var isSettledUnnoted = false
    var isTakenUnnoted = false
    /// When its open rows are to be gone through, milliseconds since 1970.
    var sweepAt: Int64?
    /// The last device gone through.
    var sweepCursor: Int64 = 0

    /// Whether nothing of it may be sent any more.
    func isExpired(at now: Int64) -> Bool { expirationSeconds != 0 && expirationSeconds * 1000 <= now }

    /// When the open rows have to be gone through next: as tokens are waited for no longer, and as it expires.
    func nextSweep(after now: Int64, tokenWaitMilliseconds wait: Int64) -> Int64? {
        var instants = kind == .start ? [] : [acceptedAt + wait]
        if expirationSeconds != 0 { instants.append(expirationSeconds * 1000) }
        return instants.filter { $0 > now }.min()
    }
}

extension MessageRecord {
    /// Whether nothing of it may be sent any more.
    func isExpired(at now: Int64) -> Bool { fields.isExpired(at: now) }

    /// When its open rows have to be gone through next.
    func nextSweep(after now: Int64, _ settings: DeliverySettings) -> Int64? {
        fields.nextSweep(after: now, tokenWaitMilliseconds: settings.tokenWaitSeconds * 1000)
    }
}

/// What a message shows: the small members and the raw ones.
struct Content: Equatable {
    var activity: String
    var notification: Notification
    var payload: Payload
}
