public import Contracts
public import Store

/// One instance as a value: its core, what it keeps until answered, and which neighbours live.
///
/// It is all of a process but its sockets, clock and files, so that a whole pipeline of nodes can run in a test.
/// A caller hands in what arrived (`receive`), then calls `turn`, both inside one store transaction; after the
/// commit it calls `commit` for what has to be done. If the transaction fails it calls `restart`.
public struct Node<C: Core> {
    /// The service's decisions.
    public private(set) var core: C
    /// Which life of which instance this is.
    public private(set) var life: Sender
    private let firstEpoch: Int64
    private var outbox = Outbox()
    private var peers = Peers()
    private var pending: [Effect<C.Output>] = []
    private var nextHelloMilliseconds = Int64.min
    private var pausedSaid: [Pause] = []
    private var nextParcel: Int64 = 0
    private var pendingAnswers: [CustodyKey] = []
    private var clockStep = ClockStep()

    /// How often an instance says that it lives, in milliseconds.
    public static var helloMilliseconds: Int64 { 1_000 }

    /// Makes the node of a core.
    public init(core: C, life: Sender) {
        self.core = core
        self.life = life
        firstEpoch = life.epoch
    }

    /// Everything to be done once the transaction has committed.
    public struct Actions {
        /// A hello for every neighbour, if one is due.
        public var hello: Parcel?
        /// What to send, in order.
        public var parcels: [(to: InstanceName, parcel: Parcel)] = []
        /// What the adapter has to do.
        public var outputs: [C.Output] = []
        /// What to log.
        public var logs: [LogLine] = []
        /// What to count.
        public var counts: [Count] = []
    }

    /// Begins the life: the store's unfinished work goes on.
    ///
    /// - Throws: `StoreError` if the store fails.
    public mutating func start(at now: Moment, in store: inout C.Storage) throws(StoreError) {
        try step(.started, at: now, in: &store)
    }

    /// Takes a parcel in.
    ///
    /// - Throws: `StoreError` if the store fails.
    public mutating func receive(_ parcel: Parcel, at now: Moment, in store: inout C.Storage)
        throws(StoreError)
    {
        followClock(now)
        // What was on its way to a former process has been taken back by its sender, or will be.
        if let epoch = parcel.envelope.to, !(firstEpoch...life.epoch).contains(epoch) {
            let label = [("type", parcel.envelope.type.rawValue)]
            return pending.append(.count(Count("misdirected", label, by: parcel.messages.count)))
        }
        let lag = clockStep.lag(ofSentAt: parcel.envelope.sentAtMilliseconds, at: now)
        for var message in parcel.messages {
            if let lag { message.moveInstants(byMilliseconds: lag) }
            guard message.isPlausible else {
                pending.append(.count(Count("implausible", [("type", message.type.rawValue)])))
                continue
            }
            if case .hello(let hello) = message {
                peers.heard(hello, from: parcel.envelope.from, nowMilliseconds: now.monotonic)
            }
            try step(.message(message, from: parcel.envelope.from), at: now, in: &store)
            pendingAnswers += message.answeredKeys
        }
    }

    /// Takes an adapter's event in.
    ///
    /// - Throws: `StoreError` if the store fails.
    public mutating func receive(_ event: C.External, at now: Moment, in store: inout C.Storage)
        throws(StoreError)
    {
        followClock(now)
        try step(.external(event), at: now, in: &store)
    }

    /// Has what is kept go by the wall clock if that was set.
    private mutating func followClock(_ now: Moment) {
        if let step = clockStep.notice(now) { outbox.moveInstants(byMilliseconds: step) }
    }

    /// Acts on neighbours that came and went, and lets the core send more.
    ///
    /// - Parameters:
    ///   - drained: whether everything that had arrived has been taken in; only then is a new life of a neighbour,
    ///     or its silence, acted on.
    ///   - now: the instant.
    ///   - store: inside a transaction.
    /// - Throws: `StoreError` if the store fails.
    public mutating func turn(drained: Bool, at now: Moment, in store: inout C.Storage) throws(StoreError) {
        followClock(now)
        letGoOfAnswered()
        if drained {
            for instance in peers.takeNewLives() { try takeBack(instance, .newLife, at: now, in: &store) }
            for instance in peers.takeGone(nowMilliseconds: now.monotonic) {
                try takeBack(instance, .gone, at: now, in: &store)
            }
        }
        let overdue = outbox.overdue(nowMilliseconds: now.monotonic)
        if overdue > 0 { pending.append(.log(LogLine(.warning, "sent-again", [("messages", "\(overdue)")]))) }
        try step(.turn(room(at: now)), at: now, in: &store)
    }

