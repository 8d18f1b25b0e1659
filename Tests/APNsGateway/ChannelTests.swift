import Contracts
import HTTP2
import JSON
import Service
import Testing

@testable import apns_gateway

/// Broadcasts, and questions about channels.
@Suite struct ChannelTests {
    var bench = Bench()
    static let ingest = Sender(InstanceName(.ingest), epoch: 3)
    static let id = "dHN0LXNyY2gtY2hubA=="

    private func broadcast(isStored: Bool, device: Int64 = 1) -> Push {
        var push = bench.push(device, priority: 5)
        push.token = ""
        push.channel = Channel(id: Self.id, environment: .production, isStored: isStored)
        return push
    }

    private mutating func headers(_ push: Push) throws -> HTTP2Headers {
        let request = try #require(bench.send(push).requests.first)
        var template = HeaderTemplate(request.group, authority: "api.push.apple.com", providerToken: "a.b.c")
        return template.headers(of: request)
    }

    @Test mutating func `a broadcast has these fields and no topic`() throws {
        let fields = try headers(broadcast(isStored: true)).pairs
        #expect(
            fields.map { "\($0.name): \($0.value)" } == [
                ":method: POST", ":scheme: https", ":authority: api.push.apple.com",
                "authorization: bearer a.b.c", ":path: /4/broadcasts/apps/com.example.orders",
                "apns-push-type: liveactivity", "apns-priority: 5",
                "apns-expiration: \(bench.now.wallSeconds + 3_600)", "apns-channel-id: \(Self.id)",
                "apns-request-id: 0b0e6d2c-6c1e-4ad9-9d7a-000000000001",
            ])
    }

    @Test
    mutating func `a channel that stores nothing gets an expiration of 0, and its push still has its time`()
        throws
    {
        #expect(try headers(broadcast(isStored: false))["apns-expiration"] == "0")
        let both = bench.send([broadcast(isStored: true, device: 2), broadcast(isStored: false, device: 3)])
            .requests
        #expect(both.map(\.group.expirationSeconds) == [bench.now.wallSeconds + 3_600, 0])
        bench.advance(seconds: 5)
        #expect(bench.answer(1, 500, "InternalServerError").reports.map(\.result) == [.retry])
    }

    @Test mutating func `pushes to phones and channels of one message share no request's form`() {
        let requests = bench.send([bench.push(1, priority: 5), broadcast(isStored: true, device: 2)]).requests
        #expect(requests.map(\.group.form) == [.device, .broadcast(bundleID: "com.example.orders")])
        #expect(requests.map(\.token) == [String(repeating: "a1", count: 80), Self.id])
        #expect(requests[0].body == requests[1].body)
    }

    @Test(arguments: ["", "a b=", "x\r\ny", "aGVsbG8", String(repeating: "A", count: 260)])
    mutating func `what cannot be a channel's id is reported, not sent`(id: String) {
        var push = broadcast(isStored: true)
        push.channel?.id = id
        let effects = bench.send(push)
        #expect(effects.requests.isEmpty)
        #expect(effects.reports.map(\.reason) == ["not-valid"])
    }

    @Test mutating func `a broadcast that comes again is not sent again`() {
        _ = bench.send(broadcast(isStored: true))
        #expect(bench.answer(1, 200).reports.map(\.result) == [.delivered])
        #expect(bench.send(broadcast(isStored: true)).requests.isEmpty)
    }

    // MARK: Questions

    private mutating func ask(_ question: ChannelQuestion, application: String = Bench.application)
        -> [Effect<APNsOrder>]
    {
        let query = Query(id: 7, application: application, kind: .channel(question: question))
        return bench.step(.message(.query(query), from: Self.ingest))
    }

    private func answers(_ effects: [Effect<APNsOrder>]) -> [ChannelAnswer] {
        effects.compactMap {
            guard case .send(.answer(let answer), .instance(Self.ingest.instance)) = $0, answer.id == 7,
                case .channel(let said) = answer.content
            else { return nil }
            return said
        }
    }

    private mutating func end(_ request: APNsRequest, _ answer: APNsAnswer) -> [ChannelAnswer] {
        answers(bench.step(.external(.answered(request.id, answer, sentAtMilliseconds: bench.now.monotonic))))
    }

    static let questions: [(ChannelQuestion, String, String, [UInt8])] = [
        (
            .create(environment: .sandbox, isStored: true), "POST", "/1/apps/com.example.orders/channels",
            Array(#"{"message-storage-policy":1,"push-type":"LiveActivity"}"#.utf8)
        ),
        (.read(environment: .sandbox, id: id), "GET", "/1/apps/com.example.orders/channels", []),
        (.delete(environment: .sandbox, id: id), "DELETE", "/1/apps/com.example.orders/channels", []),
        (.list(environment: .sandbox), "GET", "/1/apps/com.example.orders/all-channels", []),
    ]

    @Test(arguments: questions)
    mutating func `each question is one request on the channels' host`(
        _ question: ChannelQuestion, method: String, path: String, body: [UInt8]
    ) throws {
        let request = try #require(ask(question).requests.first)
        #expect(request.group.lane.host == .channels)
        #expect(request.group.lane.environment == .sandbox)
        #expect(request.body == body)
        var template = HeaderTemplate(request.group, authority: "host:2195", providerToken: "a.b.c")
        let headers = template.headers(of: request)
        #expect(headers[":method"] == method && headers[":path"] == path)
        #expect(headers["authorization"] == "bearer a.b.c")
        #expect(headers["apns-topic"] == nil && headers["apns-push-type"] == nil)
        let isOfOne = method == "DELETE" || (method == "GET" && path.hasSuffix("/channels"))
        #expect(headers["apns-channel-id"] == (isOfOne && !path.contains("all-") ? Self.id : nil))
    }

    @Test mutating func `answers are read as Apple documents them`() throws {
        let create = try #require(ask(.create(environment: .production, isStored: false)).requests.first)
        #expect(
            end(create, APNsAnswer(status: 201, channelID: Self.id)) == [
                .created(
                    application: Bench.application,
                    channel: Channel(id: Self.id, environment: .production, isStored: false))
            ])
        let read = try #require(ask(.read(environment: .production, id: Self.id)).requests.first)
        let policy = Array(#"{"message-storage-policy":1,"push-type":"LiveActivity"}"#.utf8)
        #expect(
            end(read, APNsAnswer(status: 200, content: policy)) == [
                .read(channel: Channel(id: Self.id, environment: .production, isStored: true))
            ])
        let delete = try #require(ask(.delete(environment: .production, id: Self.id)).requests.first)
        #expect(end(delete, APNsAnswer(status: 204)) == [.deleted(id: Self.id)])
        let list = try #require(ask(.list(environment: .production)).requests.first)
        let ids = Array(#"{"channels":["\#(Self.id)","no id",7]}"#.utf8)
        #expect(end(list, APNsAnswer(status: 200, content: ids)) == [.listed(ids: [Self.id])])
    }

    @Test mutating func `a refusal and silence are told, once`() throws {
        let first = try #require(ask(.create(environment: .production, isStored: true)).requests.first)
        #expect(
            end(first, APNsAnswer(status: 400, reason: "FeatureNotEnabled")) == [
                .refused(status: 400, reason: "FeatureNotEnabled")
            ])
        #expect(end(first, APNsAnswer(status: 201, channelID: Self.id)).isEmpty)
        let second = try #require(ask(.create(environment: .production, isStored: true)).requests.first)
        let silent = bench.step(.external(.unanswered(second.id, sentAtMilliseconds: 0)))
        #expect(answers(silent) == [.unanswered(reason: "no-answer")])
        #expect(ask(.list(environment: .production), application: "ELSE").requests.isEmpty)
        #expect(
            answers(ask(.list(environment: .production), application: "ELSE")) == [
                .unanswered(reason: "no-application")
            ])
        _ = ask(.list(environment: .production))
        bench.advance(seconds: 20)
        #expect(answers(bench.turn()) == [.unanswered(reason: "not-sent")])
    }

    @Test mutating func `an application without a key is told so`() {
        bench = Bench(Bench.configuration(keys: []))
        #expect(answers(ask(.list(environment: .production))) == [.unanswered(reason: "no-key")])
    }

    @Test mutating func `a pause does not hold back questions`() throws {
        bench.hello(paused: [Pause(application: Bench.application, environment: .production)])
        #expect(try #require(ask(.list(environment: .production)).requests.first).trial)
    }
}
