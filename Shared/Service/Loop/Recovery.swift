import Contracts
import Store

/// How often the store has failed in a row, and when it is tried again.
struct Recovery {
    private(set) var failures = 0
    private(set) var untilMilliseconds: Int64?
    /// What to say to who asks, such as `storage is full`; nil while all is well.
    private(set) var problem: String?
    /// What said that the store is damaged.
    private(set) var damage: StoreError?
    private var logged: Set<String> = []

    var isWaiting: Bool { untilMilliseconds != nil }

    func isWaiting(nowMilliseconds now: Int64) -> Bool { untilMilliseconds.map { now < $0 } ?? false }

    /// Notes a failure.
    ///
    /// - Returns: whether it is the first of its kind, and to be logged.
    mutating func failed(_ error: StoreError, nowMilliseconds now: Int64, limits: LoopLimits) -> Bool {
        let wait = min(limits.retryMillisecondsMin << min(failures, 10), limits.retryMillisecondsMax)
        failures += 1
        untilMilliseconds = now + wait
        problem = error.problem
        if error.isCorrupt { damage = damage ?? error }
        return logged.insert("\(error.call) \(error.extendedCode)").inserted
    }

    /// Ends the wait: what made transactions fail is out of the way.
    mutating func endWait() {
        if untilMilliseconds != nil { untilMilliseconds = 0 }
    }

    /// Notes that a transaction has committed.
    ///
    /// - Returns: whether others had failed before.
    mutating func succeeded() -> Bool {
        guard failures > 0 else { return false }
        self = Recovery()
        return true
    }
}

extension StoreError {
    /// What to say to who asks.
    var problem: String {
        if isFull { return "storage is full" }
        if isBusy { return "storage is busy" }
        if isReadOnly { return "storage is read-only" }
        if isCorrupt { return "storage is damaged" }
        return "storage fails"
    }

    /// Whether the world is at fault, and not what the core was told.
    var isOfTheWorld: Bool { isFull || isBusy || isReadOnly || isCorrupt || code == 10 || code == 14 }
}
