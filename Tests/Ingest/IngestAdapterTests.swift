import Contracts
import JSON
import Service
import Store
import Telemetry
import Testing
import Web

@testable import ingest

/// The adapter with its core and journal in one loop, as the process has them, but for the bus.
final class AdapterDoor: Pollable {
    var adapter: IngestAdapter
    let bench: Bench
    /// The store fails while this is true.
    var fails = false
    var diskWords = 0
    /// How far the adapter's clock is ahead, from the first request on that waits for another service.
    var aheadWhenSuspended: Int64 = 0
    private var aheadMilliseconds: Int64 = 0

    init(_ bench: Bench, directory: String) throws {
        self.bench = bench
        var configuration = bench.configuration
        configuration.http.listen = "127.0.0.1:0"
        configuration.dataDirectory = directory
        adapter = try IngestAdapter(
            ServiceContext(
                configuration: configuration, instance: InstanceName(.ingest), epoch: 1,
                logger: Logger(service: "ingest", sink: LogCollector().sink)))
    }

    var descriptor: CInt { adapter.descriptors[0] }
    var nextDeadlineMilliseconds: Int64? {
        adapter.nextDeadlineMilliseconds.map { $0 - aheadMilliseconds }
    }

    func process(nowMilliseconds clock: Int64) {
        let nowMilliseconds = clock + aheadMilliseconds
        let events = adapter.process(nowMilliseconds: nowMilliseconds)
        for case .disk in events { diskWords += 1 }
        guard !fails else {
            return adapter.failed(events, problem: "storage is full", nowMilliseconds: nowMilliseconds)
        }
        for event in events {
            do {
                let suspended = bench.suspended.count
                let replies = try bench.step(.external(event)).replies
                let waits = bench.suspended[suspended...].map {
                    IngestOutput.suspended(id: $0, path: ["json", "1.3", "getTags"])
                }
                adapter.perform(waits, nowMilliseconds: nowMilliseconds)
                if !waits.isEmpty { aheadMilliseconds = aheadWhenSuspended }
                adapter.perform(replies.map(IngestOutput.reply), nowMilliseconds: nowMilliseconds)
                let imported = bench.imported.map { IngestOutput.imported(id: $0.id, $0.outcome) }
                bench.imported = []
                if !imported.isEmpty { adapter.perform(imported, nowMilliseconds: nowMilliseconds) }
            } catch {
                Issue.record(error)
            }
        }
    }
}

@Suite struct IngestAdapterTests {
    private func withDoor(_ body: (AdapterDoor, (String, String) throws -> HTTPClientResponse) throws -> Void)
        throws
    {
        try withDirectory { directory in
            let door = try AdapterDoor(try Bench(), directory: directory)
            let client = HTTPClient()
            let origin = "http://127.0.0.1:\(door.adapter.port ?? 0)"
            try body(door) { path, text in
                var result: Result<HTTPClientResponse, HTTPClientError>?
                let request = HTTPClientRequest(
                    method: text.isEmpty ? "GET" : "POST", url: origin + path, body: Array(text.utf8))
                client.send(request) { result = $0 }
                Poller(door, client).run(timeoutMilliseconds: 30_000) { result != nil }
                return try #require(result).get()
            }
        }
    }

    private static let start = """
        {"request":{"application":"AAAAA-00001","auth":"k-test","notifications":[\(Bench.start)]}}
        """

    @Test(.timeLimit(.minutes(10)))
    func `a request whose core was given up while it waited is answered 503`() throws {
        try withDoor { door, call in
            door.aheadWhenSuspended = IngestAdapter.waitMilliseconds
            let response = try call(
                "/json/1.3/getTags", #"{"request":{"application":"AAAAA-00001","hwid":"dev-1"}}"#)
            #expect(response.status == 503)
            #expect(String(decoding: response.body, as: UTF8.self).contains(#""status_code":503"#))
            #expect(door.bench.suspended.count == 1)
        }
    }

    @Test func `those that have been answered while they waited are not remembered`() throws {
        try withDoor { door, _ in
            for id in 1...20_000 as ClosedRange<Int64> {
                door.adapter.perform([.suspended(id: id, path: [])], nowMilliseconds: 0)
            }
            #expect(door.adapter.suspendedCount <= IngestAdapter.answeredMax)
        }
    }

    @Test(.timeLimit(.minutes(10))) func `a call over HTTP is accepted and answered`() throws {
        try withDoor { door, call in
            let response = try call("/json/1.3/startLiveActivity?x=1", IngestAdapterTests.start)
            #expect(response.status == 200)
            #expect(response.headers["Content-Type"] == "application/json; charset=utf-8")
            #expect(String(decoding: response.body, as: UTF8.self).contains(#""status_code":200"#))
            #expect(try call("/healthz", "").status == 200)
            #expect(try door.bench.turn().commands.count == 1)
            #expect(door.adapter.drained)
            #expect(door.diskWords > 0)
        }
    }

    @Test(.timeLimit(.minutes(10)))
    func `a call whose transaction fails is answered 503, and the next one works`() throws {
        try withDoor { door, call in
            door.fails = true
            let refused = try call("/json/1.3/startLiveActivity", IngestAdapterTests.start)
            #expect(refused.status == 503)
            #expect(refused.headers["Retry-After"] == "5")
            #expect(
                String(decoding: refused.body, as: UTF8.self).contains(
                    "storage is full; nothing was accepted"))
            let readiness = try call("/readyz", "")
            #expect(readiness.status == 503)
            #expect(String(decoding: readiness.body, as: UTF8.self) == #"{"status":"storage is full"}"#)
            door.fails = false
            #expect(try call("/json/1.3/startLiveActivity", IngestAdapterTests.start).status == 200)
        }
    }

