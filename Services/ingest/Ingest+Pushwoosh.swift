import Contracts
import JSON
import Service
import Store

extension Ingest {
    /// Serves `startLiveActivity` and `updateLiveActivity`.
    mutating func notify(_ call: HTTPCall, starts: Bool, at now: Moment, in journal: Journal)
        throws(StoreError) -> Result<Served, Refusal>
    {
        let access = access
        let read = refusable { () throws(Refusal) -> (Configuration.Application, [Draft]) in
            let request = try PushwooshRequest(call.body)
            let application = try request.application(access)
            try request.members.refuseUnknown(known: ["application", "auth", "notifications"])
            let reader = PushwooshNotifications(
                application: application, starts: starts, nowSeconds: now.wallSeconds)
            return (application, try reader.read(request))
        }
        switch read {
        case .failure(let refusal): return .failure(refusal)
        case .success(let (application, drafts)):
            return try accept(drafts, application, .pushwoosh, at: now, in: journal).map { accepted in
                let codes = accepted.map { journal.codes.code($0.sequence) }
                let response = JSONWriter.object { $0.member("Messages", codes) }
                return Served(
                    reply: PushwooshAnswer.success(call, JSONRaw(response)),
                    effects: counts(accepted, .pushwoosh))
            }
        }
    }

    /// What metrics count of accepted messages.
    func counts(_ accepted: [Accepted], _ door: Door) -> [Effect<IngestOutput>] {
        accepted.compactMap { accepted in
            guard let head = accepted.head else { return nil }
            return .count(Count("accepted", [("door", door.rawValue), ("kind", head.kind.rawValue)]))
        }
    }
}
