import Contracts

/// Which neighbours live, by the hellos that were heard.
struct Peers {
    /// One neighbour.
    struct Peer {
        var life: Sender
        var hello: Hello
        var heardAtMilliseconds: Int64
    }

    /// How long nothing may be heard before an instance counts as gone: five hellos.
    static let goneAfterMilliseconds: Int64 = 5_500
    /// How long the hellos of a service are heard before its instances are chosen among by hash.
    static let settleMilliseconds: Int64 = 2_000

    private var peers: [InstanceName: Peer] = [:]
    private var firstHeard: [ServiceName: Int64] = [:]
    /// The epochs of an instance that are over, the newest last.
    private var former: [InstanceName: [Int64]] = [:]
    /// How many of them are remembered: more than can still have a hello on its way.
    private static let formerMax = 8
    /// How long the present life must have been silent before a life that was taken for a former one counts again:
    /// two hellos.
    ///
    /// Where the first hello of all was late, the older life was taken for the newer one.
    private static let silentMilliseconds: Int64 = 2_500
    private var newLives: [InstanceName: (Sender, Hello)] = [:]
    /// Instances that another has taken over from, and that count as gone.
    private var replaced: Set<InstanceName> = []
    private var lives: [ServiceName: [Sender]] = [:]

    /// The lives of a service's instances, sorted.
    func living(_ service: ServiceName) -> [Sender] { lives[service] ?? [] }

    private mutating func arrangeLives() {
        lives = Dictionary(grouping: peers.values.map(\.life)) { $0.instance.service }
            .mapValues { $0.sorted { $0.instance < $1.instance } }
    }

    /// The life of an instance; nil if it is not heard.
    func life(of instance: InstanceName) -> Sender? { peers[instance]?.life }

    /// What an instance takes; nil if it is not heard.
    func windows(of instance: InstanceName) -> Windows? { peers[instance]?.hello.windows }

    /// All living instances, sorted.
    var instances: [InstanceName] { peers.keys.sorted() }

    /// Takes a hello in.
    ///
    /// A new life is acted on later, when all that the former one said has been read. So is the first hello of another
    /// instance of a service that runs once: it says that the former has lost its lock and is gone.
    mutating func heard(_ hello: Hello, from life: Sender, nowMilliseconds now: Int64) {
        guard !isOver(life, nowMilliseconds: now) else { return }
        let service = life.instance.service
        let hello = hello.withBoundedWindows
        firstHeard[service] = firstHeard[service] ?? now
        guard let known = peers[life.instance], known.life != life else {
            if service.runsOnce, peers[life.instance] == nil {
                replaced.formUnion(living(service).map(\.instance))
            }
            replaced.remove(life.instance)
            let isNew = peers[life.instance] == nil
            peers[life.instance] = Peer(life: life, hello: hello, heardAtMilliseconds: now)
            if isNew { arrangeLives() }
            return
        }
        peers[life.instance]?.heardAtMilliseconds = now
        newLives[life.instance] = (life, hello)
    }

    private func isOver(_ life: Sender, nowMilliseconds now: Int64) -> Bool {
        guard let known = peers[life.instance], known.life != life,
            now - known.heardAtMilliseconds < Peers.silentMilliseconds
        else { return false }
        return former[life.instance]?.contains(life.epoch) ?? false
    }

    /// The instances that have started anew since the last call, sorted; from now on the new life counts.
    mutating func takeNewLives() -> [InstanceName] {
        let instances = newLives.keys.sorted()
        for (instance, (life, hello)) in newLives {
            if let over = peers[instance]?.life.epoch {
                former[instance] = ((former[instance] ?? []) + [over]).suffix(Peers.formerMax)
            }
            peers[instance]?.life = life
            peers[instance]?.hello = hello
        }
        if !newLives.isEmpty { arrangeLives() }
        newLives = [:]
        return instances
    }

    /// The instances of which nothing has been heard for too long, sorted; they do not live any more.
    mutating func takeGone(nowMilliseconds now: Int64) -> [InstanceName] {
        let gone = peers.filter { instance, peer in
            now - peer.heardAtMilliseconds > Peers.goneAfterMilliseconds || replaced.contains(instance)
        }.keys.sorted()
        guard !gone.isEmpty else { return [] }
        replaced = []
        for instance in gone { peers[instance] = nil }
        arrangeLives()
        for service in ServiceName.allCases where living(service).isEmpty { firstHeard[service] = nil }
        return gone
    }

    /// The services of which an instance lives.
    var livingServices: Set<ServiceName> { Set(lives.keys) }

    /// The services whose instances may be chosen among by hash.
    func settledServices(nowMilliseconds now: Int64) -> Set<ServiceName> {
        Set(firstHeard.filter { now - $0.value >= Peers.settleMilliseconds }.keys)
    }
}

extension Hello {
    /// The hello with windows that can be reckoned with, whatever a neighbour says.
    fileprivate var withBoundedWindows: Hello {
        func bounded(_ count: Int) -> Int { min(max(count, 0), 1 << 30) }
        var hello = self
        hello.windows = Windows(
            registrations: bounded(windows.registrations), commands: bounded(windows.commands),
            batches: bounded(windows.batches), targets: bounded(windows.targets),
            pushes: bounded(windows.pushes))
        return hello
    }
}

extension ServiceName {
    /// Whether one process at a time works, over a store of its own, while others stand by.
    var runsOnce: Bool { self == .ingest || self == .tokenRegistry }
}
