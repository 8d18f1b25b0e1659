import Contracts
import JSON
import Service
import Store
import Telemetry

extension Ingest {
    /// Serves `GET /v1/messages/{code}/deliveries`: what became of a message on each device.
    mutating func serveDeliveries(_ call: HTTPCall, at now: Moment, in journal: Journal) throws(StoreError)
        -> Result<Served, Refusal>
    {
        let page: Page
        switch refusable({ () throws(Refusal) in try Page(call) }) {
        case .failure(let refusal): return .failure(refusal)
        case .success(let read): page = read
        }
        switch try admittedStatus(call, in: journal) {
        case .failure(let refusal): return .failure(refusal)
        case .success(let status):
            let code = journal.codes.code(status.head.sequence)
            let kind = Query.Kind.deliveries(
                message: status.head.sequence, after: page.after, limit: page.limit)
            return ask(.tokenRegistry, kind, application: status.head.application, for: call, at: now) {
                call, content, _ in
                guard case .deliveries(let lines) = content else { return nil }
                let body = JSONWriter.object { answer in
                    answer.member("code", code)
                    answer.array("deliveries") { list in
                        for line in lines { list.object { line.write(to: &$0) } }
                    }
                    answer.member("next", page.next(lines.count, last: lines.last?.deviceNumber))
                }
                return HTTPReply(call, 200, json: body)
            }
        }
    }

    /// Serves `GET /v1/applications/{app}/activities/{id}`: the newest run of an activity, and each device in it.
    mutating func serveActivity(_ call: HTTPCall, at now: Moment, in journal: Journal) throws(StoreError)
        -> Result<Served, Refusal>
    {
        let read = refusable { () throws(Refusal) -> (Configuration.Application, Page) in
            (try access.application(code: call.path[2], of: call), try Page(call))
        }
        switch read {
        case .failure(let refusal): return .failure(refusal)
        case .success(let (application, page)):
            guard let run = try newestRun(call.path[4], application, in: journal) else {
                return .failure(Refusal(.notFound, "", "there is no such activity", label: "activity"))
            }
            let state = run.state(application.delivery, nowMilliseconds: now.wall)
            let kind = Query.Kind.participants(run: run.number, after: page.after, limit: page.limit)
            let codes = journal.codes
            return ask(.tokenRegistry, kind, application: application.code, for: call, at: now) {
                call, content, _ in
                guard case .participants(let lines, let newest) = content else { return nil }
                let body = JSONWriter.object { answer in
                    run.write(state, to: &answer)
                    answer.member("newest", newest.flatMap { ShownState($0, codes) })
                    answer.array("participants") { list in
                        for line in lines { list.object { line.write(to: &$0) } }
                    }
                    answer.member("next", page.next(lines.count, last: lines.last?.number))
                }
                return HTTPReply(call, 200, json: body)
            }
        }
    }

    /// The newest life of an activity, which may be named by its id, by a channel or, at the Firebase door, by its token.
    private func newestRun(_ name: String, _ application: Configuration.Application, in journal: Journal)
        throws(StoreError) -> Run?
    {
        let id = ActivityName(application: application.code, space: .id, name: name)
        if let run = try journal.newestRun(id) { return run }
        if let token = DeviceToken.canonical(name),
            let run = try journal.newestRun(
                ActivityName(application: application.code, space: .token, name: token))
        {
            return run
        }
        return try journal.newestRun(
            ActivityName(application: application.code, space: .channel, name: name))
    }
}

extension Run {
    fileprivate func write(_ state: RunState, to answer: inout JSONWriter) {
        answer.member("application", activity.application)
        activity.write(to: &answer)
        if let channel { answer.member("boundTo", channel.id) }
        answer.member("state", state.word)
        answer.member("beganBy", isStart ? "start" : "token")
        answer.member("beganAtMilliseconds", beganAtMilliseconds)
    }
}

extension RunState {
    fileprivate var word: String {
        switch self {
        case .running: "running"
        case .ended: "ended"
        case .awaiting: "awaiting"
        case .empty: "empty"
        case .over: "over"
        }
    }
}

/// The newest state of an activity as an operator sees it.
private struct ShownState: JSONWritable {
    private let newest: NewestState
    private let code: String
    private let state: JSONValue

    /// nil for what is no JSON.
    init?(_ newest: NewestState, _ codes: MessageCode) {
        guard let document = try? JSONDocument(text: newest.contentState) else { return nil }
        self.newest = newest
        code = codes.code(newest.message)
        state = document.root
    }

    func write(to writer: inout JSONWriter) {
        let object = JSONWriter.object { answer in
            answer.member("code", code)
            answer.member("event", newest.event.rawValue)
            answer.member("orderSeconds", newest.orderSeconds)
            answer.member("contentState", state)
        }
        JSONRaw(object).write(to: &writer)
    }
}

extension DeliveryLine {
    fileprivate func write(to answer: inout JSONWriter) {
        answer.member("device", device)
        answer.member("state", state)
        answer.member("reason", reason)
        answer.member("apnsId", apnsID)
        answer.member("atMilliseconds", atMilliseconds)
    }
}

extension ParticipantLine {
    fileprivate func write(to answer: inout JSONWriter) {
        answer.member("device", device)
        answer.member("state", state)
        answer.member("tokenStart", tokenStart)
        if let isOnChannel { answer.member("onChannel", isOnChannel) }
        answer.member("lastSentAtMilliseconds", lastSentAtMilliseconds)
        answer.member("lastOutcome", lastOutcome)
        answer.member("lastReason", lastReason)
    }
}
