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
        case let path where path.starts(with: ["v1", "messages"]):
            if path.count == 3 { return try serveMessage(call, at: now, in: journal) }
            guard path.count == 4, path[3] == "deliveries" else { return .failure(Ingest.unknownPath) }
            return try serveDeliveries(call, at: now, in: journal)
        case let path where path.starts(with: ["v1", "applications"]):
            return try serveApplication(call, at: now, in: journal)
        case ["api", "v2", "messages:list"]: return try listMessages(call, in: journal)
        default: return .failure(Ingest.unknownPath)
        }
    }

    private mutating func serveApplication(_ call: HTTPCall, at now: Moment, in journal: Journal)
        throws(StoreError) -> Result<Served, Refusal>
    {
        let path = call.path
        switch (path.count, path.count > 3 ? path[3] : "") {
        case (4, "pause"): return try serveHold(call, .pause, at: now, in: journal)
        case (4, "resume"): return try serveHold(call, .resume, at: now, in: journal)
        case (4, Ingest.importPath): return try serveImport(call, at: now, in: journal)
        case (5, "activities"): return try serveActivity(call, at: now, in: journal)
        default: return .failure(Ingest.unknownPath)
        }
    }

    private func health(_ call: HTTPCall, isWell: Bool) -> Result<Served, Refusal> {
        if let refusal = Ingest.refusal(of: call, method: "GET") { return .failure(refusal) }
        let body = JSONWriter.object { $0.member("status", isWell ? "ok" : "starting") }
        return .success(Served(reply: HTTPReply(call, isWell ? 200 : 503, json: body)))
    }

    private mutating func serveMessage(_ call: HTTPCall, at now: Moment, in journal: Journal)
        throws(StoreError) -> Result<Served, Refusal>
    {
        let cancels = call.method == "DELETE"
        if !cancels, Ingest.refusal(of: call, method: "GET") != nil {
            return .failure(
                Refusal(
                    .method(allowed: "GET, DELETE"), "", "only GET and DELETE are served here",
                    label: "method"))
        }
        switch try admittedStatus(call, in: journal) {
        case .failure(let refusal): return .failure(refusal)
        case .success(var status):
            let sequence = status.head.sequence
            if cancels {
                if let refusal = try cancel(status, at: now, in: journal) { return .failure(refusal) }
                status = try journal.status(sequence) ?? status
            }
            let body = status.json(code: journal.codes.code(sequence))
            return .success(
                Served(
                    reply: HTTPReply(call, 200, json: body),
                    effects: cancels
                        ? [.count(Count("accepted", [("door", "own"), ("kind", "cancel")]))] : []))
        }
    }

    /// What is known of the message whose code stands in the path, if the caller may know it.
    ///
    /// Another application's message is answered as one that is not there.
    func admittedStatus(_ call: HTTPCall, in journal: Journal) throws(StoreError)
        -> Result<MessageStatus, Refusal>
    {
        let admitted: [String]
        switch refusable({ () throws(Refusal) in try access.bearer(call) }) {
        case .failure(let refusal): return .failure(refusal)
        case .success(let applications): admitted = applications.map(\.code)
        }
        guard let sequence = journal.codes.sequence(call.path[2]),
            let status = try journal.status(sequence), admitted.contains(status.head.application)
        else { return .failure(Refusal(.notFound, "", "there is no such message", label: "message")) }
        return .success(status)
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
                // A pause or resume is for no activity.
                if !activity.name.isEmpty { answer.member("activity", activity.name) }
            } else {
                answer.member("token", Shortened(activity.name).description)
            }
            answer.member("state", state)
            answer.member("cancelRequested", cancelledBy != nil)
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
