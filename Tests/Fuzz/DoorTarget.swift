import Contracts
import Crypto
import Foundation
import JSON
import Service
import Store
import Web

@testable import apns_gateway
@testable import ingest

/// The doors, from the body of a request to what APNs would get.
///
/// An input is up to four requests with the byte 0x1E between them, each a line with method and target, header lines, an
/// empty line and the body. Whatever they say: each is answered once, or waits for one other service; no answer is a 5xx
/// or anything but JSON; what is refused leaves no trace; and what is accepted can be sent, and be made into an APNs body
/// of the size that the door worked out.
struct DoorTarget: FuzzTarget {
    private static let now = Moment(monotonic: 1_000, wall: 1_700_000_000_000)
    private static let requestsMax = 4

    private let core: Ingest
    private let journal: Journal
    private let coder = ParcelCoder()

    init() throws {
        journal = try Journal(.memory, freshSecret: [UInt8](0..<32))
        var core = Ingest(DoorTarget.configuration)
        try journal.begin()
        _ = try DoorTarget.step(.started, &core, journal)
        for request in DoorTarget.earlier {
            guard let call = HTTPCall(fuzzed: Array(request.utf8)) else { continue }
            _ = try DoorTarget.step(.external(.request(call)), &core, journal)
        }
        try journal.commit()
        self.core = core
    }

    private static var configuration: Configuration {
        var application = Configuration.Application(code: "AAAAA-00001", bundleID: "com.example.orders")
        application.firebaseProject = "demo"
        application.apiTokenDigests = [SHA256.hex("k-test")]
        application.keys = [.init(teamID: "TEAM123456", keyID: "KEY1234567", file: "AuthKey_KEY1234567.p8")]
        var configuration = Configuration()
        configuration.applications = [application]
        return configuration
    }

    /// What each input finds: a device, a filter, and an activity that runs with a token.
    private static let earlier = [
        #"registerDevice\#n\#n{"request":{"application":"AAAAA-00001","hwid":"dev-1","device_type":1}}"#,
        #"createFilter\#n\#n{"request":{"application":"AAAAA-00001","auth":"k-test","name":"vip","#
            + #""filter_expression":"T(\"Level\", GTE, 3)"}}"#,
        #"startLiveActivity\#n\#n{"request":{"application":"AAAAA-00001","auth":"k-test","notifications":[{"#
            + #""content":"Cooking","live_activity":{"event":"start","content-state":{"step":1},"#
            + #""attributes-type":"Order","attributes":{}},"live_activity_id":"ord-12","devices":["dev-1"]}]}}"#,
        #"setActivityToken\#n\#n{"request":{"application":"AAAAA-00001","hwid":"dev-1","#
            + #""activity_token":"a1a1a1a1","activity_id":"ord-12"}}"#,
    ].map { "POST /json/1.3/\($0)" }

    func feed(_ input: [UInt8]) throws {
        var core = core
        try journal.begin()
        for request in input.split(separator: 0x1E).prefix(DoorTarget.requestsMax) {
            guard let call = HTTPCall(fuzzed: Array(request)) else { continue }
            try serve(call, &core)
        }
        try drain(&core)
        try journal.rollback()
    }

    private func serve(_ call: HTTPCall, _ core: inout Ingest) throws {
        let before = try trace()
        let effects = try DoorTarget.step(.external(.request(call)), &core, journal)
        var replies: [HTTPReply] = []
        var waits = 0
        for effect in effects {
            switch effect {
            case .perform(.reply(let reply)): replies.append(reply)
            case .perform(.suspended): waits += 1
            default: break
            }
        }
        hold(replies.count + waits == 1, "\(replies.count) replies, and \(waits) waits")
        for reply in replies {
            hold((200..<500).contains(reply.status), "answered \(reply.status)")
            guard let answer = try? JSONDocument(reply.body).root else {
                return hold(false, "answered with what is no JSON")
            }
            let isRefused = reply.status >= 400 || (answer["status_code"]?.int64 ?? 200) != 200
            if isRefused { hold(try trace() == before, "refused, and yet something is stored") }
        }
    }

    /// How many rows each table has, and the last sequence.
    private func trace() throws -> [Int64] {
        let tables = [
            "messages", "commands", "registrations", "registrationGroups", "runs", "tokens", "filters",
            "replies",
        ]
        let counts = tables.map { "(SELECT count(*) FROM \($0))" }.joined(separator: ", ")
        let trace = try journal.database.first(
            SQL("SELECT number, \(counts) FROM meta WHERE name = 'sequence'")
        ) { row in (0...tables.count).map { row.int($0) } }
        return trace ?? []
    }

