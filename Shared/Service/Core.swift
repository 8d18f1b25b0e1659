public import Contracts
public import Store

/// What a service decides, as a value: no clock, socket, thread or randomness inside.
///
/// The same core runs on the bus, alone on standard input and inside a test. It is told what arrived and what time
/// it is, reads and writes its store inside the caller's transaction, and says what is to be done. What it says
/// happens only after that transaction has committed. If the commit fails the core is thrown away and made
/// anew from its store, as after a crash.
public protocol Core {
    /// What it keeps; `NoStore` for a service without one.
    associatedtype Storage: TransactionalStore
    /// What its adapter hands in beside messages, such as an HTTP request.
    associatedtype External: Sendable = Never
    /// What its adapter is asked to do, such as answering an HTTP request.
    associatedtype Output: Sendable = Never

    /// Which service it is.
    static var service: ServiceName { get }
    /// How much unanswered work it takes from each sender.
    var windows: Windows { get }
    /// What it holds back; the registry's.
    var paused: [Pause] { get }
    /// Why it holds that back, for the metrics: a fault in the word that APNs or we have for it, or `by-call`.
    var pauseReasons: [Pause: String] { get }
    /// How many pieces of work it has that are not done, for the metrics.
    var waiting: Int { get }

    /// Takes one input and says what follows from it.
    ///
    /// - Throws: `StoreError` if the store fails; the caller rolls back.
    mutating func step(_ input: Input<External>, at now: Moment, in store: inout Storage) throws(StoreError)
        -> [Effect<Output>]

    /// In how many milliseconds the core wants a turn although nothing arrives; nil if it waits for nothing.
    func nextTurnMilliseconds(after now: Moment) -> Int64?
}

extension Core {
    /// Nothing is held back.
    public var paused: [Pause] { [] }
    /// Nothing is held back.
    public var pauseReasons: [Pause: String] { [:] }
    /// Nothing waits.
    public var waiting: Int { 0 }
}

/// A store whose writes between `begin` and `commit` become durable together.
public protocol TransactionalStore {
    /// Opens a write transaction.
    ///
    /// - Throws: `StoreError` if the store cannot be locked.
    mutating func begin() throws(StoreError)
    /// Opens a transaction that only reads, which nobody who writes holds up.
    ///
    /// - Throws: `StoreError` if the store cannot be read.
    mutating func beginReading() throws(StoreError)
    /// Makes what was written since `begin` durable.
    ///
    /// - Throws: `StoreError` if it cannot, for example on a full disk; nothing is written then.
    mutating func commit() throws(StoreError)
    /// Takes back what was written since `begin`.
    ///
    /// - Throws: `StoreError` if the store is beyond use.
    mutating func rollback() throws(StoreError)
}

extension TransactionalStore {
    /// Opens one that may write.
    public mutating func beginReading() throws(StoreError) { try begin() }
}

/// The store of a service that keeps nothing.
public struct NoStore: TransactionalStore {
    /// Makes an empty store.
    public init() {}
    /// Does nothing.
    public mutating func begin() {}
    /// Does nothing.
    public mutating func commit() {}
    /// Does nothing.
    public mutating func rollback() {}
}

/// What a core is told.
public enum Input<External: Sendable>: Sendable {
    /// The first input of every life: what the store holds is to go on.
    case started
    /// A message arrived. Answers too: what they answer is no longer kept.
    case message(Message, from: Sender)
    /// An adapter's event.
    case external(External)
    /// These are no longer kept and nobody will answer them: the instance has a new life, or is gone.
    case lost([CustodyKey], at: InstanceName, LossReason)
    /// Everything that had arrived is taken in: the core may send more work, as far as there is room.
    case turn(Room)
}

/// Why kept messages are given up.
public enum LossReason: Sendable, Equatable {
    /// The instance started anew: its former life is surely over.
    case newLife
    /// Nothing is heard of it: it may still be at work.
    case gone
}

/// Where a message goes.
public enum Route: Sendable, Hashable {
    /// Some living instance of the service; kept messages wait for one.
    case service(ServiceName)
    /// This instance.
    case instance(InstanceName)
}

/// What a core asks for.
public enum Effect<Output: Sendable>: Sendable {
    /// Send a message, and keep it if its kind is kept until answered (`Message.keptKeys`).
    case send(Message, to: Route)
    /// Have the adapter do something.
    case perform(Output)
    /// Write one line to the log; no token, key or payload in it.
    case log(LogLine)
    /// Count something for the metrics.
    case count(Count)
}

extension Effect: Equatable where Output: Equatable {}

/// One event worth a line in the log.
public struct LogLine: Sendable, Equatable {
    /// How grave it is.
    public var level: Level
    /// What happened, in words joined by hyphens.
    public var event: String
    /// What belongs to it, in this order.
    public var fields: [Field]

    /// The levels a core may use.
    public enum Level: String, Sendable { case error, warning, info, debug, trace }

    /// A name and its value.
    public struct Field: Sendable, Equatable {
        /// The name.
        public var name: String
        /// The value.
        public var value: String
    }

    /// Joins a line.
    public init(_ level: Level, _ event: String, _ fields: [(String, String)] = []) {
        self.level = level
        self.event = event
        self.fields = fields.map { Field(name: $0.0, value: $0.1) }
    }
}

/// One addition to a counter of the metrics.
public struct Count: Sendable, Equatable {
    /// The counter's name without the `liveline_` prefix and `_total` suffix, such as `accepted`.
    public var name: String
    /// Label names and values, in this order; few different values only.
    public var labels: [LogLine.Field]
    /// How much is added.
    public var by: Int

    /// Joins an addition.
    public init(_ name: String, _ labels: [(String, String)] = [], by: Int = 1) {
        self.name = name
        self.labels = labels.map { LogLine.Field(name: $0.0, value: $0.1) }
        self.by = by
    }
}
