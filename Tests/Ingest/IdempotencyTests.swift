import Contracts
import JSON
import Service
import Store
import Testing

@testable import ingest

@Suite struct IdempotencyTests {
    private static let path = "/json/1.3/startLiveActivity"

    private static func start(_ id: String = "ord-12", auth: String = "k-test") -> String {
        """
        {"request":{"application":"AAAAA-00001","auth":"\(auth)","notifications":[\
        \(Bench.start.replacing("ord-12", with: id))]}}
        """
    }

    private func post(
        _ bench: Bench, _ body: String, key: String = "k1", path: String = path, token: String = "k-test"
    ) throws -> HTTPReply {
        try bench.call(
            "POST", path, body, [("idempotency-key", key), ("Authorization", "Bearer \(token)")])
    }

    @Test func `a call that comes again is answered as before and does nothing`() throws {
        let bench = try Bench()
        let first = try post(bench, IdempotencyTests.start())
        #expect(first.code == 200)
        #expect(try bench.drain().commands.count == 1)
        try bench.restart()
        bench.advance(seconds: 86_399)
        #expect(try post(bench, IdempotencyTests.start()).body == first.body)
        #expect(try bench.turn().commands.isEmpty)
        bench.advance(seconds: 1)
        #expect(try post(bench, IdempotencyTests.start()).codes != first.codes)
        #expect(try bench.turn().commands.count == 1)
    }

    @Test func `an end that is repeated hears that it was accepted`() throws {
        let bench = try Bench()
        try bench.start()
        let end =
            #"{"request":{"application":"AAAAA-00001","auth":"k-test","notifications":[\#(Bench.end)]}}"#
        let path = "/json/1.3/updateLiveActivity"
        let first = try post(bench, end, path: path)
        #expect(first.codes.count == 1)
        #expect(try post(bench, end, path: path).body == first.body)
    }

    @Test func `another body under the same key is refused`() throws {
        let bench = try Bench()
        _ = try post(bench, IdempotencyTests.start())
        let reply = try post(bench, IdempotencyTests.start("other"))
        #expect(reply.status == 422)
        #expect(reply.statusMessage == "Idempotency-Key: came before with another body")
        #expect(try bench.turn().commands.count == 1)
        #expect(try post(bench, IdempotencyTests.start("other"), key: "k2").code == 200)
    }

    @Test func `a key is one application's, for one path`() throws {
        let bench = try Bench()
        _ = try post(bench, IdempotencyTests.start())
        let foreign = #"{"request":{"auth":"k-other","name":"f","conditions":[["T","NOTSET"]]}}"#
        #expect(try post(bench, foreign, path: "/json/1.3/createFilter").code == 200)
        let own = foreign.replacing("k-other", with: "k-test")
        #expect(try post(bench, own, path: "/json/1.3/createFilter").code == 200)
        #expect(try post(bench, Bench.fcmStart, path: "/v1/projects/demo/messages:send").status == 200)
        let pause = "/v1/applications/AAAAA-00001/pause"
        #expect(try post(bench, "", path: pause).status == 200)
        #expect(try post(bench, "{}", path: pause).status == 422)
    }

    @Test func `who may not call learns nothing of a key`() throws {
        let bench = try Bench()
        _ = try post(bench, IdempotencyTests.start())
        let reply = try post(bench, IdempotencyTests.start(auth: "none"))
        #expect(reply.statusMessage == "auth: not valid for this application")
        let path = "/v1/projects/demo/messages:send"
        _ = try post(bench, Bench.fcmStart, path: path)
        #expect(try post(bench, Bench.fcmStart, path: path, token: "k-other").status == 403)
    }

    @Test func `what was refused may be tried again`() throws {
        let bench = try Bench()
        let update =
            #"{"request":{"application":"AAAAA-00001","auth":"k-test","notifications":[\#(Bench.update)]}}"#
        let path = "/json/1.3/updateLiveActivity"
        #expect(try post(bench, update, path: path).code == 210)
        try bench.start()
        #expect(try post(bench, update, path: path).code == 200)
    }

    @Test(arguments: ["", "a b", "é", String(repeating: "k", count: 256)])
    func `a key is visible ASCII and not too long`(_ key: String) throws {
        let bench = try Bench()
        let reply = try post(bench, IdempotencyTests.start(), key: key)
        #expect(
            reply.statusMessage == "Idempotency-Key: must have 1 to 255 visible ASCII characters")
        #expect(try bench.turn().isEmpty)
    }

    @Test func `replies are forgotten after a day`() throws {
        let bench = try Bench()
        _ = try post(bench, IdempotencyTests.start())
        _ = try bench.turn()
        let count = { try bench.journal.database.first("SELECT count(*) FROM replies") { $0.int(0) } }
        #expect(try count() == 1)
        bench.advance(seconds: 86_500)
        _ = try bench.turn()
        #expect(try count() == 0)
    }
}
