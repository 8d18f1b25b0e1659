import Contracts
import JSON
import Service
import Store
import Telemetry

extension Ingest {
    /// Says whether all is well, to anybody.
    func health(_ call: HTTPCall, problem: String?) -> Served {
        let body = JSONWriter.object { $0.member("status", problem ?? "ok") }
        return Served(reply: HTTPReply(call, problem == nil ? 200 : 503, json: body))
    }

    /// Serves `GET /v1/messages/{code}`.
    func showMessage(_ call: HTTPCall, in journal: Journal) throws(StoreError) -> Result<Served, Refusal> {
        try admittedStatus(call, in: journal).map { Ingest.shown($0, to: call, in: journal) }
    }

    /// Serves `DELETE /v1/messages/{code}`.
    mutating func cancelMessage(_ call: HTTPCall, at now: Moment, in journal: Journal) throws(StoreError)
        -> Result<Served, Refusal>
    {
        switch try admittedStatus(call, in: journal) {
        case .failure(let refusal): return .failure(refusal)
        case .success(let status):
            if let refusal = try cancel(status, at: now, in: journal) { return .failure(refusal) }
            let cancelled = try journal.status(status.head.sequence) ?? status
            var served = Ingest.shown(cancelled, to: call, in: journal)
            served.effects = [.count(Count("accepted", [("door", Door.own.rawValue), ("kind", "cancel")]))]
            return .success(served)
        }
    }

    private static func shown(_ status: MessageStatus, to call: HTTPCall, in journal: Journal) -> Served {
        let body = status.json(code: journal.codes.code(status.head.sequence))
        return Served(reply: HTTPReply(call, 200, json: body))
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

extension ActivityName {
    /// Writes the member that names the activity; of a token only its beginning.
    func write(to answer: inout JSONWriter) {
        switch space {
        case .id: answer.member("activity", name)
        case .channel: answer.member("channel", name)
        case .token, .startToken: answer.member("token", Shortened(name).description)
        }
    }
}

extension MessageStatus {
    /// How far a message has come.
    enum State: String, CaseIterable {
        /// The journal has it.
        case accepted
        /// The ledger has all of it.
        case taken
        /// Every delivery has an outcome.
        case settled
        /// The ledger that had taken it is gone.
        case lost
    }

    /// How far the message has come.
    var state: State {
        // What sends nothing is settled here, and has no revision.
        if settledAtMilliseconds != nil { return revision == nil && head.kind.isPush ? .lost : .settled }
        return takenAtMilliseconds == nil ? .accepted : .taken
    }

    /// What a caller is answered.
    func json(code: String) -> [UInt8] {
        let activity = head.activity
        return JSONWriter.object { answer in
            answer.member("code", code)
            answer.member("application", head.application)
            answer.member("event", head.kind.rawValue)
            // A pause or resume is for no activity.
            if !activity.name.isEmpty { activity.write(to: &answer) }
            answer.member("state", state.rawValue)
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