    /// Lets everything go that was accepted, as if its receivers took it at once.
    private func drain(_ core: inout Ingest) throws {
        while true {
            let sent = DoorTarget.sends(try DoorTarget.step(.turn(.boundless()), &core, journal))
            guard !sent.isEmpty else { break }
            for (message, route) in sent {
                try check(message)
                guard let taken = DoorTarget.taken(message, route) else { continue }
                let sender = Sender(InstanceName(taken.by), epoch: 1)
                _ = try DoorTarget.step(.message(.taken(taken.what), from: sender), &core, journal)
            }
        }
        hold(core.waiting == 0, "\(core.waiting) accepted pieces wait for ever")
    }

    private static func taken(_ message: Message, _ route: Route) -> (what: Taken, by: ServiceName)? {
        switch (message, route) {
        case (.command(let command), _): (.command(message: command.sequence), .tokenRegistry)
        case (.registration(let registration), .service(let service)):
            (.registration(sequence: registration.sequence, by: service), service)
        case (.registrations(let group), .service(let service)):
            (.registration(sequence: group.sequence, by: service), service)
        default: nil
        }
    }

    /// What goes out can be written, read and reckoned with, and becomes a body that APNs would take.
    private func check(_ message: Message) throws {
        let envelope = Envelope(
            type: message.type, id: 1, from: Sender(InstanceName(.ingest), epoch: 1), sentAtMilliseconds: 1)
        let parcel = Parcel(envelope: envelope, messages: [message])
        hold(try coder.parcel(coder.frames(parcel)) == parcel, "what goes out is read as something else")
        hold(message.isPlausible, "what goes out would be dropped")
        guard case .command(let command) = message, let notification = command.notification else { return }
        checkRequest(command, notification)
        var renderer = PayloadRenderer(notification, command.payload)
        let push = renderer.body(.liveActivity, timestampSeconds: DoorTarget.now.wallSeconds) ?? []
        check(push, size: PayloadSize.of(notification, command.payload))
        guard let fallback = notification.fallback else { return }
        let alert = renderer.body(.alert, timestampSeconds: DoorTarget.now.wallSeconds) ?? []
        check(alert, size: PayloadSize.of(fallback))
    }

    /// The gateway has to be able to make a request of it, whatever its caller said.
    private func checkRequest(_ command: Command, _ notification: Contracts.Notification) {
        let target = Target(
            id: PushID(message: command.sequence, device: 1), attempt: 1, participant: 1,
            order: command.order,
            token: "a1", environment: .production, pushType: .liveActivity,
            apnsID: notification.apnsID ?? "00000000-0000-4000-8000-000000000001", collapseID: nil,
            priority: notification.priority, pace: Pace(), intervalMilliseconds: 0, burst: 1,
            notBeforeMilliseconds: 0, sendBeforeMilliseconds: DoorTarget.now.wall + 30_000)
        let push = Push(target, timestampSeconds: DoorTarget.now.wallSeconds)
        let pushes = Pushes(
            application: command.application, notification: notification, pushes: [push],
            payload: command.payload)
        var writer = RequestWriter(
            pushes, GatewaySettings(DoorTarget.configuration).applications[command.application])
        let request = writer.request(push, RequestID(push: push.id, number: 1), at: DoorTarget.now)
        hold(request != nil, "what was accepted is no request that the gateway could send")
    }

    private func check(_ body: [UInt8], size: Int) {
        hold(body.count == size && size <= PayloadSize.bytesMax, "\(body.count) bytes, not \(size)")
        let aps = try? JSONDocument(body).root["aps"]
        hold(aps?.kind == .object, "the APNs body is no JSON: \(String(decoding: body, as: UTF8.self))")
    }

    private static func step(_ input: Input<IngestEvent>, _ core: inout Ingest, _ journal: Journal) throws
        -> [Effect<IngestOutput>]
    {
        var store = journal
        return try core.step(input, at: now, in: &store)
    }

    private static func sends(_ effects: [Effect<IngestOutput>]) -> [(Message, Route)] {
        effects.compactMap { if case .send(let message, let route) = $0 { (message, route) } else { nil } }
    }
}

extension HTTPCall {
    /// Reads a request as inputs have it; nil where the server would not hand it on.
    fileprivate init?(fuzzed request: [UInt8]) {
        var lines: [Substring] = []
        var rest = request[...]
        while !rest.isEmpty {
            let line = rest.prefix { $0 != UInt8(ascii: "\n") }
            rest = rest[line.endIndex...].dropFirst()
            guard !line.isEmpty else { break }
            lines.append(String(decoding: line, as: UTF8.self)[...])
        }
        let words = (lines.first ?? "").split(separator: " ", maxSplits: 1).map(String.init)
        let headers = lines.dropFirst().map { line in
            let pair = line.split(separator: ":", maxSplits: 1)
            return HTTPField(
                name: pair.first.map(String.init) ?? "",
                value: pair.count > 1 ? pair[1].trimmingCharacters(in: .whitespaces) : "")
        }
        guard words.count == 2,
            let request = HTTPRequest(
                method: words[0], target: words[1], headers: HTTPHeaders(headers), body: Array(rest))
        else { return nil }
        self.init(id: 7, request)
    }
}
