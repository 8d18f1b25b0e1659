/// A budget that is used up by ones and refills with time.
struct Allowance: Sendable {
    private var left: Float = -1
    private var countedAtSeconds: Int64 = 0

    /// Takes one, if any is left.
    ///
    /// - Parameters:
    ///   - nowSeconds: the time.
    ///   - burst: how many there are when nothing was taken for long; 0 for no limit.
    ///   - refillSeconds: after how long one comes back.
    /// - Returns: false when nothing is left.
    mutating func take(nowSeconds: Int64, burst: Int, refillSeconds: Int) -> Bool {
        guard burst > 0 else { return true }
        let limit = Float(burst)
        if left < 0 {
            left = limit
        } else if refillSeconds > 0 {
            left = min(limit, left + Float(max(0, nowSeconds - countedAtSeconds)) / Float(refillSeconds))
        }
        countedAtSeconds = nowSeconds
        guard left >= 1 else { return false }
        left -= 1
        return true
    }
}

/// Counts what happens within the current second.
struct SecondCounter: Sendable {
    private var second: UInt32 = 0
    private var count: UInt32 = 0

    /// Counts one.
    ///
    /// - Returns: false when that is more than `limit` in this second; 0 is no limit.
    mutating func count(nowSeconds: Int64, limit: Int) -> Bool {
        guard limit > 0 else { return true }
        let now = UInt32(truncatingIfNeeded: nowSeconds)
        if second != now {
            second = now
            count = 0
        }
        count &+= 1
        return count <= limit
    }
}
