import Bus
import Contracts
import Glibc
import Store
import Telemetry
import Testing
import Web

@testable import Service

/// Loops of toy cores over real sockets, in one thread: each round is one wait and what follows from it.
@Suite(.timeLimit(.minutes(10))) struct ServiceLoopTests {
    let world: World

    init() throws {
        world = try World()
    }

    @Test func `a command becomes a batch at the neighbour, and its answer ends it`() throws {
        try world.send([.command(command(1))])
        let (loop, registry) = (world.segmenter, world.registry)
        try world.run { registry.node.core.batches.count == 1 && loop.node.keptCount == 0 }
        #expect(world.store.rows == [1])
        #expect(registry.node.core.batches[0].command == command(1))
        #expect(world.metrics.contains(#"liveline_messages_received_total{type="command"} 1"#))
        #expect(world.metrics.contains(#"liveline_messages_sent_total{type="batch"} 1"#))
        #expect(world.metrics.contains(#"liveline_commands_total{kind="update"} 1"#))
    }

    @Test func `it is ready when its neighbours are heard`() throws {
        #expect(world.segmenter.missing.contains("no token-registry heard"))
        try world.run { !world.segmenter.missing.contains("no token-registry heard") }
        #expect(world.segmenter.missing == ["no ingest heard"])
        world.adapter.missing = ["no certificate"]
        #expect(world.segmenter.missing == ["no ingest heard", "no certificate"])
    }

    @Test
    func `ipc-junk-message: junk is dropped with a line and a count, and the next good message is served`()
        throws
    {
        let junk: [[[UInt8]]] = [
            [[]], [[0xFF]], [[1], [2], [3], [4], [5]], [Array(#"{"v":1}"#.utf8), [0x5B, 0x5D]],
        ]
        for frames in junk { try world.send(raw: frames) }
        try world.send(raw: [[UInt8]](repeating: [], count: 2_000))
        try world.send([.report(.sample)], from: gateway)
        try world.send([.command(command(5))])
        let counts = [("not-a-message", 4), ("too-many-frames", 1), ("unexpected-sender", 1)].map {
            #"liveline_messages_bad_total{kind="\#($0.0)"} \#($0.1)"#
        }
        try world.run { world.store.rows == [5] && counts.allSatisfy(world.metrics.contains) }
        let dropped = world.log.lines.filter { $0.contains("message-dropped") }
        #expect(dropped.count == 3, "one line of each kind")
        #expect(Set(dropped).count == 3)
    }

    @Test func `the metrics show from the start that no message was bad`() {
        for kind in ["not-a-message", "unexpected-sender", "too-large", "too-many-frames"] {
            #expect(world.metrics.contains(#"liveline_messages_bad_total{kind="\#(kind)"} 0"#))
        }
    }

    @Test func `the metrics show what waits in the core`() throws {
        try world.send([.command(command(1))])
        // The registry says nothing, so that there is no room for a batch.
        for _ in 0..<2_000 where world.store.rows.isEmpty { try world.segmenter.round() }
        world.segmenter.refreshGauges()
        #expect(world.metrics.contains("liveline_waiting 1\n"))
        let registry = world.registry
        try world.run { registry.node.core.batches.count == 1 }
        world.segmenter.refreshGauges()
        #expect(world.metrics.contains("liveline_waiting 0\n"))
    }

    @Test func `a flood of junk does not flood the log`() throws {
        for _ in 0..<200 { try world.send(raw: [[0xFF]]) }
        try world.send([.command(command(5))])
        try world.run { world.store.rows == [5] }
        #expect(world.log.lines.filter { $0.contains("message-dropped") }.count == 1)
        var gate = LogGate()
        let passed = [0, 1, 9_999, 10_000].map { gate.pass("junk", nowMilliseconds: $0) }
        #expect(passed == [0, nil, nil, 2])
        #expect(gate.pass("other", nowMilliseconds: 10_001) == 0)
    }

    @Test func `events and outputs pass through the core`() throws {
        world.adapter.events = ["one", "three"]
        try world.run { world.adapter.outputs == ["done one", "done three"] }
        #expect(world.store.rows == [3, 5])
        #expect(world.log.lines.contains { $0.contains("info did what=one") })
    }

    // MARK: Failures of the store

    @Test(arguments: ["begin", "insert 5", "commit"])
    func `when the store fails nothing is done, who waits is told, and messages are taken again`(
        call: String
    ) throws {
        try world.run { !world.segmenter.node.isAbandoned }
        let life = world.segmenter.node.life
        var failures = 0
        world.store.fault = { name in
            guard name == call, failures < 2 else { return nil }
            failures += 1
            return ToyStore.full
        }
        try world.send([.command(command(5))])
        try world.run { failures == 1 }
        #expect(world.segmenter.missing.contains("storage is full"))
        #expect(!world.store.isOpen)
        world.adapter.events = ["seven c"]
        try world.run { world.adapter.refused == ["seven c"] }
        #expect(world.adapter.problems == ["storage is full"])
        #expect(world.store.rows == [])
        try world.run { world.store.rows == [5] }
        #expect(failures == 2)
        #expect(world.adapter.outputs == [])
        #expect(world.log.lines.filter { $0.contains("error store-failed") }.count == 1)
        #expect(world.log.lines.contains { $0.contains("info store-recovered failures=2") })
        #expect(world.segmenter.node.core.told.first == "started")
        // A new life, so that neighbours send again what the core that is gone had taken in; without a transaction that
        // core has decided nothing, and stays.
        #expect((world.segmenter.node.life == life) == (call == "begin"))
    }

    @Test func `while the store fails nothing more is taken in, and nobody counts as silent for it`() throws {
        let world = try World { $0.retryMillisecondsMax = $0.retryMillisecondsMin }
        try world.run { !world.segmenter.missing.contains("no token-registry heard") }
        var failures = 0
        var isFull = true
        world.store.fault = { name in
            guard isFull, name == "commit" else { return nil }
            failures += 1
            return ToyStore.full
        }
        try world.send([.command(command(1))])
        try world.run { failures == 1 }
        let held = world.segmenter.inbox.parcels.count
        for sequence in 2...100 as ClosedRange<Int64> { try world.send([.command(command(sequence))]) }
        let hellos = world.registryHellos
        try world.run { failures > 20 && world.registryHellos > hellos }
        #expect(world.segmenter.inbox.parcels.count == held)
        world.clock.aheadMilliseconds += 3_600_000
        isFull = false
        try world.run { world.store.rows == Array(1...100) }
        #expect(!world.segmenter.node.core.told.contains { $0.hasPrefix("lost") })
    }

    @Test func `a store that says it is damaged ends the process with 69, as no wait helps`() throws {
        try world.run { !world.segmenter.node.isAbandoned }
        world.store.fault = { $0 == "commit" ? ToyStore.damaged : nil }
        try world.send([.command(command(5))])
        #expect(throws: ServiceFailure(.unavailable, "store-damaged", "\(ToyStore.damaged)")) {
            try world.run { false }
        }
        #expect(world.store.rows == [])
        #expect(world.segmenter.missing.contains("storage is damaged"))
    }

    @Test func `what only reads is answered while the disk is full`() throws {
        try world.run { !world.segmenter.node.isAbandoned }
        var isFull = true
        world.store.fault = { isFull && $0.hasPrefix("insert") ? ToyStore.full : nil }
        // What reads may share the turn that fails, or come while the next one is waited for.
        world.adapter.events = ["write", "read 0"]
        try world.run { world.adapter.refused == ["write"] }
        #expect(world.adapter.outputs == ["answer to read 0"])
        world.adapter.events = ["read 1", "more", "read 2"]
        try world.run { world.adapter.outputs.suffix(2) == ["answer to read 1", "answer to read 2"] }
        #expect(world.adapter.refused == ["write", "more"])
        isFull = false
        world.adapter.events = ["again"]
        try world.run {
            if !world.adapter.refused.contains("again") { return world.adapter.outputs.last == "done again" }
            world.adapter.refused = []
            world.adapter.events = ["again"]
            return false
        }
    }

    @Test func `a message that the store always refuses is dropped, and the others are served`() throws {
        try world.run { !world.segmenter.node.isAbandoned }
        world.store.fault = { $0 == "insert 6" ? ToyStore.constraint : nil }
        for sequence in [5, 6, 7] as [Int64] { try world.send([.command(command(sequence))]) }
        try world.run { world.store.rows == [5, 7] }
        #expect(world.log.lines.filter { $0.contains("error message-refused type=command") }.count == 1)
        world.adapter.events = ["still at work"]
        try world.run { world.adapter.outputs == ["done still at work"] }
    }

    @Test func `no message is lost whichever call of the store fails`() throws {
        try world.run { !world.segmenter.node.isAbandoned }
        for nth in 1... {
            var calls = 0
            world.store.fault = { _ in
                calls += 1
                return calls == nth ? ToyStore.full : nil
            }
            try world.send([.command(command(Int64(nth)))])
            try world.run { world.store.rows.contains(Int64(nth)) }
            // A round of one command makes three calls; when none failed, each has failed once.
            if calls < nth { break }
        }
        #expect(world.store.rows.count >= 4)
    }

    // MARK: Place, reload and end

    @Test(arguments: [0, Int64.max])
    func `a service that is behind acts on a new life when its time has come, or all is read`(
        behindMillisecondsMax: Int64
    ) throws {
        let world = try World { limits in
            limits.laneMessagesMax = 1
            limits.behindMillisecondsMax = behindMillisecondsMax
        }
        try world.run { !world.segmenter.missing.contains("no token-registry heard") }
        for sequence in 1...50 as ClosedRange<Int64> { try world.send([.command(command(sequence))]) }
        try world.send([.hello(hello())], from: registry, epoch: 9)
        var rows = 0
        try world.run {
            let isTold = world.segmenter.node.core.told.contains { $0.hasSuffix("newLife") }
            if !isTold { rows = world.store.rows.count }
            return isTold
        }
        #expect(behindMillisecondsMax == 0 ? rows < 45 : rows >= 45)
    }

    @Test(arguments: ["work", "answers", "admin"], [true, false])
    func `who has lost a socket goes, and says how`(socket: String, isReplaced: Bool) throws {
        let endpoint = world.segmenter.bus.endpoint
        let paths = [
            "work": endpoint.path(.work), "answers": endpoint.path(.answers), "admin": endpoint.adminPath,
        ]
        let path = try #require(paths[socket])
        try world.segmenter.round()
        #expect(rename(path, "\(path).old") == 0)
        if isReplaced {
            try world.directory.write("", to: String(path.dropFirst(world.directory.path.count + 1)))
        }
        let failure = try #require(throws: ServiceFailure.self) {
            for _ in 0..<2_000 { try world.segmenter.round() }
        }
        #expect(failure.code == .temporary)
        #expect(failure.event == "place-lost")
        #expect(failure.problem.hasSuffix(isReplaced ? "is another process's" : "\(path) is gone"))
    }

    @Test func `a new configuration reaches adapter and core, and a bad one neither`() throws {
        var configuration = Configuration()
        configuration.delivery.intervalSeconds = 7
        world.segmenter.take(configuration)
        #expect(world.adapter.reloads == [7])
        #expect(world.segmenter.node.core.told == ["reload 7"])
        world.adapter.reloadError = LineError("no such file")
        configuration.delivery.intervalSeconds = 8
        world.segmenter.take(configuration)
        #expect(world.segmenter.context.configuration.delivery.intervalSeconds == 7)
        #expect(world.log.lines.contains { $0.contains(#"error reload-failed problem="no such file""#) })
        world.segmenter.take(nil)
        #expect(world.segmenter.node.core.told == ["reload 7"])
    }

    @Test func `stopping waits until the adapter is drained`() throws {
        world.adapter.drained = false
        world.segmenter.stop()
        #expect(world.adapter.isDraining)
        var rounds = 0
        try world.run {
            rounds += 1
            if rounds == 3 { world.adapter.drained = true }
            return world.segmenter.hasStopped
        }
        #expect(rounds >= 3)
    }

    @Test func `stopping ends when its time is over`() throws {
        world.adapter.drained = false
        world.segmenter.stop()
        try world.run { world.segmenter.hasStopped }
    }

    @Test(arguments: [(60_000, 100, 100), (60_000, 0, 0), (50, 100, 50)] as [(Int64, Int64, Int64)])
    func `who is asked twice stops at once, but gives two requests that come together a moment`(
        stop: Int64, together: Int64, expected: Int64
    ) throws {
        let world = try World { ($0.stopMilliseconds, $0.togetherMilliseconds) = (stop, together) }
        world.adapter.drained = false
        world.segmenter.stop()
        #expect(!world.segmenter.hasStopped)
        let stopBy = try #require(world.segmenter.stopByMilliseconds)
        world.segmenter.stop()
        let now = MonotonicClock.nowMilliseconds()
        #expect(world.segmenter.stopByMilliseconds == max(stopBy - stop + expected, now))
        world.segmenter.stop()
        try world.run { world.segmenter.hasStopped }
    }

    @Test func `who has lost a lock goes, and says how`() throws {
        let path = "\(world.directory.path)/x.lock"
        world.segmenter.locks = [try #require(try InstanceLock(path))]
        try world.segmenter.round()
        #expect(unlink(path) == 0)
        let failure = try #require(throws: ServiceFailure.self) {
            for _ in 0..<2_000 { try world.segmenter.round() }
        }
        #expect(failure == ServiceFailure(.temporary, "place-lost", "\(path) is gone"))
    }

    @Test func `who stops reads answers and no more work`() throws {
        try world.run { !world.segmenter.node.isAbandoned }
        world.adapter.drained = false
        world.segmenter.stop()
        try world.send([.command(command(1))])
        try world.send([.noted(Noted([]))])
        try world.run { world.segmenter.node.core.told.contains("noted of ingest.1") }
        #expect(world.store.rows == [])
    }

    @Test func `who stops reads all answers that have come, or what they tell happens once more`() throws {
        let world = try World { ($0.laneMessagesMax, $0.stopMilliseconds) = (1, 10_000) }
        try world.run { !world.segmenter.node.isAbandoned }
        for _ in 0..<50 { try world.send([.noted(Noted([]))]) }
        // They are there when the first of them is, or within moments.
        try world.run { world.segmenter.node.core.told.contains("noted of ingest.1") }
        world.segmenter.stop()
        try world.run { world.segmenter.hasStopped }
        #expect(world.segmenter.node.core.told.filter { $0 == "noted of ingest.1" }.count == 50)
    }

    // MARK: Admin door

    @Test func `the admin door may end while a request is on its way`() throws {
        let client = HTTPClient()
        var result: Result<HTTPClientResponse, HTTPClientError>?
        var server: HTTPServer?
        do {
            let admin = try AdminDoor(.tcp(host: "127.0.0.1", port: 0), metrics: Metrics())
            server = admin.pollable as? HTTPServer
            let port = try #require(server?.port)
            client.send(HTTPClientRequest(method: "GET", url: "http://127.0.0.1:\(port)/readyz")) {
                result = $0
            }
        }
        Poller(try #require(server), client).run(timeoutMilliseconds: 10_000) { result != nil }
        #expect(try #require(result).get().status == 503)
    }

    @Test func `the admin door tells how the service is`() throws {
        let admin = try AdminDoor(.tcp(host: "127.0.0.1", port: 0), metrics: Metrics())
        let server = try #require(admin.pollable as? HTTPServer)
        let port = try #require(server.port)
        let client = HTTPClient()
        func get(_ path: String, method: String = "GET") throws -> HTTPClientResponse {
            var result: Result<HTTPClientResponse, HTTPClientError>?
            client.send(HTTPClientRequest(method: method, url: "http://127.0.0.1:\(port)\(path)")) {
                result = $0
            }
            Poller(server, client).run(timeoutMilliseconds: 10_000) { result != nil }
            return try #require(result).get()
        }
        #expect(try get("/healthz").status == 200)
        #expect(try get("/readyz").status == 503)
        admin.missing = { ["no ingest heard"] }
        #expect(try String(decoding: get("/readyz").body, as: UTF8.self) == "no ingest heard\n")
        admin.missing = { [] }
        #expect(try get("/readyz").status == 200)
        let metrics = try String(decoding: get("/metrics").body, as: UTF8.self)
        #expect(metrics.contains("process_cpu_seconds_total"))
        #expect(metrics.contains("process_resident_memory_bytes"))
        #expect(try get("/").status == 404)
        #expect(try get("/metrics", method: "DELETE").status == 405)
    }
}

extension Report {
    fileprivate static let sample = Report(
        id: PushID(message: 1, device: 1), attempt: 1, application: "A", environment: .production,
        result: .delivered)
}
