import Contracts
import JSON
import Service
import Testing

@testable import ingest

/// What a bulk import takes and refuses, line by line.
@Suite struct ImportTests {
    private static let path = "/v1/applications/AAAAA-00001/devices:import"
    private static let token = [("Authorization", "Bearer k-test")]

    private func imported(
        _ bench: Bench, _ body: String, _ headers: [(String, String)] = ImportTests.token,
        path: String = ImportTests.path
    ) throws -> HTTPReply {
        try bench.call("POST", path, body, headers)
    }

    private func faults(_ reply: HTTPReply) -> [String] {
        reply.json?["errors"]?.elements?.map {
            "\($0["line"]?.int64 ?? 0) \($0["member"]?.string ?? "?"): \($0["message"]?.string ?? "?")"
        } ?? []
    }

    private static let full = """
        {"hwid":"dev-1","push_token":"<AA BB>","platform":"iOS","os_version":"17.2","environment":"sandbox",\
        "language":"fr","app_version":"2","device_model":"iPhone15,2","timezone":3600,"user_id":"u-1",\
        "tags":{"level":"vip","visits":{"operation":"increment","value":1},"old":null},"frequent_pushes":false,\
        "registered_at":1700000000,\
        "push_to_start_tokens":[{"token":"5A5A","attributes_type":"OrderAttributes"},{"token":"5b5b","registered_at":7}],\
        "activity_tokens":[{"token":"a1a1","live_activity_id":"ord-12"},{"token":"b2b2","activity_id":"ord-13"}]}
        """

