import Contracts
import JSON
import Service
import Store
import Telemetry

extension Ingest {
    /// Serves Liveline's own door.
    mutating func serveOwn(_ call: HTTPCall, at now: Moment, in journal: Journal) throws(StoreError)
        -> Result<Served, Refusal>
    {
        switch call.path {
        case ["healthz"]: return health(call, isWell: true)
        case ["readyz"]: return health(call, isWell: isStarted)
        case let path where path.count == 3 && path.starts(with: ["v1", "messages"]):
            return try serveStatus(call, code: path[2], in: journal)
        case ["api", "v2", "messages:list"]: return try listMessages(call, in: journal)
        default: return .failure(Ingest.unknownPath)
        }
    }

    private func health(_ call: HTTPCall, isWell: Bool) -> Result<Served, Refusal> {
        if let refusal = Ingest.refusal(of: call, method: "GET") { return .failure(refusal) }
        let body = JSONWriter.object { $0.member("status", isWell ? "ok" : "starting") }
        return .success(Served(reply: HTTPReply(call, isWell ? 200 : 503, json: body)))
    }

    private func serveStatus(_ call: HTTPCall, code: String, in journal: Journal) throws(StoreError)
        -> Result<Served, Refusal>
    {
        if let refusal = Ingest.refusal(of: call, method: "GET") { return .failure(refusal) }
        let admitted: [String]
        switch refusable({ () throws(Refusal) in try access.bearer(call) }) {
        case .failure(let refusal): return .failure(refusal)
        case .success(let applications): admitted = applications.map(\.code)
        }
        // Another application's message is answered as one that is not there.
        guard let sequence = journal.codes.sequence(code), let status = try journal.status(sequence),
            admitted.contains(status.head.application)
        else { return .failure(Refusal(.notFound, "", "there is no such message", label: "message")) }
        let body = status.json(code: journal.codes.code(sequence))
        return .success(Served(reply: HTTPReply(call, 200, json: body)))
    }
}

extension MessageStatus {
    /// `accepted`, `taken` or `settled`.
    var state: String {
        if settledAtMilliseconds != nil { return "settled" }
        return takenAtMilliseconds == nil ? "accepted" : "taken"
    }

    /// What a caller is answered.
    func json(code: String) -> [UInt8] {
        let activity = head.activity
        return JSONWriter.object { answer in
            answer.member("code", code)
            answer.member("application", head.application)
            answer.member("event", head.kind.rawValue)
            if activity.space == .id {
                answer.member("activity", activity.name)
            } else {
                answer.member("token", Shortened(activity.name).description)
            }
            answer.member("state", state)
            answer.member("acceptedAtMilliseconds", head.acceptedAtMilliseconds)
            answer.member("takenAtMilliseconds", takenAtMilliseconds)
            answer.member("settledAtMilliseconds", settledAtMilliseconds)
            answer.member("revision", revision)
            answer.object("outcomes") { outcomes in
                for outcome in Outcome.allCases { outcomes.member(outcome.rawValue, counts[outcome]) }
            }
        }
    }
}
