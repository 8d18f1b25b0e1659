import Bus
import Contracts
import Foundation
import Testing
import Web

/// Situations between services, by their names: signals, neighbours that stand still or are gone, paths.
@Suite(.serialized, .timeLimit(.minutes(10))) struct `Situations between processes` {
    @Test(arguments: Fleet.services)
    func `ipc-path-too-long: 107 bytes work, more are refused with path, length and limit`(_ service: String)
        throws
    {
        // The longest name that any service puts behind the run directory.
        let name = "/token-registry.1.answers"
        for excess in [0, 1] {
            let length = 107 + excess - name.utf8.count
            let stem = "/tmp/lp-\(UInt32.random(in: 0 ... .max))-"
            let path = stem + String(repeating: "d", count: length - stem.utf8.count)
            defer { try? FileManager.default.removeItem(atPath: path) }
            let fleet = try Fleet(runDirectory: path)
            // The gateway reads the certificate that it makes.
            try fleet.startSimulator()
            try fleet.start(service)
            guard excess > 0 else {
                try fleet.wait(for: "a ready line") { try fleet.log(service).contains(" ready") }
                #expect(try fleet.stop(service) == 0)
                continue
            }
            #expect(try fleet.exitCode(service) == 78)
            let log = try fleet.log(service)
            #expect(log.contains(path) && log.contains("108") && log.contains("107"), "\(log)")
        }
    }

    @Test(arguments: Fleet.services)
    func `ipc-path-too-long: the bytes of a name count, not its characters`(_ service: String) throws {
        let fleet = try Fleet(runDirectory: "/tmp/" + String(repeating: "ü", count: 60))
        try fleet.start(service)
        #expect(try fleet.exitCode(service) == 78)
        #expect(try fleet.log(service).contains("107"))
    }

    @Test func `ipc-signals: nothing but SIGTERM stops a service, and two of them stop it in order`() throws {
        let fleet = try Fleet(delivery: #"{"intervalSeconds":0}"#)
        try fleet.startAll()
        try fleet.addPhones(10)
        var codes = try fleet.accepted((1...10).map { fleet.start("a\($0)", on: "p\($0)") })
        for round in 1...200 {
            for service in Fleet.services {
                for number in [SIGHUP, SIGUSR1, SIGCHLD, SIGWINCH, SIGSTOP, SIGCONT] {
                    fleet.signal(service, number)
                }
            }
            codes += try fleet.accepted([fleet.update("a\(round % 10 + 1)", round)])
        }
        for service in Fleet.services { #expect(fleet.isRunning(service), "\(service)") }
        let outcomes = try fleet.outcomes(codes)
        #expect(outcomes.values.reduce(0, +) == codes.count)
        #expect(Set(outcomes.keys).isSubset(of: ["delivered", "superseded"]), "\(outcomes)")
        for phone in 1...10 {
            try fleet.waitUntilShown(phone == 1 ? 200 : 190 + phone - 1, on: "p\(phone)")
        }
        #expect(try fleet.control("GET", "/counters").contains(#""duplicates":0"#))
        for service in Fleet.services.reversed() {
            fleet.signal(service, SIGTERM)
            Thread.sleep(forTimeInterval: 0.01)
            fleet.signal(service, SIGTERM)
            #expect(try fleet.exitCode(service, withinSeconds: 10) == 0, "\(service)")
        }
    }

    @Test func `ipc-shutdown-hang: whoever is told to stop stops, whatever its neighbours do`() throws {
        let fleet = try Fleet()
        try fleet.startAll()
        try fleet.addPhones(5)
        fleet.signal("segmenter", SIGSTOP)
        let codes = try fleet.accepted((1...5).map { fleet.start("a\($0)", on: "p\($0)") })
        #expect(try fleet.stop("ingest", withinSeconds: 7) == 0)
        fleet.signal("segmenter", SIGCONT)
        try fleet.start("ingest")
        #expect(try fleet.outcomes(codes) == ["delivered": 5])
        for service in Fleet.services {
            for other in Fleet.services where other != service { fleet.signal(other, SIGSTOP) }
            #expect(try fleet.stop(service, withinSeconds: 7) == 0, "\(service)")
            for other in Fleet.services where other != service { fleet.signal(other, SIGCONT) }
            try fleet.start(service)
            try fleet.waitUntilReady(service)
        }
        let updates = try fleet.accepted((1...5).map { fleet.update("a\($0)", 1) })
        #expect(try fleet.outcomes(updates) == ["delivered": 5])
    }

    /// Whether a sanitizer's own memory is among that of a process (`Tests/Sanitizers/run`).
    private static let isSanitized = ProcessInfo.processInfo.environment["ASAN_OPTIONS"] != nil

    /// Each activity is on 1,000 phones: more than the 2,000 pushes that a gateway takes on, or the 10,000 targets
    /// that a limiter does.
    @Test(arguments: [("apns-gateway", 3), ("rate-limiter", 11)])
    func `ipc-full-queue: nothing disappears while a service stands still`(
        _ service: String, _ activities: Int
    ) throws {
        let fleet = try Fleet(delivery: #"{"intervalSeconds":1}"#)
        try fleet.startAll()
        // A phone shows five activities at most.
        try fleet.addPhones(3_000)
        fleet.signal(service, SIGSTOP)
        let starts = try fleet.accepted(
            (1...activities).map { activity in
                let first = activity % 3 * 1_000
                return fleet.start("a\(activity)", on: (first + 1...first + 1_000).map { "p\($0)" })
            })
        var updates: [String] = []
        for round in 1...30 {
            updates += try fleet.accepted((1...activities).map { fleet.update("a\($0)", round) })
        }
        fleet.signal(service, SIGCONT)
        let seconds: Double = Self.isSanitized ? 300 : 120
        #expect(try fleet.outcomes(starts, seconds: seconds) == ["delivered": activities * 1_000])
        let outcomes = try fleet.outcomes(updates, seconds: seconds)
        #expect(outcomes.values.reduce(0, +) == 30 * activities * 1_000)
        #expect(Set(outcomes.keys).isSubset(of: ["delivered", "superseded"]), "\(outcomes)")
        for phone in stride(from: 1, through: 3_000, by: 30) { try fleet.waitUntilShown(30, on: "p\(phone)") }
        #expect(try fleet.control("GET", "/counters").contains(#""duplicates":0"#))
        guard !Self.isSanitized else { return }
        for service in Fleet.services { #expect(try fleet.peakMebibytes(service) < 128, "\(service)") }
    }

    @Test func `ipc-junk-message: each service drops junk, says so without its content, and goes on`() throws
    {
        let fleet = try Fleet()
        try fleet.startAll()
        try fleet.addPhones(1)
        _ = try fleet.outcomes(try fleet.accepted([fleet.start("a1", on: "p1")]))
        for service in Fleet.services { try sendJunk(to: service, fleet) }
        let update = try fleet.accepted([fleet.update("a1", 1)])
        #expect(try fleet.outcomes(update) == ["delivered": 1])
        for service in Fleet.services {
            let log = try fleet.log(service)
            #expect(log.contains("message-dropped"), "\(service): \(log)")
            #expect(!log.contains("leak-4242"), "\(service)")
            // The largest frame is 8 MiB, and one of each lane came.
            #expect(try fleet.peakMebibytes(service) < 128, "\(service)")
        }
    }

    private func sendJunk(to service: String, _ fleet: Fleet) throws {
        let target = InstanceName(try #require(ServiceName(rawValue: service)))
        let stranger = InstanceName(try #require(target.service.neighbours.first), 99)
        var limits = BusLimits()
        limits.frameBytesMax = 1 << 30
        limits.messageBytesMax = 1 << 30
        let bus = try Bus(
            BusEndpoint(runDirectory: fleet.runDirectory, instance: stranger), limits: limits)
        let marker = Array("leak-4242".utf8)
        let junk: [[[UInt8]]] = [
            [[]], (0..<5).map { _ in (0..<200).map { _ in UInt8.random(in: 0 ... .max) } + marker },
            [Array(#"{"v":1,"type":"leak-4242"}"#.utf8), Array("[]".utf8)],
            [Array(String(repeating: "[", count: 100_000).utf8) + marker],
            [[UInt8](repeating: 0x20, count: 64 << 20)],
        ]
        for lane in Lane.allCases {
            for frames in junk {
                try fleet.wait(for: "\(service) to take junk") {
                    try bus.discover(nowMilliseconds: 0)
                    bus.poll([], timeoutMilliseconds: 5)
                    return bus.send(frames, to: target, lane) == .taken
                }
            }
        }
        // What was sent last ends the connection once it is read.
        try fleet.wait(for: "\(service) to end the connection") {
            bus.poll([], timeoutMilliseconds: 5)
            return try fleet.log(service).contains("connections-ended")
        }
    }
}
