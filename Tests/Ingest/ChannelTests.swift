import Contracts
import JSON
import Service
import Testing

@testable import ingest

/// Broadcast channels at the doors.
@Suite struct ChannelTests {
    static let id = "dHN0LXNyY2gtY2hubA=="
    static let other = "b3RoZXI="
    static let path = "/v1/applications/AAAAA-00001/channels"
    static let bearer = [("Authorization", "Bearer k-test")]
    static let channel = Channel(id: id, environment: .production, isStored: true)

    private func create(_ bench: Bench, _ body: String = "", _ headers: [(String, String)] = []) throws -> (
        call: Int64, query: Query, service: Route
    ) {
        try bench.ask("POST", Self.path, body, Self.bearer + headers)
    }

    private func say(_ bench: Bench, _ query: Query, _ answer: ChannelAnswer) throws -> HTTPReply {
        try #require(try bench.answer(query, .channel(answer: answer), from: .apnsGateway).first)
    }

    /// A channel that was made through the door.
    private func make(_ bench: Bench, _ channel: Channel = channel) throws {
        let (_, query, _) = try create(bench)
        _ = try say(bench, query, .created(application: "AAAAA-00001", channel: channel))
    }

    // MARK: Making and removing

    @Test(arguments: [
        ("", ChannelQuestion.create(environment: .production, isStored: true)),
        (#"{"environment":"sandbox","storagePolicy":0}"#, .create(environment: .sandbox, isStored: false)),
        (#"{"storagePolicy":1}"#, .create(environment: .production, isStored: true)),
    ])
    func `a channel is made by a gateway`(body: String, question: ChannelQuestion) throws {
        let bench = try Bench()
        let (call, query, service) = try create(bench, body)
        #expect(service == .service(.apnsGateway))
        #expect(query.kind == .channel(question: question))
        let reply = try say(bench, query, .created(application: "AAAAA-00001", channel: Self.channel))
        #expect(reply.id == call)
        #expect(reply.status == 201)
        #expect(
            reply.text
                == #"{"channel":"\#(Self.id)","application":"AAAAA-00001","environment":"production","storagePolicy":1,"activity":null}"#
        )
        #expect(try bench.journal.channel(Self.id, application: "AAAAA-00001") == Self.channel)
    }

    @Test(arguments: [
        (#"{"environment":"moon"}"#, "environment"), (#"{"storagePolicy":2}"#, "storagePolicy"),
        (#"{"storage":1}"#, "storage"), ("[]", "object"),
    ])
    func `a wrong body is refused by name`(body: String, named: String) throws {
        let reply = try Bench().call("POST", Self.path, body, Self.bearer)
        #expect(reply.status == 400)
        #expect(reply.text.contains(named))
    }

    @Test func `nobody calls for another application, and other methods are refused`() throws {
        let bench = try Bench()
        #expect(try bench.call("GET", Self.path).status == 401)
        #expect(try bench.call("GET", Self.path, "", [("Authorization", "Bearer k-other")]).status == 404)
        #expect(try bench.call("PUT", Self.path, "", Self.bearer).status == 405)
        #expect(try bench.call("POST", "\(Self.path)/\(Self.id)", "", Self.bearer).status == 405)
        #expect(try bench.call("GET", "\(Self.path)/no!id", "", Self.bearer).status == 404)
        #expect(try bench.call("GET", "\(Self.path)?env=x", "", Self.bearer).status == 400)
    }

    @Test func `the list says how each was made and what it is bound to`() throws {
        let bench = try Bench()
        try make(bench)
        try start(bench, Self.id)
        let (_, query, _) = try bench.ask("GET", Self.path, "", Self.bearer)
        #expect(query.kind == .channel(question: .list(environment: .production)))
        let reply = try say(bench, query, .listed(ids: [Self.id, Self.other]))
        let channels = try #require(reply.json?["channels"]?.elements.map { Array($0) })
        #expect(channels.map { $0["channel"]?.string } == [Self.other, Self.id])
        #expect(channels.map { $0["storagePolicy"]?.int64 } == [nil, 1])
        #expect(channels.map { $0["activity"]?.string } == [nil, "ord-12"])
    }

    @Test func `of many channels only those that are asked about are looked up`() throws {
        let bench = try Bench()
        try make(bench)
        try start(bench, Self.id)
        let application = "AAAAA-00001"
        // Each is an activity of its own, as it is after an update that names a channel.
        for number in 1...500 as ClosedRange<Int64> {
            try bench.journal.insert(
                Run(
                    number: 1 << 40 + number,
                    activity: ActivityName(application: application, space: .channel, name: "c\(number)"),
                    beganAtMilliseconds: bench.now.wall, isStart: false,
                    channel: Channel(id: "c\(number)", environment: .production, isStored: false)))
        }
        let known = try bench.core.knownChannels(
            .listed(ids: [Self.id, "c7"]), application: application, at: bench.now, in: bench.journal)
        #expect(known.keys.sorted() == ["c7", Self.id].sorted())
        #expect(known[Self.id]?.activity == "ord-12")
        #expect(known["c7"]?.activity == nil)
        #expect(
            try bench.core.knownChannels(
                .deleted(id: Self.id), application: application, at: bench.now, in: bench.journal
            ).isEmpty)
    }

    @Test func `a channel is read and removed where it was made`() throws {
        let bench = try Bench()
        try make(bench, Channel(id: Self.id, environment: .sandbox, isStored: false))
        let (_, read, _) = try bench.ask("GET", "\(Self.path)/\(Self.id)", "", Self.bearer)
        #expect(read.kind == .channel(question: .read(environment: .sandbox, id: Self.id)))
        let (_, query, _) = try bench.ask("DELETE", "\(Self.path)/\(Self.id)", "", Self.bearer)
        #expect(query.kind == .channel(question: .delete(environment: .sandbox, id: Self.id)))
        #expect(try say(bench, query, .deleted(id: Self.id)).status == 200)
        #expect(try bench.journal.channel(Self.id, application: "AAAAA-00001") == nil)
    }

    @Test func `a channel of a running activity is not removed`() throws {
        let bench = try Bench()
        try make(bench)
        try start(bench, Self.id)
        let reply = try bench.call("DELETE", "\(Self.path)/\(Self.id)", "", Self.bearer)
        #expect(reply.status == 409)
        #expect(reply.text.contains("ord-12"))
        try bench.end()
        _ = try bench.ask("DELETE", "\(Self.path)/\(Self.id)", "", Self.bearer)
    }

    static let refusals: [(ChannelAnswer, Int)] = [
        (.refused(status: 400, reason: "ChannelNotRegistered"), 404),
        (.refused(status: 400, reason: "CannotCreateChannelConfig"), 409),
        (.refused(status: 400, reason: "FeatureNotEnabled"), 409),
        (.refused(status: 403, reason: "TopicMismatch"), 502),
        (.refused(status: 429, reason: "TooManyRequests"), 503),
        (.refused(status: 503, reason: nil), 503), (.unanswered(reason: "no-key"), 400),
        (.unanswered(reason: "not-sent"), 503), (.unanswered(reason: "no-answer"), 504),
    ]

    @Test(arguments: refusals)
    func `APNs' reason becomes a clear error`(answer: ChannelAnswer, status: Int) throws {
        let bench = try Bench()
        let (_, query, _) = try create(bench)
        let reply = try say(bench, query, answer)
        #expect(reply.status == status)
        #expect(reply.json?["error"]?.string?.isEmpty == false)
        if case .refused(_, let reason?) = answer { #expect(reply.json?["reason"]?.string == reason) }
        #expect((reply.header("Retry-After") != nil) == (status == 503))
    }

    @Test func `who has waited 10 s hears that a channel may have been made, and it is noted when it comes`()
        throws
    {
        let bench = try Bench()
        let (call, query, _) = try create(bench)
        bench.advance(seconds: 9)
        #expect(try bench.step(.turn(.boundless())).replies.isEmpty)
        bench.advance(seconds: 1)
        let replies = try bench.step(.turn(.boundless())).replies
        #expect(replies.map(\.id) == [call])
        #expect(replies.map(\.status) == [504])
        #expect(replies.first?.text.contains("may have been made") == true)
        let late = Answer.Content.channel(
            answer: .created(application: "AAAAA-00001", channel: Self.channel))
        #expect(try bench.answer(query, late, from: .apnsGateway).isEmpty)
        #expect(try bench.journal.channel(Self.id, application: "AAAAA-00001") == Self.channel)
    }

    @Test func `a repeated call with an Idempotency-Key makes no second channel`() throws {
        let bench = try Bench()
        let key = [("Idempotency-Key", "k-1")]
        let (_, query, _) = try create(bench, "", key)
        #expect(try bench.call("POST", Self.path, "", Self.bearer + key).status == 503)
        let first = try say(bench, query, .created(application: "AAAAA-00001", channel: Self.channel))
        let again = try bench.call("POST", Self.path, "", Self.bearer + key)
        #expect(again.status == 201 && again.body == first.body)
        let (_, failing, _) = try create(bench, "", [("Idempotency-Key", "k-2")])
        _ = try say(bench, failing, .refused(status: 503, reason: nil))
        _ = try create(bench, "", [("Idempotency-Key", "k-2")])
    }

    // MARK: Activities

    static func bound(_ channel: String, to activity: String = "ord-12") -> String {
        Bench.start.replacing(#""devices":["dev-1"]"#, with: #""devices":["dev-1"],"channel":"\#(channel)""#)
            .replacing("ord-12", with: activity)
    }

    @discardableResult
    private func start(_ bench: Bench, _ channel: String, to activity: String = "ord-12") throws -> HTTPReply
    {
        try bench.start(Self.bound(channel, to: activity))
    }

    @Test func `a start binds its activity, and every command of it says so`() throws {
        let bench = try Bench()
        try make(bench)
        #expect(try start(bench, Self.id).statusMessage == "OK")
        try bench.update()
        try bench.end()
        let commands = try bench.drain().commands
        #expect(commands.map(\.channel) == [Self.channel, Self.channel, Self.channel])
        #expect(commands[0].notification?.inputPushChannel == Self.id)
        #expect(commands[0].notification?.inputPushToken == nil)
    }

    @Test func `Apple's own member binds it too`() throws {
        let bench = try Bench()
        let start = Bench.start.replacing(
            #""attributes":{}"#, with: #""attributes":{},"input-push-channel":"\#(Self.id)""#)
        #expect(try bench.start(start).statusMessage == "OK")
        let command = try #require(try bench.drain().commands.first)
        #expect(command.channel == Channel(id: Self.id, environment: .production, isStored: false))
        let both = start.replacing("ord-12", with: "ord-13").replacing(
            #""devices":["#, with: #""channel":"\#(Self.other)","devices":["#)
        #expect(try bench.start(both).statusMessage.contains("input-push-channel: is another channel"))
    }

    @Test func `one channel is bound to one running activity`() throws {
        let bench = try Bench()
        try start(bench, Self.id)
        #expect(
            try start(bench, Self.id, to: "ord-13").statusMessage
                == "notifications[0].channel: the channel is bound to another running activity")
        try bench.end()
        #expect(try start(bench, Self.id, to: "ord-13").statusMessage == "OK")
    }

    @Test(arguments: [#""no base64""#, "7", #""YWI""#])
    func `what is no channel's id is refused`(value: String) throws {
        let bench = try Bench()
        let start = Self.bound("x").replacing(#""channel":"x""#, with: #""channel":\#(value)"#)
        #expect(try bench.start(start).statusMessage.contains("notifications[0].channel"))
        #expect(try bench.drain().isEmpty)
    }

    static let byChannel = Bench.update.replacing(
        #""live_activity_id":"ord-12""#, with: #""channel":"\#(id)""#)

    @Test func `an update of a channel goes to the activity that it is bound to`() throws {
        let bench = try Bench()
        try start(bench, Self.id)
        let reply = try bench.update(Self.byChannel)
        let commands = try bench.drain().commands
        #expect(commands.map(\.run) == [1, 1])
        #expect(commands[1].audience == .activity)
        let code = try #require(reply.codes.first)
        let status = try bench.call("GET", "/v1/messages/\(code)", "", Self.bearer)
        #expect(status.json?["channel"]?.string == Self.id)
    }

    @Test func `without an activity the channel is one of its own`() throws {
        let bench = try Bench()
        try make(bench)
        try bench.update(Self.byChannel)
        try bench.update(Self.byChannel)
        try bench.update(Self.byChannel.replacing("update", with: "end"))
        try bench.update(Self.byChannel)
        let commands = try bench.drain().commands
        #expect(commands.map(\.run) == [1, 1, 1, 4])
        #expect(commands.allSatisfy { $0.channel == Self.channel })
        #expect(try start(bench, Self.id).statusMessage == "OK")
        try bench.update(Self.byChannel)
        #expect(try bench.drain().commands.map(\.run) == [5, 5])
    }

    @Test func `an update names one of activity, channel and tokens`() throws {
        let bench = try Bench()
        let both = Self.byChannel.replacing(
            #""channel""#, with: #""live_activity_id":"ord-12","channel""#)
        #expect(try bench.update(both).statusMessage.contains("only one of channel and live_activity_id"))
    }

    @Test func `a broadcast may have 5,120 bytes where nobody gets it by token`() throws {
        let bench = try Bench()
        func update(_ bytes: Int) -> String {
            let rest = PayloadSize.of(
                Notification(event: .update, expirationSeconds: 0),
                Payload(contentState: Array(#"{"t":""}"#.utf8)))
            let text = String(repeating: "x", count: bytes - rest)
            return Self.byChannel.replacing(#"{"step":2}"#, with: #"{"t":"\#(text)"}"#)
        }
        #expect(try bench.update(update(5_120)).statusMessage == "OK")
        #expect(try bench.update(update(5_121)).statusMessage.contains("more than 5120"))
        try start(bench, Self.id)
        #expect(try bench.update(update(4_096)).statusMessage == "OK")
        #expect(try bench.update(update(4_097)).statusMessage.contains("more than 4096"))
    }

    @Test func `at the Firebase door a channel goes out as the caller gave it`() throws {
        let bench = try Bench()
        try bench.fcm(
            Bench.fcmStart.replacing(
                #""attributes":{}"#, with: #""attributes":{},"input-push-channel":"\#(Self.id)""#))
        let command = try #require(try bench.drain().commands.first)
        #expect(command.notification?.inputPushChannel == Self.id)
        #expect(command.channel == nil)
    }

    @Test func `the binding outlives a restart`() throws {
        let bench = try Bench()
        try start(bench, Self.id)
        try bench.restart()
        try bench.update()
        #expect(try bench.drain().commands.map(\.channel?.id) == [Self.id, Self.id])
    }

    @Test func `an activity's page names the channel and who listens`() throws {
        let bench = try Bench()
        try start(bench, Self.id)
        let (_, query, _) = try bench.ask(
            "GET", "/v1/applications/AAAAA-00001/activities/ord-12", "", Self.bearer)
        var line = ParticipantLine(number: 1, device: "dev-1", state: "active")
        line.isOnChannel = true
        let reply = try #require(
            try bench.answer(query, .participants(lines: [line]), from: .tokenRegistry).first)
        #expect(reply.json?["boundTo"]?.string == Self.id)
        #expect(reply.json?["participants"]?.elements?.first?["onChannel"]?.bool == true)
    }
}
