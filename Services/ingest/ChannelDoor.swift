import Contracts
import JSON
import Service

/// One call about channels, read and checked.
struct ChannelCall {
    let application: Configuration.Application
    let question: ChannelQuestion

    /// Reads `POST` and `GET …/channels`, `GET` and `DELETE …/channels/{id}`.
    ///
    /// A channel of which it is known is looked for where it was made; for others, and without a word, the
    /// application's environment counts.
    init(_ call: HTTPCall, _ access: Access, known: (String, String) -> Channel?) throws(Refusal) {
        application = try access.application(code: call.path[2], of: call)
        guard call.path.count > 4 else {
            question = try ChannelCall.ofAll(call, application)
            return
        }
        let id = call.path[4]
        guard Channel.isID(id) else {
            throw Refusal(.notFound, "", "there is no such channel: an id is base64", label: "channel")
        }
        let environment =
            try ChannelCall.environment(call) ?? known(application.code, id)?.environment
            ?? application.environment
        switch call.method {
        case "GET", "HEAD": question = .read(environment: environment, id: id)
        case "DELETE": question = .delete(environment: environment, id: id)
        default: throw ChannelCall.method("GET, DELETE")
        }
    }

    private static func ofAll(_ call: HTTPCall, _ application: Configuration.Application) throws(Refusal)
        -> ChannelQuestion
    {
        switch call.method {
        case "GET", "HEAD": return .list(environment: try environment(call) ?? application.environment)
        case "POST":
            guard !call.body.isEmpty else {
                return .create(environment: application.environment, isStored: true)
            }
            let members = try ObjectReader(body: call.body)
            try members.refuseUnknown(known: ["environment", "storagePolicy"])
            let environment = try members.lenient("environment").map { (value) throws(Refusal) in
                try PushwooshDevices.environment(value)
            }
            return .create(
                environment: environment ?? application.environment, isStored: try isStored(members))
        default: throw method("GET, POST")
        }
    }

    /// Apple's numbers: 0 keeps nothing, 1 the newest message; without a word it is kept.
    private static func isStored(_ members: ObjectReader) throws(Refusal) -> Bool {
        guard let value = members.lenient("storagePolicy") else { return true }
        guard let policy = value.int64, policy == 0 || policy == 1 else {
            throw ObjectReader.wrong(
                value, "must be 0 (nothing is stored) or 1 (the newest message is)", label: "value")
        }
        return policy == 1
    }

    private static func environment(_ call: HTTPCall) throws(Refusal) -> APNsEnvironment? {
        var environment: APNsEnvironment?
        for item in call.query {
            guard item.name == "environment" else {
                throw Refusal("", "unknown item in the query; environment is known", label: "unknown")
            }
            guard let named = APNsEnvironment(rawValue: item.value) else {
                throw Refusal("environment", "must be production or sandbox", label: "value")
            }
            environment = named
        }
        return environment
    }

    private static func method(_ allowed: String) -> Refusal {
        Refusal(.method(allowed: allowed), "", "only \(allowed) are served here", label: "method")
    }
}

/// What the door says of channels.
enum ChannelReply {
    /// A reply to what APNs said.
    ///
    /// - Parameters:
    ///   - call: the call that waits.
    ///   - answer: what APNs said.
    ///   - application: its application's code.
    ///   - question: what was asked.
    ///   - known: how channels were made, and which activity each is bound to.
    /// - Returns: what the caller gets.
    static func of(
        _ call: HTTPCall, _ answer: ChannelAnswer, application: String, _ question: ChannelQuestion,
        known: [String: KnownChannel]
    ) -> HTTPReply {
        switch answer {
        case .created(_, let channel):
            HTTPReply(call, 201, json: JSONWriter.object { write(channel, application, known, &$0) })
        case .read(let channel):
            HTTPReply(call, 200, json: JSONWriter.object { write(channel, application, known, &$0) })
        case .deleted(let id):
            HTTPReply(
                call, 200,
                json: JSONWriter.object {
                    $0.member("channel", id)
                    $0.member("deleted", true)
                })
        case .listed(let ids): list(call, ids, application, question.environment, known)
        case .refused(let status, let reason): refused(call, status, reason)
        case .unanswered(let reason): unanswered(call, reason, question)
        }
    }

    /// A reply to who has waited for too long.
    static func late(_ call: HTTPCall, _ question: ChannelQuestion) -> HTTPReply {
        unanswered(call, "no-answer", question)
    }

    private static func write(
        _ channel: Channel, _ application: String, _ known: [String: KnownChannel], _ answer: inout JSONWriter
    ) {
        answer.member("channel", channel.id)
        answer.member("application", application)
        answer.member("environment", channel.environment.rawValue)
        answer.member("storagePolicy", channel.isStored ? 1 : 0)
        answer.member("activity", known[channel.id]?.activity)
    }

    private static func list(
        _ call: HTTPCall, _ ids: [String], _ application: String, _ environment: APNsEnvironment,
        _ known: [String: KnownChannel]
    ) -> HTTPReply {
        let body = JSONWriter.object { answer in
            answer.member("application", application)
            answer.member("environment", environment.rawValue)
            answer.array("channels") { list in
                for id in ids.sorted() {
                    list.object {
                        $0.member("channel", id)
                        $0.member("storagePolicy", known[id]?.isStored.map { $0 ? 1 : 0 })
                        $0.member("activity", known[id]?.activity)
                    }
                }
            }
        }
        return HTTPReply(call, 200, json: body)
    }

    /// Reasons: Apple, Handling error responses from APNs.
    private static func refused(_ call: HTTPCall, _ status: Int, _ reason: String?) -> HTTPReply {
        switch reason {
        case "ChannelNotRegistered", "BadChannelId":
            error(call, 404, "APNs knows no such channel of the app in this environment", reason)
        case "CannotCreateChannelConfig":
            error(call, 409, "the app has as many channels as APNs allows; delete some first", reason)
        case "FeatureNotEnabled":
            error(call, 409, "broadcasts are not switched on for the app in Apple's developer portal", reason)
        case _ where status == 429 || status >= 500:
            error(call, 503, "APNs takes no such call for now: it answered \(status)", reason, retryAfter: 10)
        default: error(call, 502, "APNs refused: it answered \(status)", reason)
        }
    }

    private static func unanswered(_ call: HTTPCall, _ reason: String, _ question: ChannelQuestion)
        -> HTTPReply
    {
        switch reason {
        case "no-key", "no-application":
            return error(call, 400, "the application has no key for APNs in this environment", reason)
        case "not-sent":
            return error(call, 503, "APNs was not reached; nothing was done", reason, retryAfter: 5)
        default:
            guard case .create = question else {
                return error(call, 504, "APNs has not answered in time", "no-answer")
            }
            return error(
                call, 504,
                "APNs has not answered in time; a channel may have been made, and the list of channels shows it",
                "no-answer")
        }
    }

    private static func error(
        _ call: HTTPCall, _ status: Int, _ text: String, _ reason: String?, retryAfter: Int? = nil
    ) -> HTTPReply {
        let headers = retryAfter.map { [HTTPCall.Field(name: "Retry-After", value: String($0))] } ?? []
        let body = JSONWriter.object {
            $0.member("error", text)
            $0.member("reason", reason)
        }
        return HTTPReply(call, status, json: body, headers: headers)
    }
}

/// What the door knows of a channel beside its id.
struct KnownChannel: Sendable {
    /// nil if it was made elsewhere.
    var isStored: Bool?
    /// The activity that a run has bound it to.
    var activity: String?
}
