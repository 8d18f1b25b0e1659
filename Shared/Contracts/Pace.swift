/// How often a participant is pushed to: one push at once (or a burst), then at most one in each interval.
///
/// A push at priority 10 uses the budget that iOS counts; one at 5 does not (Apple, Starting and updating Live
/// Activities with ActivityKit push notifications), so that after a 5 a 10 may follow at once, while another 5
/// waits the interval.
public struct Pace: Codable, Sendable, Hashable {
    /// When the budget is whole again, milliseconds since 1970 (the theoretical arrival time of a leaky bucket).
    public var fullAtMilliseconds: Int64
    /// Before this no push at priority 5 goes, milliseconds since 1970.
    public var fiveNotBeforeMilliseconds: Int64
    /// The newest state that was sent; nil before the first.
    public var lastOrder: Order?
    /// The last `timestamp` that stood on the wire, seconds since 1970; 0 before the first.
    public var lastWireSeconds: Int64

    /// The pace of a participant that nothing was sent to.
    public init() {
        fullAtMilliseconds = 0
        fiveNotBeforeMilliseconds = 0
        lastOrder = nil
        lastWireSeconds = 0
    }

    /// When the next push of a priority may go, milliseconds since 1970; in the past if it may go now.
    public func slotMilliseconds(priority: Int, intervalMilliseconds: Int64, burst: Int) -> Int64 {
        let ten = fullAtMilliseconds - Int64(max(burst, 1) - 1) * intervalMilliseconds
        return priority >= 10 ? ten : max(ten, fiveNotBeforeMilliseconds)
    }

    /// Notes that a push went out.
    public mutating func sent(
        atMilliseconds now: Int64, priority: Int, intervalMilliseconds: Int64, order: Order,
        wireSeconds: Int64
    ) {
        if priority >= 10 {
            fullAtMilliseconds = max(now, fullAtMilliseconds) + intervalMilliseconds
        } else {
            fiveNotBeforeMilliseconds = now + intervalMilliseconds
        }
        lastOrder = max(lastOrder ?? order, order)
        lastWireSeconds = max(lastWireSeconds, wireSeconds)
    }

    /// Lets nothing follow that is older than what went to the same token, and so to the same phone, under another name, nor
    /// sooner after it than its pace.
    public mutating func follow(_ former: Pace) {
        fullAtMilliseconds = max(fullAtMilliseconds, former.fullAtMilliseconds)
        fiveNotBeforeMilliseconds = max(fiveNotBeforeMilliseconds, former.fiveNotBeforeMilliseconds)
        lastOrder = [lastOrder, former.lastOrder].compactMap { $0 }.max()
        lastWireSeconds = max(lastWireSeconds, former.lastWireSeconds)
    }

    /// How old the caller's `timestamp` may be to stand on the wire, in seconds: iOS drops updates whose
    /// timestamp lies well in the past (1 to 10 s were seen tolerated).
    public static let timestampAgeMaxSeconds: Int64 = 10

    /// What stands as `timestamp` on the wire: the caller's if it is fresh and later than the last one sent, else
    /// the greater of now and that last one + 1.
    public func wireSeconds(callerSeconds: Int64?, nowSeconds: Int64) -> Int64 {
        if let callerSeconds, callerSeconds > lastWireSeconds,
            callerSeconds >= nowSeconds - Pace.timestampAgeMaxSeconds
        {
            return callerSeconds
        }
        return max(nowSeconds, lastWireSeconds + 1)
    }
}