    /// Keeps no longer what answers that were taken in have answered.
    private mutating func letGoOfAnswered() {
        outbox.answered(pendingAnswers)
        pendingAnswers = []
    }

    private mutating func takeBack(
        _ instance: InstanceName, _ reason: LossReason, at now: Moment, in store: inout C.Storage
    ) throws(StoreError) {
        let lost = outbox.takeBack(from: instance, reason)
        let event = reason == .gone ? "neighbour-gone" : "neighbour-restarted"
        pending.append(.log(LogLine(.info, event, [("instance", "\(instance)"), ("lost", "\(lost.count)")])))
        try step(.lost(lost, at: instance, reason), at: now, in: &store)
    }

    private mutating func step(
        _ input: Input<C.External>, at now: Moment, in store: inout C.Storage
    ) throws(StoreError) {
        pending += try core.step(input, at: now, in: &store)
    }

    /// How much more work each living neighbour takes.
    public func room(at now: Moment) -> Room {
        let places = peers.instances.map { instance in
            Room.Place(
                instance: instance, windows: peers.windows(of: instance) ?? Windows(),
                used: outbox.used(at: instance), usedByAccount: outbox.usedByAccount(at: instance))
        }
        return Room(places: places, settledServices: peers.settledServices(nowMilliseconds: now.monotonic))
    }

    /// Says what has to be done, after the transaction has committed.
    public mutating func commit(at now: Moment) -> Actions {
        var actions = Actions()
        var loose: [(InstanceName, Message)] = []
        // Where a message is committed by itself no turn has done so.
        letGoOfAnswered()
        for effect in pending {
            switch effect {
            case .send(let message, let route): post(message, route, &loose)
            case .perform(let output): actions.outputs.append(output)
            case .log(let line): actions.logs.append(line)
            case .count(let count): actions.counts.append(count)
            }
        }
        pending = []
        // Kept messages first: a retarget must not overtake the target it changes.
        let kept = outbox.dispatch(peers, nowMilliseconds: now.monotonic)
        let sent = kept.map { (Address(instance: $0.instance, epoch: $0.epoch), $1) }
        actions.parcels = parcels(
            sent + loose.map { (Address(instance: $0, epoch: nil), $1) }, at: now)
        actions.hello = hello(at: now)
        return actions
    }

    private mutating func post(_ message: Message, _ route: Route, _ loose: inout [(InstanceName, Message)]) {
        let service: ServiceName =
            switch route {
            case .service(let service): service
            case .instance(let instance): instance.service
            }
        if case .retarget(let retarget) = message { outbox.retarget(retarget) }
        if !message.keptKeys(receiver: service).isEmpty {
            outbox.add(message, route, receiver: service)
            return
        }
        switch route {
        case .instance(let instance): loose.append((instance, message))
        case .service(let service):
            if let life = peers.living(service).first { loose.append((life.instance, message)) }
        }
    }

    /// Joins what goes to the same instance and is of the same type.
    private mutating func parcels(_ sent: [(Address, Message)], at now: Moment) -> [(InstanceName, Parcel)] {
        var order: [ParcelGroup] = []
        var groups: [ParcelGroup: [Message]] = [:]
        for (address, message) in sent {
            let group = ParcelGroup(address: address, type: message.type)
            if groups[group] == nil { order.append(group) }
            groups[group, default: []].append(message)
        }
        var result: [(InstanceName, Parcel)] = []
        for group in order {
            for part in (groups[group] ?? []).chunked() {
                result.append((group.address.instance, parcel(part, to: group.address.epoch, at: now)))
            }
        }
        return result
    }

    private mutating func parcel(_ messages: [Message], to epoch: Int64? = nil, at now: Moment) -> Parcel {
        nextParcel += 1
        let envelope = Envelope(
            type: messages[0].type, id: nextParcel, from: life, to: epoch, sentAtMilliseconds: now.wall)
        return Parcel(envelope: envelope, messages: messages)
    }

    private mutating func hello(at now: Moment) -> Parcel? {
        let paused = isAbandoned ? pausedSaid : core.paused
        guard now.monotonic >= nextHelloMilliseconds || paused != pausedSaid else { return nil }
        nextHelloMilliseconds = now.monotonic + Node.helloMilliseconds
        pausedSaid = paused
        return parcel([.hello(Hello(windows: core.windows, paused: paused))], at: now)
    }

