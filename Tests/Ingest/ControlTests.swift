import Contracts
import JSON
import Service
import Testing

@testable import ingest

/// Taking messages back, and holding an application.
@Suite struct ControlTests {
    private static let bearer = [("Authorization", "Bearer k-test")]

    private func delete(_ bench: Bench, _ code: String?, token: String = "k-test") throws -> HTTPReply {
        try bench.call(
            "DELETE", "/v1/messages/\(try #require(code))", "", [("Authorization", "Bearer \(token)")])
    }

    @Test func `a message that waits is released no more, and its cancel is`() throws {
        let bench = try Bench()
        try bench.start()
        let update = try bench.update().codes.first
        let reply = try delete(bench, update)
        #expect(reply.status == 200)
        #expect(reply.json?["cancelRequested"]?.bool == true)
        #expect(reply.json?["event"]?.string == "update")
        // The update waits behind its start; the cancel waits for nothing.
        let sent = try bench.turn().commands
        #expect(sent.map(\.kind) == [.start, .cancel])
        let cancel = try #require(sent.last)
        #expect(cancel.cancelledMessage == 2)
        #expect(cancel.run == 1)
        #expect(cancel.activity == "ord-12")
        #expect(cancel.notification == nil)
        #expect(cancel.audience == .activity)
        try bench.hear(.taken(.command(message: 1)))
        #expect(try bench.turn().isEmpty)
        try bench.hear(.taken(.command(message: 2)))
        try bench.hear(.taken(.command(message: cancel.sequence)))
        #expect(try bench.turn().isEmpty)
        #expect(bench.core.release.count == 0)
        #expect(bench.core.backlog.total == Backlog.Held())
    }

    @Test func `a restart releases the cancel and not what it cancels`() throws {
        let bench = try Bench()
        let start = try bench.start().codes.first
        _ = try delete(bench, start)
        try bench.restart()
        #expect(try bench.turn().commands.map(\.kind) == [.cancel])
        try bench.hear(.busy(Busy(message: 1)))
        bench.advance(seconds: 120)
        #expect(try bench.turn().isEmpty)
    }

    @Test func `a second cancel is answered like the first and sends nothing`() throws {
        let bench = try Bench()
        let code = try bench.start().codes.first
        let first = try delete(bench, code)
        #expect(try bench.drain().commands.map(\.kind) == [.cancel])
        #expect(try delete(bench, code).body == first.body)
        #expect(try bench.turn().isEmpty)
    }

    @Test func `an end, a cancel and another application's message are not cancelled`() throws {
        let bench = try Bench()
        let start = try bench.start().codes.first
        let end = try bench.end().codes.first
        let refused = try delete(bench, end)
        #expect(refused.status == 409)
        #expect(
            refused.json?["error"]?.string == "only a start or an update can be cancelled; this is an end")
        #expect(try delete(bench, start, token: "k-other").status == 404)
        #expect(try delete(bench, start, token: "none").status == 401)
        #expect(try delete(bench, "0000-00000000-00000000").status == 404)
        #expect(try bench.call("POST", "/v1/messages/x", "", ControlTests.bearer).status == 405)
        _ = try delete(bench, start)
        #expect(try delete(bench, bench.journal.codes.code(3)).status == 409)
        #expect(try bench.drain().commands.map(\.kind) == [.end, .cancel])
    }

    @Test func `the same start after a cancel is not taken for the cancelled one`() throws {
        let bench = try Bench()
        _ = try delete(bench, try bench.start().codes.first)
        #expect(
            try bench.start().statusMessage
                == "notifications[0].live_activity_id: an activity of this id is already running")
        let name = try bench.fcm(Bench.fcmStart).json?["name"]?.string
        _ = try delete(bench, name.flatMap { $0.split(separator: "/").last.map(String.init) })
        let again = try bench.fcm(Bench.fcmStart)
        #expect(again.status == 200)
        #expect(again.json?["name"]?.string != name)
    }

    @Test func `what sends nothing is forgotten like a settled message`() throws {
        var configuration = Bench.configuration()
        configuration.retentionSeconds = 1
        let bench = try Bench(configuration)
        let reply = try bench.call("POST", "/v1/applications/AAAAA-00001/pause", "", ControlTests.bearer)
        let path = "/v1/messages/\(try #require(reply.json?["code"]?.string))"
        #expect(try bench.drain().commands.map(\.kind) == [.pause])
        #expect(
            try bench.call("GET", path, "", ControlTests.bearer).json?["state"]?.string == "settled")
        bench.advance(seconds: 120)
        _ = try bench.turn()
        #expect(try bench.call("GET", path, "", ControlTests.bearer).status == 404)
    }

    static let holds: [(String, String, Command.Kind, APNsEnvironment?)] = [
        ("pause", "", .pause, nil), ("resume", "{}", .resume, nil),
        ("pause", #"{"environment":"sandbox"}"#, .pause, .sandbox),
        ("resume", #"{"environment":"production"}"#, .resume, .production),
        ("pause", #"{"environment":null}"#, .pause, nil),
    ]

    @Test(arguments: holds)
    func `a person holds an application and lets it go on`(
        _ word: String, _ body: String, _ kind: Command.Kind, _ environment: APNsEnvironment?
    ) throws {
        let bench = try Bench()
        let reply = try bench.call("POST", "/v1/applications/AAAAA-00001/\(word)", body, ControlTests.bearer)
        #expect(reply.status == 200)
        #expect(reply.json?["event"]?.string == word)
        try bench.restart()
        let command = try #require(try bench.turn().commands.first)
        #expect(command.kind == kind)
        #expect(command.environment == environment)
        #expect(command.application == "AAAAA-00001")
        #expect(command.run == command.sequence)
        #expect(command.cancelledMessage == nil)
    }

    @Test(arguments: [
        ("POST", "AAAAA-00001/pause", #"{"environment":"x"}"#, "k-test", 400),
        ("POST", "AAAAA-00001/pause", #"{"colour":1}"#, "k-test", 400),
        ("POST", "AAAAA-00001/pause", "[", "k-test", 400), ("POST", "AAAAA-00001/pause", "", "none", 401),
        ("POST", "AAAAA-00001/pause", "", "k-other", 404), ("POST", "CCCCC-00003/pause", "", "k-test", 404),
        ("GET", "AAAAA-00001/pause", "", "k-test", 405), ("POST", "AAAAA-00001/stop", "", "k-test", 404),
    ])
    func `a wrong hold is refused`(
        _ method: String, _ path: String, _ body: String, _ token: String, _ status: Int
    ) throws {
        let bench = try Bench()
        let reply = try bench.call(
            method, "/v1/applications/\(path)", body, [("Authorization", "Bearer \(token)")])
        #expect(reply.status == status)
        #expect(try bench.turn().isEmpty)
    }
}
