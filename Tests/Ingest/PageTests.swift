import Contracts
import JSON
import Service
import Testing

@testable import ingest

/// What an operator asks of the registry.
@Suite struct PageTests {
    private static let bearer = [("Authorization", "Bearer k-test")]

    @Test func `a message's deliveries come page by page`() throws {
        let bench = try Bench()
        let code = try #require(try bench.start().codes.first)
        let (call, query, service) = try bench.ask(
            "GET", "/v1/messages/\(code)/deliveries?after=7&limit=2", "", PageTests.bearer)
        #expect(service == .service(.tokenRegistry))
        #expect(query.application == "AAAAA-00001")
        #expect(query.kind == .deliveries(message: 1, after: 7, limit: 2))
        let lines = [8, 12].map { (number: Int64) in
            DeliveryLine(
                deviceNumber: number, device: "dev-\(number)", state: "failed", reason: "BadDeviceToken",
                apnsID: "id-\(number)", atMilliseconds: 5)
        }
        let reply = try #require(
            try bench.answer(query, .deliveries(lines: lines), from: .tokenRegistry).first)
        #expect(reply.id == call)
        #expect(reply.json?["code"]?.string == code)
        #expect(reply.json?["deliveries"]?.elements?.map { $0["device"]?.string } == ["dev-8", "dev-12"])
        #expect(
            String(decoding: reply.json?["deliveries"]?.elements?.first?.bytes ?? [], as: UTF8.self)
                == #"{"device":"dev-8","state":"failed","reason":"BadDeviceToken","apnsId":"id-8","atMilliseconds":5}"#
        )
        #expect(reply.json?["next"]?.int64 == 12)
        let (_, rest, _) = try bench.ask(
            "GET", "/v1/messages/\(code)/deliveries?after=12", "", PageTests.bearer)
        #expect(rest.kind == .deliveries(message: 1, after: 12, limit: Page.limitDefault))
        let last = try bench.answer(rest, .deliveries(lines: [lines[0]]), from: .tokenRegistry).first
        #expect(last?.json?["next"]?.isNull == true)
    }

    @Test func `an activity is shown with each device's state`() throws {
        let bench = try Bench()
        try bench.start()
        let path = "/v1/applications/AAAAA-00001/activities/ord-12"
        let (call, query, service) = try bench.ask("GET", path, "", PageTests.bearer)
        #expect(service == .service(.tokenRegistry))
        #expect(query.kind == .participants(run: 1, after: 0, limit: Page.limitDefault))
        var line = ParticipantLine(number: 4, device: "dev-1", state: "active")
        line.tokenStart = "a1a1a1a1"
        line.lastOutcome = "failed"
        line.lastReason = "BadTopic"
        let reply = try #require(
            try bench.answer(query, .participants(lines: [line]), from: .tokenRegistry).first)
        #expect(reply.id == call)
        #expect(
            reply.text
                == #"{"application":"AAAAA-00001","activity":"ord-12","state":"running","beganBy":"start","beganAtMilliseconds":1700000000000,"newest":null,"participants":[{"device":"dev-1","state":"active","tokenStart":"a1a1a1a1","lastSentAtMilliseconds":null,"lastOutcome":"failed","lastReason":"BadTopic"}],"next":null}"#
        )
        try bench.end()
        let (_, ended, _) = try bench.ask("GET", path, "", PageTests.bearer)
        let after = try bench.answer(ended, .participants(lines: []), from: .tokenRegistry).first
        #expect(after?.json?["state"]?.string == "ended")
    }

    @Test func `an activity shows its newest state as the bytes that came in`() throws {
        let bench = try Bench()
        let code = try #require(try bench.start().codes.first)
        let path = "/v1/applications/AAAAA-00001/activities/ord-12"
        let (_, query, _) = try bench.ask("GET", path, "", PageTests.bearer)
        let newest = NewestState(
            message: 1, event: .start, orderSeconds: 1_700_000_000,
            contentState: #"{"a": 1.0,"b":9007199254740993}"#)
        let reply = try bench.answer(query, .participants(lines: [], newest: newest), from: .tokenRegistry)
            .first
        #expect(
            String(decoding: reply?.json?["newest"]?.bytes ?? [], as: UTF8.self)
                == #"{"code":"\#(code)","event":"start","orderSeconds":1700000000,"contentState":{"a": 1.0,"b":9007199254740993}}"#
        )
    }

    @Test func `an activity without an id is found by its token, which is not shown`() throws {
        let bench = try Bench()
        try bench.fcm(Bench.fcmUpdate)
        let (_, query, _) = try bench.ask(
            "GET", "/v1/applications/AAAAA-00001/activities/\(Bench.tokA.uppercased())", "", PageTests.bearer)
        let reply = try bench.answer(query, .participants(lines: []), from: .tokenRegistry).first
        #expect(reply?.json?["beganBy"]?.string == "token")
        #expect(reply?.text.contains(Bench.tokA) == false)
    }

    @Test func `a registry that does not answer is told after two seconds`() throws {
        let bench = try Bench()
        try bench.start()
        let (call, _, _) = try bench.ask(
            "GET", "/v1/applications/AAAAA-00001/activities/ord-12", "", PageTests.bearer)
        bench.advance(seconds: 2)
        let replies = try bench.step(.turn(.boundless())).replies
        #expect(replies.map(\.id) == [call])
        #expect(replies.map(\.status) == [503])
        #expect(replies.first?.json?["error"]?.string == "the service that knows has not answered in time")
    }

    @Test(arguments: [
        ("AAAAA-00001/activities/ord-12?limit=0", "k-test", 400),
        ("AAAAA-00001/activities/ord-12?limit=1001", "k-test", 400),
        ("AAAAA-00001/activities/ord-12?after=-1", "k-test", 400),
        ("AAAAA-00001/activities/ord-12?page=1", "k-test", 400),
        ("AAAAA-00001/activities/none", "k-test", 404), ("AAAAA-00001/activities", "k-test", 404),
        ("AAAAA-00001/activities/ord-12", "k-other", 404),
        ("BBBBB-00002/activities/ord-12", "k-other", 404), ("AAAAA-00001/activities/ord-12", "none", 401),
    ])
    func `a wrong question is refused`(_ path: String, _ token: String, _ status: Int) throws {
        let bench = try Bench()
        let code = try #require(try bench.start().codes.first)
        let headers = [("Authorization", "Bearer \(token)")]
        #expect(try bench.call("GET", "/v1/applications/\(path)", "", headers).status == status)
        guard let query = path.split(separator: "?").dropFirst().first else { return }
        #expect(try bench.call("GET", "/v1/messages/\(code)/deliveries?\(query)", "", headers).status == 400)
        #expect(try bench.call("GET", "/v1/messages/\(code)/else", "", headers).status == 404)
    }
}
