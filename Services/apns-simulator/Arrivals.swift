/// The last pushes that came to APNs, in a ring of bounded size.
struct Arrivals: Sendable {
    struct Arrival: Sendable {
        var idHigh: UInt64
        var idLow: UInt64
        /// What its token stands for; nil for one that was never given out.
        var reference: UInt64?
        var receivedAtMicroseconds: Int64
        var event: PushEvent
        /// What its phone made of it; nil when it was refused.
        var verdict: DeliveryVerdict?
        /// The integer that the sender put into the content state.
        var marker: Int64?
        /// The ordinal of the connection on which it came.
        var connection = 0
        /// How it was answered; 0 when it got no answer.
        var status = 0
        /// How long after its arrival it was answered.
        var delayMilliseconds: Int64 = 0
        /// The channel of a broadcast; its reference leads nowhere.
        var channel: String?
    }

    private let limit: Int
    private var ring: [Arrival] = []
    /// The number of the next arrival; the first has 0.
    private(set) var next: Int64 = 0

    init(limit: Int) { self.limit = max(1, limit) }

    /// Adds one; the oldest falls out when the ring is full.
    mutating func append(_ arrival: Arrival) {
        let place = Int(next % Int64(limit))
        if place < ring.count { ring[place] = arrival } else { ring.append(arrival) }
        next += 1
    }

    /// Arrivals from a number on, at most `count`.
    ///
    /// - Returns: them with the number of the first, which is later than `since` when some have fallen out.
    func list(since: Int64, count: Int) -> (first: Int64, arrivals: [Arrival]) {
        let first = min(max(since, next - Int64(limit), 0), next)
        let last = min(first + Int64(count), next)
        return (first, (first..<last).map { ring[Int($0 % Int64(limit))] })
    }

    /// Forgets all; numbers go on.
    mutating func removeAll() {
        self = Arrivals(limit: limit)
    }
}
