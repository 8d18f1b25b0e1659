/// What joins a core to the world outside the bus: the HTTP doors of `ingest`, the connections of `apns-gateway`.
///
/// It belongs to the process's one poll loop and never blocks. What happens outside becomes events, which the core is
/// told inside a store transaction; what the core wants done outside comes back as outputs, after the commit.
public protocol Adapter {
    /// What it tells the core.
    associatedtype External: Sendable = Never
    /// What the core asks of it.
    associatedtype Output: Sendable = Never

    /// The descriptors that become readable when `process` has something to do; negative ones are skipped.
    var descriptors: [CInt] { get }
    /// When `process` must be called although no descriptor is readable, on the monotonic clock; nil if never.
    var nextDeadlineMilliseconds: Int64? { get }
    /// What is still missing before the service can work, in words for an operator; empty when it is ready.
    var missing: [String] { get }
    /// Whether nothing is under way any more, so that a process that is stopping may end.
    var drained: Bool { get }

    /// Does what can be done without waiting.
    ///
    /// - Parameter nowMilliseconds: the monotonic clock.
    /// - Returns: what has happened since the last call, in order.
    mutating func process(nowMilliseconds: Int64) -> [External]

    /// Does what the core asked for; the transaction in which it did so has committed.
    mutating func perform(_ outputs: [Output], nowMilliseconds: Int64)

    /// Learns that the store failed: the core was not told of these events, and never will be.
    ///
    /// - Parameter problem: what to say to who waits, such as `storage is full`.
    mutating func failed(_ events: [External], problem: String, nowMilliseconds: Int64)

    /// Whether the core only reads when it is told of an event.
    ///
    /// Such events are handed to the core also while the store cannot be written.
    func onlyReads(_ event: External) -> Bool

    /// Takes a new configuration (SIGHUP).
    ///
    /// - Throws: what is wrong with it, for the log; the former one holds then.
    mutating func reload(_ context: ServiceContext) throws

    /// Begins to stop: takes nothing new, and finishes what is under way.
    mutating func drain()
}

extension Adapter {
    /// None.
    public var descriptors: [CInt] { [] }
    /// Never.
    public var nextDeadlineMilliseconds: Int64? { nil }
    /// Nothing.
    public var missing: [String] { [] }
    /// Always.
    public var drained: Bool { true }
    /// Nothing happens.
    public mutating func process(nowMilliseconds: Int64) -> [External] { [] }
    /// Does nothing.
    public mutating func perform(_ outputs: [Output], nowMilliseconds: Int64) {}
    /// Does nothing.
    public mutating func failed(_ events: [External], problem: String, nowMilliseconds: Int64) {}
    /// No event does.
    public func onlyReads(_ event: External) -> Bool { false }
    /// Changes nothing.
    public mutating func reload(_ context: ServiceContext) throws {}
    /// Does nothing.
    public mutating func drain() {}
}

/// The adapter of a service that only talks on the bus.
public struct NoAdapter: Adapter {
    /// Makes one.
    public init() {}
}

/// A core that takes a new configuration while it runs.
///
/// Right after it the core gets a turn.
public protocol Reloadable {
    /// Goes by the new configuration from now on.
    mutating func reload(_ configuration: Configuration)
}

/// A core that has something to finish before its process stops.
///
/// A process that was asked to stop reads no more work, only answers, and ends when this is true, when its adapter is
/// drained too, or when the time for stopping is over.
public protocol Drainable {
    /// Whether nothing is left that another process would miss.
    var isDrained: Bool { get }
}
