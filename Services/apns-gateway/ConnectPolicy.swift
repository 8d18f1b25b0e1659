/// When a lane may open a connection, and when it may give one up: nothing of it in haste.
///
/// Apple may take frequent opening and closing for an attack (Sending notification requests to APNs).
struct ConnectPolicy {
    private let limits: ConnectionLimits
    /// How many connects in a row came to nothing.
    private(set) var failures = 0
    /// Before this there is no connect.
    private(set) var notBefore = Int64.min
    private var crowdedSince: Int64?
    private var troubleTimes = 0
    private var troubleNotBefore = Int64.min

    init(_ limits: ConnectionLimits) {
        self.limits = limits
    }

    /// Forgets what went wrong: there is something new to try.
    mutating func reset() { self = ConnectPolicy(limits) }

    /// Notes that a connect begins.
    mutating func begun(at now: Int64) {
        crowdedSince = nil
        notBefore = now + limits.reconnectDelay(failures: failures)
    }

    /// Notes that a connect, or the connection it made, came to nothing.
    mutating func failed(at now: Int64) {
        notBefore = max(notBefore, now + limits.reconnectDelay(failures: failures))
        failures += 1
    }

    /// Notes an answer that shows a good connection.
    mutating func answered(isDelivery: Bool) {
        failures = 0
        if isDelivery { troubleTimes = 0 }
    }

    /// Whether requests have waited for a stream for so long that one more connection is worth it.
    mutating func isCrowded(_ isFull: Bool, at now: Int64) -> Bool {
        guard isFull else {
            crowdedSince = nil
            return false
        }
        let since = crowdedSince ?? now
        crowdedSince = since
        return now - since >= limits.crowdedMilliseconds
    }

    /// Whether a connection may be given up for trouble; counts it if so.
    mutating func mayGiveUp(at now: Int64) -> Bool {
        guard now >= troubleNotBefore else { return false }
        troubleNotBefore = now + limits.troubleDelay(times: troubleTimes)
        troubleTimes += 1
        return true
    }

    /// When a lane in which requests wait has to be looked at again.
    func nextDeadlineMilliseconds(at now: Int64) -> Int64? {
        let crowded = crowdedSince.map { max(now + 1, $0 + limits.crowdedMilliseconds, notBefore) }
        let connect = notBefore > now ? notBefore : nil
        return [crowded, connect].compactMap { $0 }.min()
    }
}
