import Contracts
import Crypto
import JSON
import Service
import Store
import Testing

@testable import ingest

/// An ingest without sockets: calls go in, replies and messages come out, and the clock stands until it is moved.
final class Bench {
    static let nowSeconds: Int64 = 1_700_000_000
    static let tokA = String(repeating: "a1", count: 80)
    static let tokB = String(repeating: "b2", count: 80)
    static let startA = String(repeating: "5a", count: 80)

    var core: Ingest
    let journal: Journal
    var now = Moment(monotonic: 1_000, wall: Bench.nowSeconds * 1_000)
    let configuration: Configuration
    let limits: IngestLimits
    /// Everything the core asked for beside replies and messages.
    var counts: [Count] = []
    var logs: [LogLine] = []
    var waiting: [Backlog.Held] = []
    var imported: [(id: Int64, outcome: ImportOutcome)] = []
    /// The requests that wait for another service.
    var suspended: [Int64] = []
    private var nextCall: Int64 = 1

    init(
        _ configuration: Configuration = Bench.configuration(), limits: IngestLimits = IngestLimits(),
        at location: Database.Location = .memory
    ) throws {
        self.configuration = configuration
        self.limits = limits
        journal = try Journal(location, freshSecret: [UInt8](0..<32))
        core = Ingest(configuration, limits: limits)
        _ = try step(.started)
    }

    /// One application `AAAAA-00001` with the token `k-test` and the project `demo`, and another beside it.
    static func configuration(_ change: (inout Configuration.Application) -> Void = { _ in }) -> Configuration
    {
        var first = Configuration.Application(code: "AAAAA-00001", bundleID: "com.example.orders")
        first.firebaseProject = "demo"
        first.apiTokenDigests = [SHA256.hex("k-test")]
        first.keys = [.init(teamID: "TEAM123456", keyID: "KEY1234567", file: "AuthKey_KEY1234567.p8")]
        change(&first)
        var second = Configuration.Application(code: "BBBBB-00002", bundleID: "com.example.other")
        second.firebaseProject = "other"
        second.apiTokenDigests = [SHA256.hex("k-other")]
        second.keys = first.keys
        var configuration = Configuration()
        configuration.applications = [first, second]
        return configuration
    }

    /// One input in a transaction of its own, as the runner would do it.
    @discardableResult
    func step(_ input: Input<IngestEvent>) throws -> (replies: [HTTPReply], messages: [(Message, Route)]) {
        var store = journal
        try journal.begin()
        let effects = try core.step(input, at: now, in: &store)
        try journal.commit()
        var replies: [HTTPReply] = []
        var messages: [(Message, Route)] = []
        for effect in effects {
            switch effect {
            case .perform(.reply(let reply)): replies.append(reply)
            case .perform(.waiting(let held)): waiting.append(held)
            case .perform(.imported(let id, let outcome)): imported.append((id, outcome))
            case .perform(.suspended(let id, _)): suspended.append(id)
            case .send(let message, let route): messages.append((message, route))
            case .count(let count): counts.append(count)
            case .log(let line): logs.append(line)
            }
        }
        return (replies, messages)
    }

    /// A request and its reply.
    @discardableResult
    func call(
        _ method: String, _ path: String, _ body: String = "", _ headers: [(String, String)] = []
    ) throws -> HTTPReply {
        let call = request(method, path, body, headers)
        let replies = try step(.external(.request(call))).replies
        let reply = try #require(replies.first)
        #expect(replies.count == 1)
        #expect(reply.id == call.id)
        return reply
    }

    /// A request that has to wait, and what another service is asked for it.
    func ask(_ method: String, _ path: String, _ body: String = "", _ headers: [(String, String)] = [])
        throws -> (call: Int64, query: Query, service: Route)
    {
        let call = request(method, path, body, headers)
        let (replies, messages) = try step(.external(.request(call)))
        #expect(replies.isEmpty)
        #expect(messages.count == 1)
        #expect(suspended.last == call.id)
        guard case (.query(let query), let route)? = messages.first else {
            throw Unasked(text: replies.first?.text ?? "")
        }
        return (call.id, query, route)
    }

    struct Unasked: Error { var text: String }

    /// The replies that another service's answer leads to.
    func answer(_ query: Query, _ content: Answer.Content, from service: ServiceName = .segmenter) throws
        -> [HTTPReply]
    {
        let sender = Sender(InstanceName(service), epoch: 1)
        return try step(.message(.answer(Answer(id: query.id, content: content)), from: sender)).replies
    }

    func request(
        _ method: String, _ path: String, _ body: String, _ headers: [(String, String)]
    ) -> HTTPCall {
        nextCall += 1
        let parts = path.split(separator: "?", maxSplits: 1)
        let query = parts.dropFirst().flatMap { $0.split(separator: "&") }.map { item in
            let pair = item.split(separator: "=", maxSplits: 1).map(String.init)
            return HTTPCall.Field(name: pair[0], value: pair.count > 1 ? pair[1] : "")
        }
        return HTTPCall(
            id: nextCall, method: method, path: parts[0].split(separator: "/").map(String.init), query: query,
            headers: headers.map { HTTPCall.Field(name: $0.0, value: $0.1) }, body: Array(body.utf8))
    }

    /// What a turn with any room sends.
    func turn(_ room: Room = .boundless()) throws -> [Message] {
        try step(.turn(room)).messages.map(\.0)
    }

    /// What another service says, and what it is answered.
    @discardableResult
    func hear(_ message: Message, from service: ServiceName = .tokenRegistry) throws -> [Message] {
        try step(.message(message, from: Sender(InstanceName(service), epoch: 1))).messages.map(\.0)
    }

