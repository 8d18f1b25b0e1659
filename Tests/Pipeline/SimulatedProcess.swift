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

/// Where in a round of its loop the store of a process fails; the process goes on.
enum FailPoint {
    /// When so much of what arrived has been taken in.
    case taking(part: Double)
    case committing
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
    /// Whether it has a store, which may fail.
    var hasStore: Bool { get }
    func round(at now: Moment, kill: KillPoint?, fail: FailPoint?) throws -> Round
}

/// A process around one core.
final class Process<C: Core>: SimulatedProcess {
    let instance: InstanceName
    private let makeCore: (_ epoch: Int64) -> C
    private let perform: ([C.Output]) -> Void
    private let refuse: ([C.External]) -> Void
    private(set) var store: C.Storage
    private(set) var node: Node<C>?
    private var parcels: [Parcel] = []
    private var events: [C.External] = []
    private var isNew = false
    /// How often the store has failed in a row.
    private var failures = 0

    init(
        _ instance: InstanceName, store: C.Storage, core: @escaping (_ epoch: Int64) -> C,
        perform: @escaping ([C.Output]) -> Void = { _ in },
        refuse: @escaping ([C.External]) -> Void = { _ in }
    ) {
        self.instance = instance
        self.store = store
        self.makeCore = core
        self.perform = perform
        self.refuse = refuse
    }

    private(set) var isAlive = false
    private(set) var dueAt: Int64?
    // While it waits for its store it reads nothing.
    var hasInput: Bool { failures == 0 && (isNew || !parcels.isEmpty || !events.isEmpty) }
    var hasStore: Bool { C.Storage.self != NoStore.self }

    var keptCount: Int { node?.keptCount ?? 0 }

    func start(epoch: Int64, at now: Moment) throws {
        node = Node(core: makeCore(epoch), life: Sender(instance, epoch: epoch))
        isAlive = true
        isNew = true
        failures = 0
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
    func round(at now: Moment, kill point: KillPoint?, fail: FailPoint? = nil) throws -> Round {
        guard var node else { return Round() }
        self.node = nil
        isAlive = false
        try store.begin()
        if isNew { try node.start(at: now, in: &store) }
        if node.isAbandoned { try node.restart(makeCore(node.life.epoch), at: now, in: &store) }
        if let fail, point == nil { return try failed(fail, consume node, at: now) }
        isNew = false
        let hasFailed = failures > 0
        failures = 0
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
        if hasFailed { node.renew() }
        let actions = node.commit(at: now)
        if point == .afterCommit { return Round() }
        perform(actions.outputs)
        if point == nil { goOn(consume node, dueAt: nil, at: now) }
        return Round(hello: actions.hello, parcels: actions.parcels, logs: actions.logs)
    }

    /// A round whose transaction fails, as the shell makes it: messages are kept, callers are refused, the core is made
    /// anew after a while.
    private func failed(_ fail: FailPoint, _ given: consuming Node<C>, at now: Moment) throws -> Round {
        var node = given
        switch fail {
        case .taking(let part):
            let count = Int(Double(parcels.count) * part)
            for parcel in parcels.prefix(count) { try node.receive(parcel, at: now, in: &store) }
        case .committing:
            for parcel in parcels { try node.receive(parcel, at: now, in: &store) }
            for event in events { try node.receive(event, at: now, in: &store) }
            try node.turn(drained: true, at: now, in: &store)
        }
        try store.rollback()
        node.abandon()
        isNew = false
        refuse(events)
        events = []
        let actions = node.commit(at: now)
        failures += 1
        goOn(consume node, dueAt: now.monotonic + min(250 << Int64(min(failures - 1, 3)), 2_000), at: now)
        return Round(hello: actions.hello, parcels: actions.parcels, logs: actions.logs)
    }

    private func goOn(_ node: consuming Node<C>, dueAt: Int64?, at now: Moment) {
        self.dueAt = dueAt ?? now.monotonic + node.nextTurnMilliseconds(after: now)
        self.node = consume node
        isAlive = true
    }
}
