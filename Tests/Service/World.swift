import Bus
import Contracts
import Glibc
import Telemetry
import Testing
import Web

@testable import Service

/// A directory of its own, short enough for socket paths, gone with the last reference to it.
final class TemporaryDirectory {
    let path: String

    init() throws {
        var template = Array("/tmp/srv-XXXXXX".utf8CString)
        let isMade = template.withUnsafeMutableBufferPointer { buffer in
            buffer.baseAddress.flatMap { mkdtemp($0) } != nil
        }
        try #require(isMade)
        path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    deinit { TemporaryDirectory.remove(path) }

    private static func remove(_ path: String) {
        guard unlink(path) != 0 else { return }
        if let directory = opendir(path) {
            while let entry = readdir(directory) {
                let name = withUnsafePointer(to: &entry.pointee.d_name) { pointer in
                    pointer.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
                }
                if name != ".", name != ".." { remove("\(path)/\(name)") }
            }
            closedir(directory)
        }
        rmdir(path)
    }

    @discardableResult
    func write(_ text: String, to name: String) throws -> String {
        let file = "\(path)/\(name)"
        let descriptor = open(file, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
        try #require(descriptor >= 0)
        defer { close(descriptor) }
        try #require(Glibc.write(descriptor, text, text.utf8.count) == text.utf8.count)
        return file
    }
}

/// The process's clocks, set ahead.
final class MovedClock {
    var aheadMilliseconds: Int64 = 0

    var now: Moment { Moment.now().advanced(byMilliseconds: aheadMilliseconds) }
}

/// A toy segmenter under test, a toy registry beside it, and a bus from which the test sends what it likes.
final class World {
    typealias Segmenter = ServiceLoop<ToySegmenter, ToyAdapter>

    let directory: TemporaryDirectory
    let log = LogCollector()
    let store = ToyStore()
    let adapter = ToyAdapter()
    let segmenter: Segmenter
    let registry: ServiceLoop<ToyRegistry, NoAdapter>
    /// The segmenter's clock.
    let clock = MovedClock()
    private let stranger: Bus
    private let coder = ParcelCoder()
    private let context: ServiceContext
    private let registryContext: ServiceContext

    init(_ adjust: (inout LoopLimits) -> Void = { _ in }) throws {
        directory = try TemporaryDirectory()
        let path = directory.path
        func makeContext(_ instance: InstanceName, _ sink: @escaping LogSink) -> ServiceContext {
            ServiceContext(
                configuration: Configuration(), instance: instance, epoch: Int64(instance.number) + 100,
                logger: Logger(service: "\(instance)", sink: sink))
        }
        func makeBus(_ instance: InstanceName, _ limits: BusLimits = BusLimits()) throws -> Bus {
            try Bus(BusEndpoint(runDirectory: path, instance: instance), limits: limits)
        }
        context = makeContext(InstanceName(.segmenter), log.sink)
        var limits = LoopLimits()
        limits.youngTickMilliseconds = 10
        limits.youngTicks = .max
        limits.stopMilliseconds = 300
        limits.retryMillisecondsMin = 20
        adjust(&limits)
        let endpoint = try BusEndpoint(runDirectory: path, instance: InstanceName(.segmenter))
        let admin = try AdminDoor(.unix(path: endpoint.adminPath), metrics: context.metrics)
        segmenter = ServiceLoop(
            context: context, store: store, adapter: adapter, bus: try makeBus(InstanceName(.segmenter)),
            admin: admin, limits: limits, clock: { [clock] in clock.now }, makeCore: { _ in ToySegmenter() })
        registryContext = makeContext(InstanceName(.tokenRegistry), { _ in })
        registry = ServiceLoop(
            context: registryContext, store: NoStore(), adapter: NoAdapter(),
            bus: try makeBus(InstanceName(.tokenRegistry)), limits: limits,
            makeCore: { _ in ToyRegistry() })
        var reckless = BusLimits()
        reckless.framesMax = .max
        stranger = try makeBus(InstanceName(.ingest), reckless)
    }

    var metrics: String { context.metrics.exposition() }

    /// How many hellos the registry has said.
    var registryHellos: Int {
        registryContext.metrics.counter("liveline_messages_sent_total", help: "", labels: ["type"])
            .value(["hello"])
    }

    /// Has both services go round until a condition holds.
    func run(until condition: () throws -> Bool) throws {
        for _ in 0..<2_000 {
            if try condition() { return }
            if segmenter.bus.ownsItsSockets { try segmenter.round() }
            try registry.round()
        }
        Issue.record("the condition did not come true: \(store.rows) \(log.lines.suffix(5))")
    }

    func send(
        _ messages: [Message], from instance: InstanceName = InstanceName(.ingest), epoch: Int64 = 7
    ) throws {
        let envelope = Envelope(
            type: messages[0].type, id: 1, from: Sender(instance, epoch: epoch), sentAtMilliseconds: 0)
        try send(raw: coder.frames(Parcel(envelope: envelope, messages: messages)), messages[0].lane)
    }

    /// Sends frames as an allowed local user may.
    func send(raw frames: [[UInt8]], _ lane: Lane = .work) throws {
        for _ in 0..<1_000 {
            try stranger.discover(nowMilliseconds: 0)
            if stranger.send(frames, to: InstanceName(.segmenter), lane) == .taken { return }
            stranger.poll([], timeoutMilliseconds: 5)
        }
        Issue.record("the segmenter took nothing")
    }
}
