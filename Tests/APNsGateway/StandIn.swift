import Contracts
import Crypto
import FoundationEssentials
import Glibc
import HTTP2
import Service
import Synchronization
import Telemetry
import Testing

@testable import apns_gateway

/// What the stand-in for APNs does with a request.
enum Reaction {
    case answer(Int, String? = nil)
    case silence
}

/// A file directory of its own for a test, gone with it.
final class TemporaryDirectory {
    let path: String

    init() throws {
        path = "/tmp/gw-\(String(randomUInt64(), radix: 36))"
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    func write(_ name: String, _ text: String) throws -> String {
        let file = "\(path)/\(name)"
        try PrivateFile.write(text, to: file)
        return file
    }
}

/// Collects lines of a log.
final class Lines: Sendable {
    private let lines = Mutex<[String]>([])

    var all: [String] { lines.withLock { $0 } }

    func logger() -> Logger {
        Logger(service: "test", level: .debug) { [self] line in
            lines.withLock { $0.append(String(decoding: line, as: UTF8.self)) }
        }
    }
}

/// A look-up that a test can change while it runs on another thread.
final class Names: Sendable {
    private let outcome: Mutex<Resolver.Outcome>
    private let names = Mutex<[String]>([])

    /// The names that were looked up.
    var asked: [String] { names.withLock { $0 } }

    init(_ addresses: [String]) { outcome = Mutex(.addresses(addresses)) }

    func set(_ new: Resolver.Outcome) { outcome.withLock { $0 = new } }

    func resolver() -> Resolver {
        Resolver { [self] name in
            names.withLock { $0.append(name) }
            return outcome.withLock { $0 }
        }
    }
}

/// A gateway's core and connections, a registry that hands over again, and stand-ins for APNs on loopback, in one loop
/// whose clock can be moved.
final class Rig {
    struct TookTooLong: Error {}

    let directory = try? TemporaryDirectory()
    let lines = Lines()
    let names = Names(["127.0.0.1"])
    let context: ServiceContext
    let connections: APNsConnections
    private(set) var servers: [HTTP2Server]
    /// Servers that are left alone, as if the way to them were cut.
    var deaf: Set<Int> = []
    var bench: Bench
    var requests: [HTTP2ServerRequest] = []
    var reports: [Report] = []
    var serverEvents: [HTTP2ServerEvent] = []
    var react: (Rig, HTTP2ServerRequest) -> Reaction = { _, _ in .answer(200) }
    /// Whether a retry is handed over again when its time has come, as the registry does.
    var handsOverAgain = false
    private var again: [(at: Int64, push: Push)] = []
    private var pushes: [PushID: Push] = [:]
    private var offset: Int64 = 0
    private let clock: RigClock

    init(
        streamLimit: Int = 1_000, servers count: Int = 1, limits: ConnectionLimits = ConnectionLimits(),
        instance: Int = 1, sharing other: Rig? = nil, isAlone: Bool = false, proxy: String? = nil
    ) throws {
        let directory = try #require(directory)
        let certificate = try SelfSignedCertificate.make(hosts: ["localhost"])
        let identity = try HTTP2ServerTLS(
            certificatePEM: certificate.certificatePEM, keyPEM: certificate.keyPEM)
        var options = HTTP2ServerOptions()
        options.streamLimit = streamLimit
        let first = try HTTP2Server(tls: identity, options: options)
        servers = [first]
        for number in 1..<max(count, 1) where count > 1 {
            // The same port at another address of loopback.
            servers.append(
                try HTTP2Server(
                    address: "127.0.0.\(number + 1)", port: first.port, tls: identity, options: options))
        }
        var configuration = Bench.configuration()
        configuration.apns.production = "https://localhost:\(first.port)"
        configuration.apns.caFile = try directory.write("ca.pem", certificate.certificatePEM)
        configuration.apns.proxy = proxy
        let key =
            try other.map { $0.context.configuration.applications[0].keys[0].file }
            ?? directory.write("key.p8", ProviderKey.generate().privatePEM())
        configuration.applications[0].keys[0].file = key
        configuration.dataDirectory = other?.context.configuration.dataDirectory ?? directory.path
        context = ServiceContext(
            configuration: configuration, instance: InstanceName(.apnsGateway, instance), epoch: 1,
            logger: lines.logger(), isAlone: isAlone)
        let clock = RigClock()
        self.clock = clock
        connections = try APNsConnections(
            context, limits: limits, resolver: names.resolver(),
            nowSeconds: { clock.readWallSeconds() }, clock: { clock.now.monotonic })
        bench = Bench(configuration)
        bench.now = clock.now
    }

    var server: HTTP2Server { servers[0] }

    /// The bearers that came, each once, in the order of their coming.
    var bearers: [String] {
        var bearers: [String] = []
        for request in requests {
            let bearer = request.headers["authorization"] ?? ""
            if !bearers.contains(bearer) { bearers.append(bearer) }
        }
        return bearers
    }

    var delivered: Int { reports.count { $0.result == .delivered } }

    var acceptedConnections: Int { servers.reduce(0) { $0 + $1.acceptedConnections } }

    /// Delivers a first push, so that the connection is there and takes as many streams as it may.
    @discardableResult
    func warm() throws -> Rig {
        push([1])
        try run { delivered == 1 }
        return self
    }