    /// What turns send while everything sent is taken at once, in order.
    func drain() throws -> [Message] {
        var all: [Message] = []
        while true {
            let sent = try step(.turn(.boundless())).messages
            guard !sent.isEmpty else { return all }
            all += sent.map(\.0)
            for (message, route) in sent {
                guard case .service(let service) = route else { continue }
                try take(message, by: service)
            }
        }
    }

    private func take(_ message: Message, by service: ServiceName) throws {
        switch message {
        case .command(let command): try hear(.taken(.command(message: command.sequence)))
        case .registration(let registration):
            try hear(.taken(.registration(sequence: registration.sequence, by: service)), from: service)
        case .registrations(let group):
            try hear(.taken(.registration(sequence: group.sequence, by: service)), from: service)
        default: Issue.record("sent a \(message.type.rawValue)")
        }
    }

    /// A process that died and came again.
    func restart() throws {
        core = Ingest(configuration, limits: limits)
        try step(.started)
    }

    func advance(seconds: Int64) { now = now.advanced(byMilliseconds: seconds * 1_000) }
}

// MARK: - The bodies of the doors

extension Bench {
    static let start = """
        {"content":"Cooking","title":"Order 12","live_activity":{"event":"start","content-state":{"step":1},\
        "attributes-type":"OrderAttributes","attributes":{}},"live_activity_id":"ord-12","devices":["dev-1"]}
        """
    static let update = """
        {"live_activity":{"event":"update","content-state":{"step":2}},"live_activity_id":"ord-12"}
        """
    static let end = update.replacing("update", with: "end")

    /// A call of the Pushwoosh door with these notifications.
    @discardableResult
    func notify(_ method: String, _ notifications: String..., auth: String = "k-test") throws -> HTTPReply {
        try call(
            "POST", "/json/1.3/\(method)",
            """
            {"request":{"application":"AAAAA-00001","auth":"\(auth)","notifications":[\
            \(notifications.joined(separator: ","))]}}
            """)
    }

    @discardableResult
    func start(_ notification: String = Bench.start) throws -> HTTPReply {
        try notify("startLiveActivity", notification)
    }

    @discardableResult
    func update(_ notification: String = Bench.update) throws -> HTTPReply {
        try notify("updateLiveActivity", notification)
    }

    @discardableResult
    func end() throws -> HTTPReply { try update(Bench.end) }

    /// A call of a phone.
    @discardableResult
    func phone(_ method: String, _ members: String, device: String = "dev-1") throws -> HTTPReply {
        try call(
            "POST", "/json/1.3/\(method)",
            #"{"request":{"application":"AAAAA-00001","hwid":"\#(device)","v":"7.1.3"\#(members.isEmpty ? "" : ",")\#(members)}}"#
        )
    }

    @discardableResult
    func activityToken(_ token: String, _ activity: String = "ord-12", device: String = "dev-1") throws
        -> HTTPReply
    {
        try phone(
            "setActivityToken", #""activity_token":"\#(token)","activity_id":"\#(activity)""#, device: device)
    }

    static let fcmUpdate = """
        {"message":{"token":"reg-1","apns":{"live_activity_token":"\(tokA)","headers":{"apns-priority":"10"},\
        "payload":{"aps":{"timestamp":\(nowSeconds),"event":"update","content-state":{"step":2}}}}}}
        """
    static let fcmEnd = fcmUpdate.replacing("update", with: "end")
    static let fcmStart = """
        {"message":{"token":"reg-1","apns":{"live_activity_token":"\(startA)","headers":{"apns-priority":"10"},\
        "payload":{"aps":{"timestamp":\(nowSeconds),"event":"start","content-state":{"step":1},\
        "attributes-type":"OrderAttributes","attributes":{},"alert":{"title":"t","body":"b"}}}}}}
        """

    /// A call of the Firebase door.
    @discardableResult
    func fcm(_ body: String, token: String = "k-test", project: String = "demo") throws -> HTTPReply {
        try call(
            "POST", "/v1/projects/\(project)/messages:send", body, [("Authorization", "Bearer \(token)")])
    }
}

// MARK: - Reading replies

extension HTTPReply {
    var json: JSONValue? { (try? JSONDocument(body))?.root }
    var text: String { String(decoding: body, as: UTF8.self) }
    /// `status_code` of the Pushwoosh door.
    var code: Int64? { json?["status_code"]?.int64 }
    var statusMessage: String { json?["status_message"]?.string ?? "" }
    /// The codes of accepted notifications.
    var codes: [String] { json?["response"]?["Messages"]?.elements?.compactMap(\.string) ?? [] }
    /// `field: description` of each violation at the Firebase door.
    var violations: [String] {
        json?["error"]?["details"]?.elements?.first?["fieldViolations"]?.elements?.map {
            "\($0["field"]?.string ?? "?"): \($0["description"]?.string ?? "?")"
        } ?? []
    }
    var errorStatus: String? { json?["error"]?["status"]?.string }
    var errorCode: String? { json?["error"]?["details"]?.elements?.first?["errorCode"]?.string }
    func header(_ name: String) -> String? { headers.first { $0.name == name }?.value }
}

extension [Message] {
    var commands: [Command] {
        compactMap { if case .command(let command) = $0 { command } else { nil } }
    }
    var registrations: [Registration] {
        compactMap { if case .registration(let registration) = $0 { registration } else { nil } }
    }
    var groups: [RegistrationGroup] {
        compactMap { if case .registrations(let group) = $0 { group } else { nil } }
    }
}
