import JSON
import Web

@testable import liveline

/// A door and a simulator in one: what is sent arrives at once, unless it is told otherwise.
final class StandIn {
    /// What the door answers to an update: status and body; nil accepts it.
    var refusal: (status: Int, body: String)?
    /// How many updates the door refuses before it accepts again.
    var refusals = 0
    /// Whether messages are settled when they are asked for.
    var settles = true
    /// Whether pushes arrive.
    var delivers = true
    /// How many times each push arrives.
    var copies = 1
    private(set) var calls: [(method: String, body: JSONValue)] = []
    private(set) var idempotencyKeys: [String] = []
    private var phones = 0
    private var started = 0
    private var messages = 0
    private var arrivals: [(number: Int64, event: String)] = []
    private(set) var servers: [HTTPServer] = []

    init() throws {
        // Unowned, since it owns the servers, which call it only while it runs their loop.
        servers = [
            try server { [unowned self] in serveDoor($0) },
            try server { [unowned self] in serveControl($0) },
        ]
    }

    private func server(_ answer: @escaping (HTTPRequest) -> (Int, String)) throws -> HTTPServer {
        try HTTPServer(.tcp(host: "127.0.0.1", port: 0)) { request, exchange in
            let (status, body) = answer(request)
            exchange.respond(status: status, body: Array(body.utf8))
        }
    }

    var door: Door { Door(url: "http://127.0.0.1:\(servers[0].port ?? 0)", application: "A", auth: "k") }
    var control: SimulatorControl { SimulatorControl(url: "http://127.0.0.1:\(servers[1].port ?? 0)") }

    func loop() -> CallLoop { CallLoop(connectionsMax: 8, with: servers) }

    // MARK: The door

    private func serveDoor(_ request: HTTPRequest) -> (Int, String) {
        if request.segments.first == "v1" {
            guard request.headers["Authorization"] == "Bearer k" else { return (401, "{}") }
            let state = settles ? "settled" : "taken"
            return (200, #"{"state":"\#(state)","outcomes":{"delivered":1}}"#)
        }
        guard let body = (try? JSONDocument(request.body))?.root["request"] else { return (400, "") }
        let method = request.segments.last ?? ""
        calls.append((method, body))
        if let key = request.headers["Idempotency-Key"] { idempotencyKeys.append(key) }
        return (method == "updateLiveActivity" ? update(body) : start(method, body))
    }

    private func start(_ method: String, _ body: JSONValue) -> (Int, String) {
        if method == "createFilter" { return (200, #"{"status_code":200,"response":{"name":"x"}}"#) }
        let hasFilter = body["notifications"]?.elements?.first?["filter"] != nil
        started += hasFilter ? phones : 1
        return accept()
    }

    private func update(_ body: JSONValue) -> (Int, String) {
        if refusals > 0 {
            refusals -= 1
            return (503, #"{"status_code":503,"status_message":"full"}"#)
        }
        if let refusal { return refusal }
        let state = body["notifications"]?.elements?.first?["live_activity"]?["content-state"]
        for _ in 0..<copies where delivers { arrivals.append((state?["n"]?.int64 ?? -1, "update")) }
        return accept()
    }

    private func accept() -> (Int, String) {
        messages += 1
        return (200, #"{"status_code":200,"status_message":"OK","response":{"Messages":["M-\#(messages)"]}}"#)
    }

    // MARK: The simulator

    private func serveControl(_ request: HTTPRequest) -> (Int, String) {
        switch (request.method, request.segments.first) {
        case ("POST", "phones"):
            phones += Int((try? JSONDocument(request.body))?.root["count"]?.int64 ?? 0)
            return (201, "{}")
        case ("GET", "phones"): return (200, #"{"withToken":\#(started)}"#)
        case ("GET", "counters"):
            let done = 2 * phones
            return (200, #"{"registrations":{"accepted":\#(done),"refused":0,"waiting":0,"underWay":0}}"#)
        case ("GET", "arrivals"): return (200, list(since: Int(request.query("since") ?? "0") ?? 0))
        default: return (404, #"{"error":"no such call"}"#)
        }
    }

    private func list(since: Int) -> String {
        let first = min(since, arrivals.count)
        let entries = arrivals[first...].map {
            #"{"event":"\#($0.event)","n":\#($0.number),"verdict":"updated","#
                + #""receivedAtMicroseconds":\#(Stopwatch.wallMicroseconds())}"#
        }
        return #"{"first":\#(first),"next":\#(arrivals.count),"newest":\#(arrivals.count),"arrivals":"#
            + "[\(entries.joined(separator: ","))]}"
    }
}
