import Collections
import FoundationEssentials
import Service
import Store
import Telemetry
import Web

/// Joins the core to its HTTP server: complete requests become calls, replies go to whoever waits for them.
///
/// A request whose transaction fails is answered 503; nothing of it is stored then.
struct IngestAdapter: Adapter {
    private let server: HTTPServer
    /// What it has begun with.
    private let http: Configuration.HTTP
    private let inbox: Inbox
    private let uploads = Uploads()
    private let disk: DiskWatch?
    private let metrics: WaitingGauges
    private var unwritten = false
    /// Requests that wait for another service, and until when.
    private var suspended = FIFO<(id: Int64, path: [String], untilMilliseconds: Int64)>()

    /// How long a request may wait at most, in milliseconds.
    ///
    /// The core answers sooner; this is for those whose core was given up when the store failed.
    static let waitMilliseconds: Int64 = 12_000
    /// How many of them may be remembered although they have been answered, beside twice as many as have not.
    static let answeredMax = 1_024

    /// Listens.
    ///
    /// - Throws: `ServiceFailure` if the address, the certificate or its key does not serve.
    init(_ context: ServiceContext) throws {
        http = context.configuration.http
        let settings = DoorSettings(context)
        let inbox = Inbox()
        self.inbox = inbox
        let uploads = uploads
        metrics = WaitingGauges(context.metrics)
        try SignInAccounts.check(context.configuration)
        disk = context.isAlone ? nil : DiskWatch(directory: context.configuration.dataDirectory)
        do {
            server = try HTTPServer(
                try HTTPAddress(parsing: http.listen), limits: settings.limits(),
                identity: try settings.identity(), uploads: { uploads.take($0, id: inbox.number()) }
            ) { request, exchange in inbox.take(request, exchange) }
        } catch let error as HTTPServerError {
            throw ServiceFailure(
                error.reason == .inUse ? .temporary : .configuration, "http", error.description)
        }
        context.logger.info("listening", ["address": port.map { "\(http.listen) (\($0))" } ?? http.listen])
    }

    /// The port that the server listens on; nil for a Unix socket.
    var port: UInt16? { server.port }

    var descriptors: [CInt] { [server.descriptor] }

    var nextDeadlineMilliseconds: Int64? {
        // What arrived while answers were written has left the descriptor silent.
        if inbox.hasCalls { return 0 }
        return [
            server.nextDeadlineMilliseconds, disk?.nextMilliseconds, suspended.first?.untilMilliseconds,
            uploads.nextMilliseconds,
        ].compactMap { $0 }.min()
    }

    var drained: Bool { inbox.exchanges.isEmpty && uploads.isEmpty && !unwritten }

    mutating func process(nowMilliseconds: Int64) -> [IngestEvent] {
        server.process(nowMilliseconds: nowMilliseconds)
        unwritten = false
        giveUp(nowMilliseconds)
        var events = inbox.takeCalls().map(IngestEvent.request)
        let hadUploads = !uploads.isEmpty
        if let piece = uploads.next(nowMilliseconds: nowMilliseconds) { events.append(.importing(piece)) }
        unwritten = hadUploads && uploads.isEmpty
        if let word = disk?.look(nowMilliseconds: nowMilliseconds) { events.append(word) }
        return events
    }

    mutating func perform(_ outputs: [IngestOutput], nowMilliseconds: Int64) {
        for output in outputs {
            switch output {
            case .reply(let reply): answer(reply)
            case .suspended(let id, let path):
                suspended.append((id, path, nowMilliseconds + IngestAdapter.waitMilliseconds))
                forgetAnswered()
            case .imported(let id, let outcome):
                unwritten = true
                uploads.took(id, outcome, nowMilliseconds: nowMilliseconds)
            case .waiting(let held): metrics.show(held)
            }
        }
        // Written at once: who waits for an answer should not wait for the next event as well.
        server.process(nowMilliseconds: nowMilliseconds)
    }

    mutating func failed(_ events: [IngestEvent], problem: String, nowMilliseconds: Int64) {
        for event in events {
            switch event {
            case .request(let call): answer(Door.storageFailure(call, problem: problem))
            case .importing(let piece):
                let refusal = Refusal.busy("\(problem); nothing of the lines that follow was accepted")
                uploads.took(piece.call.id, .stopped(refusal), nowMilliseconds: nowMilliseconds)
            case .disk: continue
            }
        }
        server.process(nowMilliseconds: nowMilliseconds)
    }

