import Glibc
import HTTP2
import Testing

/// What the loop of a test waits for.
protocol Pollable: AnyObject {
    var descriptors: [CInt] { get }
    var nextDeadlineMilliseconds: Int64? { get }
    func process(nowMilliseconds: Int64)
}

extension HTTP2Connection: Pollable {
    var descriptors: [CInt] { [descriptor] }
}

extension HTTP2Server: Pollable {
    var descriptors: [CInt] { [descriptor] }
}

extension Resolver: Pollable {
    var descriptors: [CInt] { [descriptor] }
}

/// A monotonic clock that a test can move, and the poll loop around it.
final class Loop {
    struct TookTooLong: Error {}

    private var offset: Int64 = 0
    var parts: [any Pollable] = []
    /// Called after each turn.
    var afterTurn: () -> Void = {}

    var now: Int64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return Int64(time.tv_sec) * 1_000 + Int64(time.tv_nsec) / 1_000_000 + offset
    }

    func skip(milliseconds: Int64) { offset += milliseconds }

    func turn() {
        for part in parts { part.process(nowMilliseconds: now) }
        afterTurn()
    }

    /// Turns until the condition holds; ten real seconds are the limit.
    func run(until isDone: () -> Bool) throws {
        let limit = now - offset + 10_000
        while true {
            turn()
            if isDone() { return }
            guard now - offset < limit else { throw TookTooLong() }
            wait()
        }
    }

    private func wait() {
        let next = parts.compactMap(\.nextDeadlineMilliseconds).min() ?? .max
        let pause = max(0, min(next == .max ? 200 : next - now, 200))
        var list = parts.flatMap(\.descriptors).map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
        poll(&list, nfds_t(list.count), CInt(pause))
    }
}

/// A client connection and what it has reported.
final class Client {
    let connection: HTTP2Connection
    fileprivate(set) var events: [HTTP2Event] = []

    init(_ connection: HTTP2Connection) { self.connection = connection }

    var responses: [HTTP2Response] {
        events.compactMap { if case .response(let response) = $0 { response } else { nil } }
    }

    var failures: [HTTP2StreamFailure] { failuresByToken.map(\.1) }

    var failuresByToken: [(Int, HTTP2StreamFailure)] {
        events.compactMap {
            if case .streamFailed(let token, let reason) = $0 { (token, reason) } else { nil }
        }
    }

    var limits: [Int] {
        events.compactMap { if case .remoteStreamLimit(let limit) = $0 { limit } else { nil } }
    }

    var closeReason: HTTP2CloseReason? {
        if case .closed(let reason) = events.last { reason } else { nil }
    }
}

/// A server and its clients in one loop.
final class World {
    let loop = Loop()
    let server: HTTP2Server
    let trust: HTTP2ClientTLS
    var clients: [Client] = []
    var requests: [HTTP2ServerRequest] = []
    var serverEvents: [HTTP2ServerEvent] = []
    var handler: (World, HTTP2ServerRequest) -> Void = { $0.answer($1) }

    init(_ options: HTTP2ServerOptions = HTTP2ServerOptions()) throws {
        let identity = try HTTP2ServerTLS(certificatePEM: Fixtures.certificate, keyPEM: Fixtures.key)
        server = try HTTP2Server(tls: identity, options: options)
        trust = try HTTP2ClientTLS(HTTP2TLSOptions(caPEM: Fixtures.authority))
        loop.parts = [server]
        loop.afterTurn = { [unowned self] in collect() }
    }

    /// Makes options of a server with a stream limit.
    static func limited(to limit: Int) -> HTTP2ServerOptions {
        var options = HTTP2ServerOptions()
        options.streamLimit = limit
        return options
    }

    func connect(
        host: String = "localhost", port: Int? = nil, tls: HTTP2ClientTLS? = nil,
        options: HTTP2ConnectionOptions = HTTP2ConnectionOptions()
    ) -> Client {
        let connection = HTTP2Connection(
            host: host, port: port ?? server.port, address: "127.0.0.1", tls: tls ?? trust, options: options,
            nowMilliseconds: loop.now)
        let client = Client(connection)
        clients.append(client)
        loop.parts.append(connection)
        return client
    }

    /// A connection whose first SETTINGS have come.
    func connected(
        port: Int? = nil, options: HTTP2ConnectionOptions = HTTP2ConnectionOptions()
    ) throws -> Client {
        let client = connect(port: port, options: options)
        try run { !client.limits.isEmpty }
        return client
    }

    /// A client that has queued so many requests before any SETTINGS have come.
    func overbearing(_ count: Int) throws -> Client {
        var options = HTTP2ConnectionOptions()
        options.initialStreamLimit = count
        let client = connect(options: options)
        try run { client.events.contains(.ready) }
        for token in 1...count {
            let isTaken = client.submit(token, at: loop.now)
            #expect(isTaken)
        }
        return client
    }

    func answer(_ request: HTTP2ServerRequest, status: Int = 200, body: String = "") {
        var headers = HTTP2Headers()
        if let id = request.headers["apns-id"] { headers.append("apns-id", id, indexed: false) }
        server.respond(
            connectionID: request.connectionID, streamID: request.streamID, status: status, headers: headers,
            body: Array(body.utf8))
    }

    func run(until isDone: () -> Bool) throws {
        try loop.run(until: isDone)
    }

    private func collect() {
        for event in server.drainEvents() {
            serverEvents.append(event)
            guard case .request(let request) = event else { continue }
            requests.append(request)
            handler(self, request)
        }
        for client in clients { client.events += client.connection.drainEvents() }
    }
}

/// The fields of a push.
func push(_ number: Int, path: String = "/3/device/00112233") -> HTTP2Headers {
    var headers = HTTP2Headers([
        (":method", "POST"), (":scheme", "https"), (":authority", "localhost"),
        ("authorization", "bearer test"), ("apns-push-type", "liveactivity"),
    ])
    headers.append("apns-id", "id-\(number)", indexed: false)
    headers.append(":path", path, indexed: false)
    return headers
}

extension Client {
    /// Submits a push with ten minutes to go.
    @discardableResult
    func submit(_ token: Int, at now: Int64, body: [UInt8] = Array("{}".utf8)) -> Bool {
        connection.submit(
            token: token, headers: push(token), body: body, deadlineMilliseconds: now + 600_000)
    }
}
