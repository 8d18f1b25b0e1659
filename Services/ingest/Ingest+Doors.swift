import Contracts
import JSON
import Service
import Store

extension Ingest {
    /// Answers a request.
    mutating func serve(_ call: HTTPCall, at now: Moment, in journal: Journal) throws(StoreError)
        -> [Effect<IngestOutput>]
    {
        let door = Door(path: call.path)
        let call = recognized(call, at: now, in: journal)
        switch try serveOnce(call, at: now, in: journal) {
        case .success(let served):
            return served.effects + (served.reply.map { [.perform(.reply($0))] } ?? [])
        case .failure(let refusal):
            return [
                .count(Count("refused", [("door", door.rawValue), ("member", refusal.label)])),
                .log(LogLine(.debug, "refused", [("door", door.rawValue), ("member", refusal.label)])),
                .perform(.reply(door.refuse(call, refusal))),
            ]
        }
    }

    /// Serves a request that has not come before.
    mutating func serveAnew(_ call: HTTPCall, at now: Moment, in journal: Journal) throws(StoreError)
        -> Result<Served, Refusal>
    {
        switch Door(path: call.path) {
        case .pushwoosh: try servePushwoosh(call, at: now, in: journal)
        case .firebase: try serveFirebase(call, at: now, in: journal)
        case .own: try serveOwn(call, at: now, in: journal)
        case .signIn: serveSignIn(call, at: now, in: journal)
        }
    }

    /// Why a call comes to nothing before it is read; nil if it does not.
    static func refusal(of call: HTTPCall, method: String) -> Refusal? {
        // HEAD is GET without the body, which the server leaves out.
        guard call.method != method, !(method == "GET" && call.method == "HEAD") else { return nil }
        return Refusal(.method(allowed: method), "", "only \(method) is served here", label: "method")
    }

    static var unknownPath: Refusal {
        Refusal(.notFound, "", "there is nothing under this path", label: "path")
    }
}

/// An answered call.
struct Served {
    /// nil while the caller waits for another service.
    var reply: HTTPReply?
    var effects: [Effect<IngestOutput>] = []
}

/// Runs what may be refused, for code that may not throw a refusal itself.
func refusable<T>(_ body: () throws(Refusal) -> T) -> Result<T, Refusal> {
    do {
        return .success(try body())
    } catch {
        return .failure(error)
    }
}