    func onlyReads(_ event: IngestEvent) -> Bool {
        switch event {
        // Who asks whether it is ready wants to know whether the journal can be written.
        case .request(let call): ["GET", "HEAD"].contains(call.method) && call.path != ["readyz"]
        case .importing: false
        case .disk: true
        }
    }

    func reload(_ context: ServiceContext) throws {
        try SignInAccounts.check(context.configuration)
        DoorSettings(context).apply(to: server, before: http)
    }

    mutating func drain() {
        uploads.stop()
        server.quiesce()
    }

    /// How many requests are remembered that wait, or have waited, for another service.
    var suspendedCount: Int { suspended.count }

    private mutating func forgetAnswered() {
        let exchanges = inbox.exchanges
        guard suspended.count > exchanges.count * 2 + IngestAdapter.answeredMax else { return }
        suspended.removeAll { exchanges[$0.id] == nil }
    }

    private mutating func giveUp(_ now: Int64) {
        while let first = suspended.first, first.untilMilliseconds <= now {
            _ = suspended.popFirst()
            guard inbox.exchanges[first.id] != nil else { continue }
            let call = HTTPCall(id: first.id, method: "POST", path: first.path)
            answer(Door.storageFailure(call, problem: "storage fails"))
        }
    }

    private mutating func answer(_ reply: HTTPReply) {
        unwritten = true
        inbox.exchanges.removeValue(forKey: reply.id)?.respond(reply)
    }
}

extension IngestAdapter {
    /// What has arrived and is not answered yet.
    private final class Inbox {
        var exchanges: [Int64: HTTPExchange] = [:]
        private var calls: [HTTPCall] = []
        private var nextCall: Int64 = 1

        func take(_ request: HTTPRequest, _ exchange: HTTPExchange) {
            let id = number()
            exchanges[id] = exchange
            calls.append(HTTPCall(id: id, request))
        }

        /// A number for a request.
        func number() -> Int64 {
            defer { nextCall += 1 }
            return nextCall
        }

        var hasCalls: Bool { !calls.isEmpty }

        func takeCalls() -> [HTTPCall] {
            defer { calls = [] }
            return calls
        }
    }

    /// Looks now and then at how much is free where the journal is.
    private final class DiskWatch {
        /// How often, in milliseconds.
        static let everyMilliseconds: Int64 = 2_000

        private let directory: String
        private(set) var nextMilliseconds: Int64 = 0

        init(directory: String) { self.directory = directory }

        /// How much is free, if it is time to say so.
        func look(nowMilliseconds: Int64) -> IngestEvent? {
            guard nowMilliseconds >= nextMilliseconds else { return nil }
            nextMilliseconds = nowMilliseconds + DiskWatch.everyMilliseconds
            // A directory that cannot be looked at is told of by the journal in it, at its next commit.
            guard let disk = try? DiskSpace(at: directory) else { return nil }
            return .disk(freeBytes: disk.freeBytes, sizeBytes: disk.sizeBytes)
        }
    }

    /// What operators see of the backlog.
    private struct WaitingGauges {
        private let pieces: Gauge
        private let bytes: Gauge

        init(_ metrics: Metrics) {
            pieces = metrics.gauge(
                "liveline_backlog", help: "Accepted and not taken yet.", labels: ["kind"])
            bytes = metrics.gauge(
                "liveline_waiting_bytes", help: "What the commands that wait hold together, in bytes.")
        }

        func show(_ held: Backlog.Held) {
            pieces.set(held.commands, ["commands"])
            pieces.set(held.registrations, ["registrations"])
            bytes.set(held.commandBytes)
        }
    }
}

extension HTTPCall {
    /// Takes a request over from the server.
    init(id: Int64, _ request: HTTPRequest) {
        self.init(
            id: id, method: request.method, path: request.segments,
            query: request.queryItems.map { Field(name: $0.name, value: $0.value) },
            headers: request.headers.fields.map { Field(name: $0.name, value: $0.value) }, body: request.body)
    }
}
