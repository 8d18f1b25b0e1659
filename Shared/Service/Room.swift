public import Contracts

/// How much more work each living neighbour takes; a core's local copy counts down while it sends.
///
/// No account (an application in one environment) holds more of a window than is still free, so that one that gets
/// no answers always leaves room for the others.
public struct Room: Sendable, Equatable {
    /// One living instance.
    public struct Place: Sendable, Equatable {
        /// Which one.
        public var instance: InstanceName
        /// What it takes.
        public var windows: Windows
        /// What is unanswered there, by kind.
        public var used: [WindowKind: Int]
        /// What is unanswered there, by kind and account.
        public var usedByAccount: [WindowKind: [String: Int]]

        /// Describes an instance.
        public init(
            instance: InstanceName, windows: Windows, used: [WindowKind: Int] = [:],
            usedByAccount: [WindowKind: [String: Int]] = [:]
        ) {
            self.instance = instance
            self.windows = windows
            self.used = used
            self.usedByAccount = usedByAccount
        }
    }

    /// The living instances, sorted by name.
    public private(set) var places: [Place]
    /// The services whose instances have been heard for long enough to choose among them by hash.
    public let settledServices: Set<ServiceName>

    /// Describes the neighbours.
    public init(places: [Place], settledServices: Set<ServiceName>) {
        self.places = places.sorted { $0.instance < $1.instance }
        self.settledServices = settledServices
    }

    /// Room without bounds at one instance of each service: for a core that runs alone.
    public static func boundless(_ services: [ServiceName] = ServiceName.allCases) -> Room {
        let windows = Windows(
            registrations: .max / 4, commands: .max / 4, batches: .max / 4, targets: .max / 4,
            pushes: .max / 4)
        return Room(
            places: services.map { Place(instance: InstanceName($0), windows: windows) },
            settledServices: Set(services))
    }

    /// The living instances of a service, sorted.
    public func instances(of service: ServiceName) -> [InstanceName] {
        places.filter { $0.instance.service == service }.map(\.instance)
    }

    /// How many more an account may send to an instance; 0 if it does not live.
    public func free(_ kind: WindowKind, at instance: InstanceName, account: String) -> Int {
        guard let place = places.first(where: { $0.instance == instance }) else { return 0 }
        let free = place.windows[kind] - place.used[kind, default: 0]
        let held = place.usedByAccount[kind]?[account] ?? 0
        // After n more the account holds held + n of the window, and free - n is still free. An empty account
        // may always have one, or a window of one could never be used.
        return held == 0 ? max(min(free, 1), free / 2) : max(0, (free - held) / 2)
    }

    /// Whether nothing of a kind is unanswered at an instance.
    public func isUnused(_ kind: WindowKind, at instance: InstanceName) -> Bool {
        guard let place = places.first(where: { $0.instance == instance }) else { return false }
        return place.used[kind, default: 0] == 0
    }

    /// Counts work that is being sent.
    public mutating func take(_ count: Int, _ kind: WindowKind, at instance: InstanceName, account: String) {
        guard let index = places.firstIndex(where: { $0.instance == instance }) else { return }
        places[index].used[kind, default: 0] += count
        places[index].usedByAccount[kind, default: [:]][account, default: 0] += count
    }

    /// The living instance of a service with the most room for an account, or nil if none has any.
    public func roomiest(_ kind: WindowKind, of service: ServiceName, account: String) -> InstanceName? {
        var best: (instance: InstanceName, free: Int)?
        for instance in instances(of: service) {
            let free = free(kind, at: instance, account: account)
            if free > (best?.free ?? 0) { best = (instance, free) }
        }
        return best?.instance
    }

    /// The instance that a device belongs to, by rendezvous hashing; nil while the instances are not settled.
    public func owner(ofDevice device: Int64, in service: ServiceName) -> InstanceName? {
        guard settledServices.contains(service) else { return nil }
        return instances(of: service).max { weight($0, device) < weight($1, device) }
    }

    private func weight(_ instance: InstanceName, _ device: Int64) -> UInt64 {
        // splitmix64's finaliser: every bit of both inputs moves half of the bits of the result.
        var mixed = UInt64(bitPattern: device) &* 0x9E37_79B9_7F4A_7C15 ^ UInt64(instance.number) << 32
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}
