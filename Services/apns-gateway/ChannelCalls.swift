import Contracts
import JSON
import Service

/// The questions about channels that are at APNs, and what becomes of them.
///
/// Nothing is repeated that APNs may have processed: a channel that is made twice exists twice. A question that is lost
/// with this process is not answered; whoever asked hears that nobody has, and the list shows what there is.
struct ChannelCalls {
    private struct Call {
        var query: Query
        var question: ChannelQuestion
        var asker: InstanceName
    }

    /// How long a question waits for a connection, and then for its answer, in milliseconds; together less than the
    /// door's 10 s.
    static let sendWithinMilliseconds: Int64 = 4_000
    /// See `sendWithinMilliseconds`.
    static let answerWithinMilliseconds: Int64 = 5_000
    /// How many may be under way.
    static let callsMax = 256

    private var calls: [RequestID: Call] = [:]

    /// Whether a name is that of a question: no message has the number 0.
    static func isCall(_ id: RequestID) -> Bool { id.push.message == 0 }

    /// Begins a question.
    ///
    /// - Returns: the request, or the answer if it cannot be asked.
    mutating func begin(
        _ query: Query, _ question: ChannelQuestion, _ settings: GatewaySettings.Application?, number: Int,
        from asker: InstanceName, at now: Moment
    ) -> Result<APNsRequest, ChannelRefusal> {
        guard let settings else { return .failure(ChannelRefusal(reason: "no-application")) }
        guard let key = settings.key(for: question.environment) else {
            return .failure(ChannelRefusal(reason: "no-key"))
        }
        guard calls.count < Self.callsMax, question.isWellFormed else {
            return .failure(ChannelRefusal(reason: "not-sent"))
        }
        let lane = LaneKey(
            teamID: key.teamID, keyID: key.keyID, environment: question.environment, host: .channels)
        let group = RequestGroup(
            application: query.application, lane: lane, topic: "", pushType: .liveActivity, priority: 10,
            expirationSeconds: 0, form: .channelCall(question.method, path: question.path(settings.bundleID)))
        let id = RequestID(push: PushID(message: 0, device: 0), number: number)
        calls[id] = Call(query: query, question: question, asker: asker)
        return .success(
            APNsRequest(
                id: id, group: group, token: question.id ?? "", apnsID: "", body: question.body,
                sendBeforeMilliseconds: now.monotonic + Self.sendWithinMilliseconds,
                answerWithinMilliseconds: Self.answerWithinMilliseconds, trial: true))
    }

    /// Ends a question.
    ///
    /// - Returns: the answer and who waits for it; nil if it is over already.
    mutating func end(_ event: APNsEvent) -> (Answer, to: InstanceName)? {
        guard let call = calls.removeValue(forKey: event.id) else { return nil }
        let answer: ChannelAnswer =
            switch event {
            case .answered(_, let answer, _):
                call.question.answer(answer, application: call.query.application)
            case .unanswered: .unanswered(reason: "no-answer")
            case .unsent: .unanswered(reason: "not-sent")
            }
        return (Answer(id: call.query.id, content: .channel(answer: answer)), call.asker)
    }

    /// Whether a question has not ended.
    func contains(_ id: RequestID) -> Bool { calls[id] != nil }
}

/// Why a question is not put to APNs.
struct ChannelRefusal: Error, Equatable {
    var reason: String
}

/// Paths, methods and answers: Apple, Sending channel management requests to APNs.
extension ChannelQuestion {
    fileprivate var id: String? {
        switch self {
        case .read(_, let id), .delete(_, let id): id
        case .create, .list: nil
        }
    }

    /// Whether it can stand in a request's header: a neighbour may be wrong.
    fileprivate var isWellFormed: Bool { id.map(Channel.isID) ?? true }

    fileprivate var method: String {
        switch self {
        case .create: "POST"
        case .read, .list: "GET"
        case .delete: "DELETE"
        }
    }

    fileprivate func path(_ bundleID: String) -> String {
        if case .list = self { return "/1/apps/\(bundleID)/all-channels" }
        return "/1/apps/\(bundleID)/channels"
    }

    fileprivate var body: [UInt8] {
        guard case .create(_, let isStored) = self else { return [] }
        return JSONWriter.object {
            $0.member("message-storage-policy", isStored ? 1 : 0)
            $0.member("push-type", "LiveActivity")
        }
    }

    fileprivate func answer(_ answer: APNsAnswer, application: String) -> ChannelAnswer {
        guard (200..<300).contains(answer.status) else {
            return .refused(status: answer.status, reason: answer.reason)
        }
        switch self {
        case .create(let environment, let isStored):
            guard let id = answer.channelID, Channel.isID(id) else {
                return .unanswered(reason: "no-answer")
            }
            return .created(
                application: application,
                channel: Channel(id: id, environment: environment, isStored: isStored))
        case .read(let environment, let id):
            let policy = (try? JSONDocument(answer.content))?.root["message-storage-policy"]?.int64
            return .read(channel: Channel(id: id, environment: environment, isStored: policy == 1))
        case .delete(_, let id): return .deleted(id: id)
        case .list:
            let list = (try? JSONDocument(answer.content))?.root["channels"]?.elements
            guard let list else { return .unanswered(reason: "no-answer") }
            return .listed(ids: list.compactMap(\.string).filter(Channel.isID))
        }
    }
}

extension APNsGateway {
    /// Puts a question about channels to APNs.
    mutating func ask(_ query: Query, _ question: ChannelQuestion, from asker: InstanceName, at now: Moment)
        -> [Effect<APNsOrder>]
    {
        let begun = channelCalls.begin(
            query, question, application(query.application), number: takeNumber(), from: asker, at: now)
        switch begun {
        case .success(let request):
            giveUpLater(request)
            return [.perform(.request(request))]
        case .failure(let refusal):
            let content = Answer.Content.channel(answer: .unanswered(reason: refusal.reason))
            return [.send(.answer(Answer(id: query.id, content: content)), to: .instance(asker))]
        }
    }

    /// Hands on what APNs said to a question.
    mutating func endCall(_ event: APNsEvent, at now: Moment) -> [Effect<APNsOrder>] {
        if case .answered(_, let answer, _) = event {
            count(answer, at: now)
        }
        guard let (answer, asker) = channelCalls.end(event) else {
            return [.count(Count("ignored", [("type", "apns-event")]))]
        }
        return [.send(.answer(answer), to: .instance(asker))]
    }
}