    @Test func `a line makes what the calls of a phone would make`() throws {
        let bench = try Bench()
        let reply = try imported(bench, ImportTests.full)
        #expect(reply.text == #"{"accepted":1,"refused":0,"lines":1,"errors":[]}"#)
        var profile = Profile()
        profile.pushToken = "aabb"
        profile.deviceType = 1
        profile.environment = .sandbox
        profile.osVersion = "17.2"
        profile.language = "fr"
        profile.appVersion = "2"
        profile.deviceModel = "iPhone15,2"
        profile.timezoneSeconds = 3_600
        profile.user = "u-1"
        profile.tags = [
            "level": .set(.string("vip")), "visits": .increment(.integer(1)), "old": .remove,
        ]
        profile.frequentPushes = false
        let groups = try bench.turn().groups
        let (segmenter, registry) = (try #require(groups.first), try #require(groups.last))
        #expect(segmenter.entries.map(\.change) == [.profile(profile)])
        let expected: [Registration.Change] = [
            .profile(profile),
            .startToken(
                StartToken(
                    token: "5a5a", attributesType: "OrderAttributes", registeredAtSeconds: 1_700_000_000)),
            .startToken(StartToken(token: "5b5b", registeredAtSeconds: 7)),
            .activityToken(
                ActivityToken(token: "a1a1", activity: "ord-12", run: 4, registeredAtSeconds: 1_700_000_000)),
            .activityToken(
                ActivityToken(token: "b2b2", activity: "ord-13", run: 5, registeredAtSeconds: 1_700_000_000)),
        ]
        #expect(registry.entries.map(\.change) == expected)
        #expect(registry.entries.map(\.sequence) == [1, 2, 3, 4, 5])
        #expect(registry.sequence == 1 && registry.application == "AAAAA-00001")
        // The app started the activity: an update of it is taken from now on.
        #expect(try bench.update().codes.count == 1)
    }

    @Test(
        arguments: [
            ("", "", nil), ("x", "", "not JSON"), ("{}", "hwid", "missing"), ("[]", "", "must be an object"),
            (#"{"hwid":""}"#, "hwid", "empty"), (#"{"hwid":7}"#, "hwid", "a string"),
            (#"{"hwid":"a","hwid":"b"}"#, "hwid", "repeated"),
            (#"{"hwid":"a","push_token":"xyz"}"#, "push_token", "hex"),
            (#"{"hwid":"a","pushToken":"00"}"#, "pushToken", "unknown"),
            (#"{"hwid":"a","environment":"test"}"#, "environment", "one of"),
            (#"{"hwid":"a","gateway":7}"#, "gateway", "one of"),
            (#"{"hwid":"a","platform":"android"}"#, "platform", "ios"),
            (#"{"hwid":"a","platform":"ios","device_type":1}"#, "platform", "beside"),
            (#"{"hwid":"a","user_id":"u","userId":"u"}"#, "user_id", "beside"),
            (#"{"hwid":"a","tags":{"t":{"operation":"add","value":1}}}"#, "tags.t.operation", "increment"),
            (#"{"hwid":"a","tags":[]}"#, "tags", "object"),
            (#"{"hwid":"a","timezone":"x"}"#, "timezone", "integer"),
            (#"{"hwid":"a","frequent_pushes":"no"}"#, "frequent_pushes", "true or false"),
            (#"{"hwid":"a","registered_at":1700000000000}"#, "registered_at", "milliseconds"),
            (#"{"hwid":"a","registered_at":1700009999}"#, "registered_at", "ahead"),
            (#"{"hwid":"a","push_to_start_tokens":"00"}"#, "push_to_start_tokens", "list"),
            (#"{"hwid":"a","push_to_start_tokens":["00"]}"#, "push_to_start_tokens[0]", "object"),
            (#"{"hwid":"a","push_to_start_tokens":[{"token":"0"}]}"#, "push_to_start_tokens[0].token", "hex"),
            (
                #"{"hwid":"a","push_to_start_tokens":[{"token":"00"},{}]}"#, "push_to_start_tokens[1].token",
                "missing"
            ),
            (
                #"{"hwid":"a","push_to_start_tokens":[{"token":"00","type":"A"}]}"#,
                "push_to_start_tokens[0].type", "unknown"
            ),
            (
                #"{"hwid":"a","activity_tokens":[{"token":"00"}]}"#, "activity_tokens[0].activity_id",
                "missing"
            ),
            (
                #"{"hwid":"a","activity_tokens":[{"token":"00","activity_id":"x","live_activity_id":"x"}]}"#,
                "activity_tokens[0].live_activity_id", "beside"
            ),
        ] as [(String, String, String?)])
    func `a bad line is refused by its number and member, and its neighbours are taken`(
        line: String, member: String, problem: String?
    ) throws {
        let bench = try Bench()
        let reply = try imported(bench, "{\"hwid\":\"one\"}\n\(line)\n{\"hwid\":\"three\"}")
        #expect(reply.status == 200)
        #expect(reply.json?["accepted"]?.int64 == 2)
        #expect(reply.json?["lines"]?.int64 == 3)
        #expect(try bench.turn().groups.first?.entries.map(\.device) == ["one", "three"])
        guard let problem else { return #expect(faults(reply) == []) }
        #expect(reply.json?["refused"]?.int64 == 1)
        let fault = try #require(faults(reply).first)
        #expect(fault.hasPrefix("2 \(member): ") && fault.contains(problem), "\(fault)")
    }

    @Test func `lines that are too long, no UTF-8 or have too many tokens are refused by their number`()
        throws
    {
        let bench = try Bench()
        let tokens = Array(repeating: #"{"token":"00"}"#, count: 65).joined(separator: ",")
        let long = #"{"hwid":"a","os_version":"\#(String(repeating: "1", count: 70_000))"}"#
        let text =
            "\(long)\r\n{\"hwid\":\"b\",\"push_to_start_tokens\":[\(tokens)]}\r\n\r\n{\"hwid\":\"c\"}\r\n"
        let reply = try imported(bench, text)
        #expect(reply.json?["accepted"]?.int64 == 1)
        #expect(faults(reply) == ["1 : a line has at most 65536 bytes", "2 : a line has at most 64 tokens"])
        var cutter = LineCutter(lineBytesMax: 100)
        cutter.append(Array(#"{"hwid":""#.utf8) + [0xFF] + Array(#""}"#.utf8))
        let line = try #require(cutter.lines(9, isOver: true).first)
        #expect(throws: Refusal.self) {
            try ImportLine.read(line.text, nowSeconds: Bench.nowSeconds, IngestLimits())
        }
    }

    @Test func `a hundred faults are named, and all are counted`() throws {
        let bench = try Bench()
        let reply = try imported(bench, String(repeating: "{}\n", count: 150))
        #expect(reply.json?["refused"]?.int64 == 150)
        #expect(faults(reply).count == 100)
        #expect(bench.counts.contains(Count("refused", [("door", "own"), ("member", "missing")], by: 150)))
        #expect(try bench.turn().isEmpty)
    }

    @Test func `who may not call is refused, and an Idempotency-Key too`() throws {
        let bench = try Bench()
        let line = #"{"hwid":"a"}"#
        #expect(try imported(bench, line, []).status == 401)
        #expect(try imported(bench, line, [("Authorization", "Bearer wrong")]).status == 401)
        #expect(try imported(bench, line, [("Authorization", "Bearer k-other")]).status == 404)
        #expect(try imported(bench, line, path: "/v1/applications/ZZZZZ-00001/devices:import").status == 404)
        #expect(try bench.call("GET", ImportTests.path, "", ImportTests.token).status == 405)
        let keyed = try imported(bench, line, ImportTests.token + [("Idempotency-Key", "k")])
        #expect(keyed.status == 400)
        #expect(keyed.text.contains("Idempotency-Key"))
        #expect(try bench.turn().isEmpty)
    }

    @Test func `a file without a line is accepted with nothing`() throws {
        #expect(
            try imported(try Bench(), "\n\n").text == #"{"accepted":0,"refused":0,"lines":0,"errors":[]}"#)
    }

    @Test func `registrations of phones are taken from the last disk space, imports are not`() throws {
        let bench = try Bench()
        try bench.step(.external(.disk(freeBytes: 1 << 20, sizeBytes: 1 << 40)))
        let reply = try imported(bench, #"{"hwid":"a"}"#)
        #expect(reply.status == 503)
        #expect(reply.header("Retry-After") != nil)
        #expect(try bench.phone("registerDevice", "").code == 200)
    }
}
