import Contracts
import Crypto
import Foundation
import Service
import Store

@testable import apns_gateway
@testable import ingest
@testable import rate_limiter
@testable import segmenter
@testable import token_registry

/// How unkind the simulated world is.
struct Faults {
    /// A parcel is lost although both ends live.
    var drop = 0.0
    /// A parcel arrives twice.
    var double = 0.0
    /// A parcel is late by up to two seconds, and so overtaken.
    var late = 0.0
    /// APNs answers 500, 503 or 429.
    var refuse = 0.0
    /// APNs does not answer; half of those pushes are processed all the same.
    var silent = 0.0
    /// A process is killed in a round.
    var kill = 0.0
    /// The store of a process fails in a round.
    var fail = 0.0

    static let none = Faults()
    static let all = Faults(drop: 0.004, double: 0.01, late: 0.02, refuse: 0.03, silent: 0.01, kill: 0.0015)
    /// The stores fail all the time, and processes die beside.
    static let fullDisk = Faults(drop: 0.002, refuse: 0.03, silent: 0.01, kill: 0.0005, fail: 0.02)
    /// Messages overtake each other all the time.
    static let disorder = Faults(
        drop: 0.004, double: 0.05, late: 0.3, refuse: 0.03, silent: 0.01, kill: 0.0015)
}

/// The whole pipeline in one process: the cores joined by a seeded network, with phones behind a simulated APNs.
final class World {
    /// What lies ahead.
    enum Happening {
        case arrival(Parcel, to: InstanceName)
        case apns(APNsEvent, to: InstanceName, life: Int)
        case restart(InstanceName)
        case call(Call)
        case act(() throws -> Void)
    }

    /// One HTTP request of a server or a phone.
    struct Call {
        var method = "POST"
        var path: [String]
        var body: String
        var isRepeated: Bool
        var answered: (Int, [String: Any]) -> Void
    }

    static let application = "AAAAA-00001"
    static let start: Int64 = 1_764_000_000_000

    var now = Moment(monotonic: 1_000, wall: World.start)
    /// What the clocks of APNs and the phones show, which nobody sets, milliseconds since 1970.
    var phonesNow: Int64 { World.start + now.monotonic - 1_000 }
    var random: SeededRandom
    var faults: Faults
    var phones = SimulatedPhones(intervalMilliseconds: 15_000)
    var kills = 0
    /// How many rounds have failed to commit.
    var failures = 0
    /// What APNs answers to every push, if it is not to judge them.
    var refusal: (status: Int, reason: String)?
    var logs: [String] = []
    /// Hears of each push as it goes to APNs.
    var onPush: (APNsRequest) -> Void = { _ in }
    var agenda = Agenda<Happening>()
    var processes: [any SimulatedProcess] = []
    var lives: [InstanceName: Int] = [:]
    var calls: [Int64: Call] = [:]
    var nextCall: Int64 = 0
    /// What each phone has still to tell the door, in order.
    var phoneCalls: [String: [PhoneCall]] = [:]
    /// The mistake that is planted, if one is.
    var planted: Planted?
    let isTraced = ProcessInfo.processInfo.environment["TESTS_FOLLOW"] != nil
    var ingest: Process<Ingest>?
    let registry: Process<TokenRegistry>
    var gateways: [InstanceName: Process<APNsGateway>] = [:]

    init(seed: UInt64, faults: Faults) throws {
        random = SeededRandom(seed: seed)
        self.faults = faults
        let configuration = World.configuration
        registry = Process<TokenRegistry>(
            InstanceName(.tokenRegistry), store: try Ledger(Database(.memory), seed: seed, boot: 1),
            core: { _ in TokenRegistry(configuration: configuration, limits: World.limits(seed)) })
        let ingest = Process<Ingest>(
            InstanceName(.ingest), store: try Journal(.memory, freshSecret: Array("simulated secret".utf8)),
            core: { _ in Ingest(configuration) },
            perform: { [unowned self] in replies($0) }, refuse: { [unowned self] in refuse($0) })
        self.ingest = ingest
        processes = [ingest, registry]
        // All segmenters of a host share one profile store; their rounds never interleave here.
        let profiles = try Profiles(.memory)
        for number in 1...2 {
            processes.append(
                Process<Segmenter>(
                    InstanceName(.segmenter, number), store: profiles,
                    core: { Segmenter(epoch: $0) }))
            processes.append(
                Process<RateLimiter>(
                    InstanceName(.rateLimiter, number), store: NoStore(),
                    core: { _ in RateLimiter(configuration: configuration) }))
            let name = InstanceName(.apnsGateway, number)
            let gateway = Process<APNsGateway>(
                name, store: NoStore(), core: { _ in APNsGateway(settings: GatewaySettings(configuration)) },
                perform: { [unowned self] in orders($0, of: name) })
            gateways[name] = gateway
            processes.append(gateway)
        }
        for process in processes { try startProcess(process) }
    }

    /// Under every third seed so small that a few phones are a fan-out, and take several turns.
    private static func limits(_ seed: UInt64) -> Limits {
        var limits = Limits()
        guard seed % 3 == 0 else { return limits }
        limits.rowsPerTurn = 2
        limits.fanOutMin = 4
        return limits
    }

    static var configuration: Configuration {
        var application = Configuration.Application(code: World.application, bundleID: "com.example.orders")
        application.firebaseProject = "demo"
        application.apiTokenDigests = [SHA256.hex("k-test")]
        application.keys = [.init(teamID: "TEAM123456", keyID: "KEY1234567", file: "unused.p8")]
        var configuration = Configuration()
        configuration.applications = [application]
        return configuration
    }
}
