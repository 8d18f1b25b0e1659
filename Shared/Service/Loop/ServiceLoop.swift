import Bus
import Contracts
import Store
import Telemetry
import Web

/// One running service: waits, takes in what has arrived, has the core decide inside one transaction, commits, and
/// only then does what was decided.
///
/// One thread, one place to wait. Everything in one round shares a commit, so that the busier a service is the less
/// each message costs.
final class ServiceLoop<C: Core, A: Adapter> where A.External == C.External, A.Output == C.Output {
    var context: ServiceContext
    var node: Node<C>
    var store: C.Storage
    var adapter: A
    let bus: Bus
    let admin: AdminDoor?
    let limits: LoopLimits
    let makeCore: (ServiceContext) -> C
    let clock: () -> Moment

    var counters: Counters
    let coder = ParcelCoder()
    var inbox = Inbox<C.External>()
    var recovery = Recovery()
    /// A core was given up, and neighbours have not been told of the new life.
    var owesNewLife = false
    var badMessages = LogGate()
    /// Whether the last round left something unread.
    var isBehind = false
    /// When nothing was left unread for the last time, or a failing transaction was the reason.
    var drainedAtMilliseconds: Int64?
    /// Whether all answers were read that had come when it was asked to stop.
    var hasReadAll = false
    /// A turn is due whatever the core waits for.
    var owesTurn = true
    var nextTickMilliseconds = Int64.min
    var ticks = 0
    /// The neighbours that a hello of this life has reached.
    var greeted: Set<InstanceName> = []
    var lastHello: [[UInt8]]?
    /// Called once, when the first transaction of this life has committed.
    var onReady: (() -> Void)?
    /// Called once, when the service begins to stop.
    var onStopping: () -> Void = {}
    /// When it was asked to stop; nil while nobody has.
    private var stoppingSinceMilliseconds: Int64?
    /// When the process ends at the latest; nil while nobody has asked it to stop.
    private(set) var stopByMilliseconds: Int64?
    /// The locks that keep others off its name and its store.
    var locks: [InstanceLock] = []

    init(
        context: ServiceContext, store: C.Storage, adapter: A, bus: Bus, admin: AdminDoor? = nil,
        limits: LoopLimits = LoopLimits(), clock: @escaping () -> Moment = Moment.now,
        makeCore: @escaping (ServiceContext) -> C
    ) {
        self.context = context
        self.store = store
        self.adapter = adapter
        self.bus = bus
        self.admin = admin
        self.limits = limits
        self.makeCore = makeCore
        self.clock = clock
        counters = Counters(context.metrics, instance: context.instance)
        node = Node(core: makeCore(context), life: Sender(context.instance, epoch: context.epoch))
        // The first transaction begins with `started`, as after a failure.
        node.abandon()
        admin?.missing = { [weak self] in self?.missing ?? ["stopping"] }
        admin?.refresh = { [weak self] in self?.refreshGauges() }
    }

    /// What the service lacks to do its work, in words.
    var missing: [String] {
        var missing: [String] = []
        if let problem = recovery.problem {
            missing.append(problem)
        } else if node.isAbandoned {
            missing.append("starting")
        }
        let living = node.livingServices
        missing += C.service.neighbours.filter { C.service.needs($0) && !living.contains($0) }.map {
            "no \($0.rawValue) heard"
        }
        missing += adapter.missing
        if isStopping { missing.append("stopping") }
        return missing
    }

    func hasBegun() {
        onReady?()
        onReady = nil
    }

    /// Sets the gauges that are not counted as things happen.
    func refreshGauges() {
        counters.kept(node.keptCount)
        counters.waiting(node.core.waiting)
        for service in C.service.neighbours {
            counters.neighbours(node.livingInstances(of: service).count, of: service)
        }
    }

    // MARK: Stopping

    var isStopping: Bool { stopByMilliseconds != nil }