    @Test(.timeLimit(.minutes(10))) func `a body over 1 MiB is answered 413`() throws {
        try withDoor { _, call in
            let response = try call("/json/1.3/setTags", String(repeating: " ", count: (1 << 20) + 1))
            #expect(response.status == 413)
        }
    }

    @Test(.timeLimit(.minutes(10)))
    func `a request that arrives while answers are written is not left lying`()
        throws
    {
        try withDoor { door, _ in
            // The first look at the disk is due at once.
            door.process(nowMilliseconds: MonotonicClock.nowMilliseconds())
            let client = HTTPClient()
            var result: Result<HTTPClientResponse, HTTPClientError>?
            let origin = "http://127.0.0.1:\(door.adapter.port ?? 0)"
            client.send(HTTPClientRequest(url: origin + "/healthz")) { result = $0 }
            while door.adapter.drained {
                Poller(client).run(timeoutMilliseconds: 1) { result != nil }
                door.adapter.perform([], nowMilliseconds: MonotonicClock.nowMilliseconds())
            }
            #expect(door.adapter.nextDeadlineMilliseconds == 0)
            Poller(door, client).run(timeoutMilliseconds: 30_000) { result != nil }
            let response = try result?.get()
            #expect(response?.status == 200)
        }
    }

    @Test func `only what changes nothing is served while the store cannot be written`() throws {
        try withDoor { door, _ in
            #expect(door.adapter.onlyReads(.request(HTTPCall(id: 1, method: "GET", path: ["healthz"]))))
            #expect(!door.adapter.onlyReads(.request(HTTPCall(id: 1, method: "POST", path: ["healthz"]))))
            #expect(!door.adapter.onlyReads(.request(HTTPCall(id: 1, method: "GET", path: ["readyz"]))))
            #expect(door.adapter.onlyReads(.disk(freeBytes: 1, sizeBytes: 1)))
        }
    }
}

/// Requests and replies as lines, for a service that runs alone.
@Suite struct IngestLineTests {
    private func event(_ type: String, _ body: String) throws -> IngestEvent {
        try IngestEvent(lineType: type, body: JSONDocument(text: body).root)
    }

    @Test func `a request's body is the bytes of a value, or the text of a string`() throws {
        for (given, expected) in [(#"{ "a" : 1.0 }"#, #"{ "a" : 1.0 }"#), (#""{ \"a\"""#, #"{ "a""#)] {
            let line =
                #"{"id":7,"path":"/a%20b/c?d=e","headers":{"Authorization":"Bearer x"},"body":\#(given)}"#
            let event = try event("request", line)
            guard case .request(let call) = event else {
                Issue.record("no request")
                return
            }
            #expect(call.id == 7)
            #expect(call.method == "POST")
            #expect(call.path == ["a b", "c"])
            #expect(call.query == [HTTPCall.Field(name: "d", value: "e")])
            #expect(call.credential("Bearer") == "x")
            #expect(String(decoding: call.body, as: UTF8.self) == expected)
        }
    }

    @Test func `a disk line says how much is free, and what makes no sense is refused`() throws {
        guard case .disk(5, 9) = try event("disk", #"{"freeBytes":5,"sizeBytes":9}"#) else {
            Issue.record("no disk")
            return
        }
        #expect(throws: LineError.self) { _ = try event("disk", "{}") }
        #expect(throws: LineError.self) { _ = try event("request", "{}") }
        #expect(throws: LineError.self) { _ = try event("request", #"{"path":"/%zz"}"#) }
    }

    @Test func `a reply is one line of JSON`() throws {
        let call = HTTPCall(id: 7, method: "GET", path: ["healthz"])
        let reply = HTTPReply(call, 200, json: Array(#"{"a":1}"#.utf8))
        #expect(IngestOutput.reply(reply).lineType == "reply")
        #expect(
            String(decoding: IngestOutput.reply(reply).lineBody(), as: UTF8.self)
                == #"{"id":7,"status":200,"headers":{"Content-Type":"application/json; charset=utf-8"},"body":{"a":1}}"#
        )
    }
}

/// What the core says of its backlog, for metrics.
@Suite struct WaitingWordTests {
    @Test func `it is said when it has changed, but not more than once a second`() throws {
        let bench = try Bench()
        bench.core = Ingest(bench.configuration, tellsWaiting: true)
        try bench.step(.started)
        _ = try bench.turn()
        #expect(bench.waiting == [Backlog.Held()])
        try bench.start()
        _ = try bench.turn()
        #expect(bench.waiting.count == 1)
        #expect(bench.core.nextTurnMilliseconds(after: bench.now) == 1_000)
        bench.advance(seconds: 1)
        _ = try bench.turn()
        #expect(bench.waiting.last?.commands == 1)
    }

    @Test func `commands and registrations wait until they are taken`() throws {
        let bench = try Bench()
        #expect(bench.core.waiting == 0)
        try bench.start()
        try bench.phone("registerUser", #""userId":"u-1""#)
        #expect(bench.core.waiting == 2)
        try bench.restart()
        #expect(bench.core.waiting == 2)
    }
}
