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
        switch refusable({ () throws(Refusal) in try Operation.find(call) }) {
        case .failure(let refusal): .failure(refusal)
        case .success(let operation): try serve(call, operation, at: now, in: journal)
        }
    }

    private mutating func serve(
        _ call: HTTPCall, _ operation: Operation, at now: Moment, in journal: Journal
    ) throws(StoreError) -> Result<Served, Refusal> {
        switch operation {
        case .startLiveActivity: try notify(call, starts: true, at: now, in: journal)
        case .updateLiveActivity: try notify(call, starts: false, at: now, in: journal)
        case .registerDevice: try servePhone(call, .registerDevice, at: now, in: journal)
        case .unregisterDevice: try servePhone(call, .unregisterDevice, at: now, in: journal)
        case .registerUser: try servePhone(call, .registerUser, at: now, in: journal)
        case .setTags: try servePhone(call, .setTags, at: now, in: journal)
        case .getTags: getTags(call, at: now)
        case .setActivityPushToStartToken:
            try servePhone(call, .setActivityPushToStartToken, at: now, in: journal)
        case .setActivityToken: try servePhone(call, .setActivityToken, at: now, in: journal)
        case .createFilter: try serveFilters(call, .create, at: now, in: journal)
        case .compileFilter: try serveFilters(call, .compile, at: now, in: journal)
        case .listFilters: try serveFilters(call, .list, at: now, in: journal)
        case .deleteFilter: try serveFilters(call, .delete, at: now, in: journal)
        case .listMessages: try listMessages(call, in: journal)
        case .sendMessage: try serveFirebase(call, at: now, in: journal)
        case .signIn: serveSignIn(call, at: now, in: journal)
        case .showMessage: try showMessage(call, in: journal)
        case .cancelMessage: try cancelMessage(call, at: now, in: journal)
        case .listDeliveries: try serveDeliveries(call, at: now, in: journal)
        case .showActivity: try serveActivity(call, at: now, in: journal)
        case .createChannel, .listChannels, .showChannel, .deleteChannel:
            try serveChannels(call, at: now, in: journal)
        case .pause: try serveHold(call, .pause, at: now, in: journal)
        case .resume: try serveHold(call, .resume, at: now, in: journal)
        case .importDevices: try serveImport(call, at: now, in: journal)
        case .health: .success(health(call, problem: nil))
        case .readiness: .success(health(call, problem: isStarted ? nil : "starting"))
        case .describe: .success(Served(reply: HTTPReply(call, 200, json: Description.document)))
        }
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
