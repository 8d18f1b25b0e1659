/// The calls that the apps on the phones owe to the back end.
///
/// One call for each place (device, start token, one activity) is under way at a time, so that an older token never
/// overtakes a newer one.
struct RegistrationQueue {
    enum Kind: UInt8, Sendable {
        case device, start, activity, activityGone
    }

    struct Item: Sendable, Equatable {
        var kind: Kind
        var phone: UInt32
        /// The activity's slot, and the tokens that the slot had seen when the call was planned.
        var slot: UInt32 = 0
        /// Which of the phone's start tokens.
        var type: UInt8 = 0
        var attempts: UInt8 = 0
    }

    struct Counts: Sendable {
        var accepted = 0
        /// Answers that say the call itself is wrong.
        var refused = 0
        /// Attempts that got no answer, or a 5xx.
        var failed = 0
        var abandoned = 0
    }

    static let retryMillisecondsMin: Int64 = 1000
    static let retryMillisecondsMax: Int64 = 60_000

    private var queue = DeadlineQueue<Item>()
    var counts = Counts()
    var underWay = 0

    /// Calls that wait for their time.
    var waiting: Int { queue.count }

    var nextDue: Int64? { queue.nextDue }

    mutating func push(_ item: Item, due: Int64) { queue.push(item, due: due) }

    mutating func pop(now: Int64) -> Item? { queue.pop(now: now) }

    mutating func resetCounts() { counts = Counts() }

    /// Plans a failed call again, after a pause that doubles with each attempt.
    mutating func retry(_ item: Item, nowMilliseconds: Int64) {
        var next = item
        next.attempts = min(item.attempts + 1, 30)
        let pause = Self.retryMillisecondsMin << Int64(min(item.attempts, 10))
        push(next, due: nowMilliseconds + min(pause, Self.retryMillisecondsMax))
    }
}