    /// Begins to stop: work is read no more, what is under way is finished; told again, stops at once.
    func stop() {
        guard stopByMilliseconds == nil else { return hurry() }
        let now = clock().monotonic
        stoppingSinceMilliseconds = now
        stopByMilliseconds = now + limits.stopMilliseconds
        onStopping()
        adapter.drain()
        owesTurn = true
    }

    /// Waits no longer, since who asks twice does not want to.
    ///
    /// Two that come together are one request, of a service manager and a supervisor, for example; what is under
    /// way has its moment then.
    private func hurry() {
        guard let since = stoppingSinceMilliseconds, let stopBy = stopByMilliseconds else { return }
        stopByMilliseconds = min(stopBy, max(clock().monotonic, since + limits.togetherMilliseconds))
    }

    /// Whether nothing is left to wait for.
    private var isDrained: Bool {
        let isCoreDrained = (node.core as? any Drainable)?.isDrained ?? true
        return !recovery.isWaiting && hasReadAll && inbox.isEmpty && adapter.drained && isCoreDrained
    }

    /// Runs rounds until the service has stopped.
    ///
    /// - Parameters:
    ///   - signals: where to hear of stopping and reloading; nil in tests.
    ///   - reload: reads the configuration again; nil leaves the former one.
    /// - Throws: `ServiceFailure` if it cannot go on.
    func run(_ signals: Signals?, reload: () -> Configuration?) throws(ServiceFailure) {
        while true {
            try round(watching: signals.map { [$0.descriptor] } ?? [])
            for request in signals?.take() ?? [] {
                switch request {
                case .reload: take(reload())
                case .stop: stop()
                }
            }
            if hasStopped { return }
        }
    }

    /// Whether it was asked to stop, and nothing is left to wait for or the time is over.
    var hasStopped: Bool {
        guard let stopBy = stopByMilliseconds else { return false }
        return isDrained || clock().monotonic >= stopBy
    }

    /// Goes by a new configuration from now on.
    func take(_ configuration: Configuration?) {
        guard let configuration else { return }
        var fresh = context
        fresh.take(configuration)
        do {
            try adapter.reload(fresh)
        } catch {
            return context.logger.error("reload-failed", ["problem": "\(error)"])
        }
        context = fresh
        node.reload(configuration)
        owesTurn = true
        context.logger.info("reloaded")
    }
}

/// What a loop does at a time, and how long it waits.
struct LoopLimits: Sendable {
    /// How many messages one lane hands in before the round goes on; a parcel more than that at the most.
    ///
    /// It is what is held of each lane while a transaction fails.
    var laneMessagesMax = 32
    /// How long one lane is read before the round goes on, in milliseconds.
    var laneMilliseconds: Int64 = 3
    /// How long a service may be behind before neighbours that came and went are acted on all the same, in
    /// milliseconds: what the former life of one had sent is read by then.
    var behindMillisecondsMax: Int64 = 2_000
    /// How long stopping may take, in milliseconds.
    var stopMilliseconds: Int64 = 5_000
    /// Within how many milliseconds two requests to stop count as one.
    var togetherMilliseconds: Int64 = 500
    /// How often the run directory is looked at, in milliseconds.
    var tickMilliseconds: Int64 = 1_000
    /// The same while the process is young, so that neighbours that start together find each other soon.
    var youngTickMilliseconds: Int64 = 100
    /// How many of the short ticks there are.
    var youngTicks = 30
    /// The first wait after a transaction has failed, in milliseconds; it doubles.
    var retryMillisecondsMin: Int64 = 250
    /// The longest such wait, in milliseconds.
    var retryMillisecondsMax: Int64 = 2_000

    init() {}
}

/// What has been taken in and is not committed yet.
struct Inbox<External: Sendable> {
    var parcels: [Parcel] = []
    var events: [External] = []

    var isEmpty: Bool { parcels.isEmpty && events.isEmpty }
}
