import Contracts
import JSON
import Service

@testable import ingest

/// A door at which every described call finds what its examples speak of.
struct Rehearsal {
    let bench: Bench
    /// The code of a message that waits.
    let code: String

    init() throws {
        bench = try Bench.withAccount()
        for (id, method) in [
            ("FIRST_LIVE_ACTIVITY", "startLiveActivity"), ("TO-CANCEL", "startLiveActivity"),
        ] {
            try bench.notify(method, Bench.start.replacing("ord-12", with: id))
        }
        code = bench.journal.codes.code(2)
    }

    /// What has to be there or gone for one call.
    func prepare(_ operation: Operation) throws {
        switch operation {
        case .startLiveActivity:
            try bench.update(Bench.end.replacing("ord-12", with: "FIRST_LIVE_ACTIVITY"))
            try keepFilter()
        case .deleteFilter: try keepFilter()
        default: return
        }
    }

    private func keepFilter() throws {
        let filter =
            #"{"request":{"auth":"k-test","name":"FILTER_NAME_1","conditions":[["level","EQ","vip"]]}}"#
        try bench.call("POST", "/json/1.3/createFilter", filter)
    }

    /// The headers with which a call is made.
    static func headers(_ credential: CallDescription.Credential, token: String = "k-test")
        -> [(String, String)]
    {
        switch credential {
        case .nobody, .inBody, .device: []
        case .bearer: [("Authorization", "Bearer \(token)")]
        case .anyScheme: [("Authorization", token)]
        }
    }

    /// A path with what its parts in braces stand for.
    func path(_ operation: Operation) -> String {
        operation.route.path.replacing("{code}", with: code).replacing("{app}", with: "AAAAA-00001")
            .replacing("{project}", with: "demo").replacing("{id}", with: "FIRST_LIVE_ACTIVITY")
            .replacing("{channel}", with: "dHN0LXNyY2gtY2hubA==")
    }

    /// An example's body with a real token.
    static func body(_ example: String, token: String = "k-test") -> String {
        example.replacing("API-TOKEN", with: token)
    }

    /// Makes a call; whoever is asked for it answers.
    func call(_ operation: Operation, _ body: String, token: String = "k-test") throws -> HTTPReply? {
        let headers = Rehearsal.headers(operation.description.credential, token: token)
        let call = bench.request(operation.route.method, path(operation), body, headers)
        let (replies, messages) = try bench.step(.external(.request(call)))
        guard replies.isEmpty, case .query(let query)? = messages.first?.0 else { return replies.first }
        return try bench.answer(query, Rehearsal.answer(to: query.kind)).first
    }

    private static func answer(to question: ChannelQuestion) -> ChannelAnswer {
        let id = "dHN0LXNyY2gtY2hubA=="
        let channel = Channel(id: id, environment: question.environment, isStored: true)
        return switch question {
        case .create: .created(application: "AAAAA-00001", channel: channel)
        case .read: .read(channel: channel)
        case .delete: .deleted(id: id)
        case .list: .listed(ids: [id])
        }
    }

    private static func answer(to kind: Query.Kind) -> Answer.Content {
        switch kind {
        case .tags:
            .tags(values: ["a": .list(["x"]), "b": .boolean(true), "c": .integer(7), "d": .number(0.5)])
        case .audience: .count(devices: 12)
        case .missing: .missing(messages: [])
        case .deliveries:
            .deliveries(lines: [
                DeliveryLine(
                    deviceNumber: 1, device: "dev-1", state: "failed", reason: "BadTopic", apnsID: "id",
                    atMilliseconds: 5)
            ])
        case .channel(let question): .channel(answer: answer(to: question))
        case .participants:
            .participants(
                lines: [ParticipantLine(number: 1, device: "dev-1", state: "active")],
                newest: NewestState(
                    message: 1, event: .start, orderSeconds: Bench.nowSeconds, contentState: #"{"step": 1.0}"#
                ))
        }
    }
}

extension HTTPReply {
    /// Whether the call was accepted.
    var isAccepted: Bool { (200...201).contains(status) && code ?? 200 == 200 }
    /// What was said of a call that was refused, at whichever door.
    var problem: String {
        let said = json?["status_message"] ?? json?["error"]?["message"] ?? json?["error"]
        return said?.string ?? ""
    }
}