    /// Takes back a parcel that could not be handed to the transport; what is kept in it goes with the next turn.
    public mutating func unsend(_ parcel: Parcel, to instance: InstanceName) {
        for message in parcel.messages { outbox.unsend(message, to: instance) }
    }

    /// Forgets what the core has decided since the last commit; the caller has rolled back.
    ///
    /// Until `restart` only `commit` may be called, for the hellos that must not stop meanwhile.
    public mutating func abandon() {
        pending = []
        pendingAnswers = []
        isAbandoned = true
    }

    /// Whether a transaction has failed and the core has not been made anew since.
    public private(set) var isAbandoned = false

    /// Has the core go by a new configuration, if it can.
    public mutating func reload(_ configuration: Configuration) {
        guard var reloadable = core as? any Reloadable else { return }
        reloadable.reload(configuration)
        guard let reloaded = reloadable as? C else { return }
        core = reloaded
    }

    /// The living instances of a service, sorted.
    public func livingInstances(of service: ServiceName) -> [InstanceName] {
        peers.living(service).map(\.instance)
    }

    /// The services of which an instance lives.
    public var livingServices: Set<ServiceName> { peers.livingServices }

    /// Puts a fresh core in the place of one whose transaction failed: what it decided since is forgotten.
    ///
    /// - Throws: `StoreError` if the store still fails.
    public mutating func restart(_ core: C, at now: Moment, in store: inout C.Storage) throws(StoreError) {
        self.core = core
        pending = []
        pendingAnswers = []
        isAbandoned = false
        try start(at: now, in: &store)
    }

    /// Begins a new life, after the first transaction that has committed since others failed; neighbours hear of it with
    /// the next commit.
    ///
    /// What they had sent to the core that was thrown away, and it had taken in without keeping it in the store, comes
    /// again at once then, as after a crash. What is kept here stays, and goes on to be sent and answered; what is on its
    /// way to the life before is taken in too.
    public mutating func renew() {
        // Another number than any life before it had, of which a neighbour may remember the last few.
        life.epoch += 1
        nextHelloMilliseconds = .min
    }

    /// In how many milliseconds a turn is due although nothing arrives.
    public func nextTurnMilliseconds(after now: Moment) -> Int64 {
        guard nextHelloMilliseconds != .min else { return 0 }
        var wait = nextHelloMilliseconds - now.monotonic
        if let turn = core.nextTurnMilliseconds(after: now) { wait = min(wait, turn) }
        if let next = outbox.nextTryMilliseconds { wait = min(wait, next - now.monotonic) }
        return max(0, wait)
    }

    /// How many pieces are kept until they are answered.
    public var keptCount: Int { outbox.count }
}

/// Where a parcel goes: what is kept goes to the life that it is kept for, what is not to any life.
private struct Address: Hashable {
    var instance: InstanceName
    var epoch: Int64?
}

/// What may share a parcel.
private struct ParcelGroup: Hashable {
    var address: Address
    var type: MessageType
}

extension [Message] {
    /// The most messages one parcel carries.
    static var parcelCountMax: Int { 256 }
    /// How many bytes one parcel carries, more or less, before another is begun.
    static var parcelBytesMax: Int { 1 << 20 }

    /// Cuts into parts that fit a parcel.
    fileprivate func chunked() -> [[Message]] {
        var parts: [[Message]] = []
        var part: [Message] = []
        var bytes = 0
        for message in self {
            let size = message.roughByteCount
            if !part.isEmpty, part.count == Self.parcelCountMax || bytes + size > Self.parcelBytesMax {
                parts.append(part)
                part = []
                bytes = 0
            }
            part.append(message)
            bytes += size
        }
        if !part.isEmpty { parts.append(part) }
        return parts
    }
}

extension Message {
    /// About how many bytes it has on the bus: its raw members, and so much for each piece of its body.
    fileprivate var roughByteCount: Int {
        switch self {
        case .targets(let targets): 1_024 + targets.targets.count * 1_024 + payload.byteCount
        case .pushes(let pushes): 1_024 + pushes.pushes.count * 512 + payload.byteCount
        case .batch(let batch): 2_048 + batch.recipients.count * 64 + payload.byteCount
        case .command: 4_096 + payload.byteCount
        case .registrations(let group): 1_024 + group.entries.count * 512
        case .noted(let noted): noted.keys.count * 48
        case .answer: 65_536
        default: 512
        }
    }
}