    /// Hands in pushes to so many devices.
    func push(_ devices: some Sequence<Int64>, sendBeforeSeconds: Int64 = 30, trial: Bool = false) {
        bench.now = clock.now
        let pushes = devices.map { device in
            var push = bench.push(device, trial: trial)
            push.sendBeforeMilliseconds = bench.now.wall + sendBeforeSeconds * 1_000
            self.pushes[push.id] = push
            return push
        }
        perform(bench.send(pushes))
    }

    func perform(_ effects: [Effect<APNsOrder>]) {
        for report in effects.reports { take(report) }
        let orders = effects.compactMap { if case .perform(let order) = $0 { order } else { nil } }
        if !orders.isEmpty { connections.perform(orders, nowMilliseconds: clock.now.monotonic) }
    }

    private func take(_ report: Report) {
        reports.append(report)
        guard handsOverAgain, report.result == .retry, var push = pushes[report.id] else { return }
        push.attempt = report.attempt + 1
        pushes[push.id] = push
        again.append((report.retryAtMilliseconds ?? 0, push))
    }

    private func handOverAgain() {
        let due = again.filter { $0.at <= bench.now.wall }
        again.removeAll { $0.at <= bench.now.wall }
        for (_, push) in due {
            var push = push
            push.sendBeforeMilliseconds = bench.now.wall + 30_000
            perform(bench.send(push))
        }
    }

    /// Answers a request, that was left open, with `BadDeviceToken`.
    func refuse(_ request: HTTP2ServerRequest) {
        server.respond(
            connectionID: request.connectionID, streamID: request.streamID, status: 400,
            body: Array(#"{"reason":"BadDeviceToken"}"#.utf8))
    }

    /// What time it is, which `bench` is told at the beginning of each turn.
    var now: Moment { clock.now }

    func skip(seconds: Int64) { clock.skip(milliseconds: seconds * 1_000) }
    func delayNextToken(seconds: Int64) { clock.delayNextToken(milliseconds: seconds * 1_000) }

    /// Turns until the condition holds; 20 real seconds are the limit.
    func run(until isDone: () -> Bool) throws {
        let limit = RigClock.real + 20_000
        while true {
            turn()
            if isDone() { return }
            guard RigClock.real < limit else { throw TookTooLong() }
            wait()
        }
    }

    /// Turns until nothing has happened for a tenth of a real second and no handshake is under way.
    func settle() throws {
        let limit = RigClock.real + 20_000
        var last = RigClock.real
        while RigClock.real - last < 100 {
            guard RigClock.real < limit else { throw TookTooLong() }
            let before = (requests.count, reports.count, serverEvents.count)
            turn()
            wait(atMost: 20)
            let isQuiet = before == (requests.count, reports.count, serverEvents.count) && !isShakingHands
            if !isQuiet { last = RigClock.real }
        }
    }

    private var isShakingHands: Bool {
        guard deaf.isEmpty, servers.allSatisfy({ $0.handshakeDelayMilliseconds == 0 }) else { return false }
        let done = serverEvents.count {
            switch $0 {
            case .opened, .handshakeFailed: true
            default: false
            }
        }
        return done < acceptedConnections
    }

    private func turn() {
        bench.now = clock.now
        for event in connections.process(nowMilliseconds: bench.now.monotonic) {
            perform(bench.step(.external(event)))
        }
        handOverAgain()
        for (number, server) in servers.enumerated() where !deaf.contains(number) {
            server.process(nowMilliseconds: clock.now.monotonic)
            for event in server.drainEvents() { take(event, server) }
            server.flush()
        }
    }

    private func take(_ event: HTTP2ServerEvent, _ server: HTTP2Server) {
        serverEvents.append(event)
        guard case .request(let request) = event else { return }
        requests.append(request)
        guard case .answer(let status, let reason) = react(self, request) else { return }
        let body = reason.map { Array(#"{"reason":"\#($0)"}"#.utf8) } ?? []
        server.respond(
            connectionID: request.connectionID, streamID: request.streamID, status: status, body: body)
    }

    private func wait(atMost milliseconds: Int64 = 200) {
        let now = clock.now
        var next = [
            connections.nextDeadlineMilliseconds, again.map(\.at).min().map { now.monotonic + $0 - now.wall },
        ]
        next += servers.map(\.nextDeadlineMilliseconds)
        let pause = min(milliseconds, max(0, (next.compactMap { $0 }.min() ?? .max / 2) - now.monotonic))
        var descriptors = connections.descriptors
        for (number, server) in servers.enumerated() where !deaf.contains(number) {
            descriptors.append(server.descriptor)
        }
        var list = descriptors.map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
        poll(&list, nfds_t(list.count), CInt(pause))
    }
}

/// Both clocks, moved together by a test.
final class RigClock: Sendable {
    private let offset = Mutex<Int64>(0)
    private let delay = Mutex<Int64>(0)

    static var real: Int64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return Int64(time.tv_sec) * 1_000 + Int64(time.tv_nsec) / 1_000_000
    }

    var now: Moment {
        let monotonic = Self.real + offset.withLock { $0 }
        return Moment(monotonic: monotonic, wall: monotonic + 1_800_000_000_000)
    }

    func skip(milliseconds: Int64) { offset.withLock { $0 += milliseconds } }

    /// Reads the wall clock; the time that this takes once, as a slow disk would, is over then.
    func readWallSeconds() -> Int64 {
        skip(
            milliseconds: delay.withLock { delay in
                defer { delay = 0 }
                return delay
            })
        return now.wall / 1_000
    }

    /// Has the next reading of the wall clock, which goes before the making of a provider token, take so long.
    func delayNextToken(milliseconds: Int64) { delay.withLock { $0 = milliseconds } }
}
