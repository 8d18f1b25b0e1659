import Contracts
import Service
import Store

/// Where in a round of its loop a process is killed.
enum KillPoint: CaseIterable {
    /// Its transaction is rolled back, nothing is sent.
    case beforeCommit
    /// Its transaction is durable, nothing is sent.
    case afterCommit
    /// Everything of the round was sent.
    case afterSending
}

/// What a round of a process's loop gives to the network.
struct Round {
    var hello: Parcel?
    var parcels: [(to: InstanceName, parcel: Parcel)] = []
    var logs: [LogLine] = []
}

/// One process of the simulated pipeline: it can be killed and started again; its store stays.
protocol SimulatedProcess: AnyObject {
    var instance: InstanceName { get }
    var isAlive: Bool { get }
    var hasInput: Bool { get }
    /// How much it keeps because nobody has answered it.
    var keptCount: Int { get }
    func start(epoch: Int64, at now: Moment) throws
    func kill()
    func deliver(_ parcel: Parcel)
    /// When it wants a round although nothing arrives, on the monotonic clock.
    var dueAt: Int64? { get }
    func round(at now: Moment, kill: KillPoint?) throws -> Round
}

/// A process around one core.
final class Process<C: Core>: SimulatedProcess {
    let instance: InstanceName
    private let makeCore: (_ epoch: Int64) -> C
    private let perform: ([C.Output]) -> Void
    private(set) var store: C.Storage
    private(set) var node: Node<C>?
    private var parcels: [Parcel] = []
    private var events: [C.External] = []
    private var isNew = false

    init(
        _ instance: InstanceName, store: C.Storage, core: @escaping (_ epoch: Int64) -> C,
        perform: @escaping ([C.Output]) -> Void = { _ in }
    ) {
        self.instance = instance
        self.store = store
        self.makeCore = core
        self.perform = perform
    }

    private(set) var isAlive = false
    private(set) var dueAt: Int64?
    var hasInput: Bool { isNew || !parcels.isEmpty || !events.isEmpty }

    var keptCount: Int { node?.keptCount ?? 0 }

    func start(epoch: Int64, at now: Moment) throws {
        node = Node(core: makeCore(epoch), life: Sender(instance, epoch: epoch))
        isAlive = true
        isNew = true
    }

    /// Has its next life find another store, as after an operator removed the former one.
    func replaceStore(with store: C.Storage) { self.store = store }

    func kill() {
        node = nil
        isAlive = false
        dueAt = nil
        parcels = []
        events = []
    }

    func deliver(_ parcel: Parcel) { if isAlive { parcels.append(parcel) } }
    func deliver(_ event: C.External) { if isAlive { events.append(event) } }

    /// One round of the loop, as the shell makes it: everything that arrived, a turn, the commit, the effects.
    func round(at now: Moment, kill point: KillPoint?) throws -> Round {
        guard var node else { return Round() }
        self.node = nil
        isAlive = false
        try store.begin()
        if isNew { try node.start(at: now, in: &store) }
        isNew = false
        for parcel in parcels { try node.receive(parcel, at: now, in: &store) }
        for event in events { try node.receive(event, at: now, in: &store) }
        parcels = []
        events = []
        try node.turn(drained: true, at: now, in: &store)
        if point == .beforeCommit {
            try store.rollback()
            return Round()
        }
        try store.commit()
        let actions = node.commit(at: now)
        if point == .afterCommit { return Round() }
        perform(actions.outputs)
        if point == nil {
            dueAt = now.monotonic + node.nextTurnMilliseconds(after: now)
            self.node = consume node
            isAlive = true
        }
        return Round(hello: actions.hello, parcels: actions.parcels, logs: actions.logs)
    }
}
