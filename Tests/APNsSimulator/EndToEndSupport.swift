import Crypto
import Foundation
import HTTP2
import JSON
import Testing
import Web

@testable import apns_simulator

/// A short directory that lives as long as this value.
final class Scratch {
    let path = "/tmp/sim-" + String(UInt32.random(in: 0...(.max)), radix: 36)

    init() throws {
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }
}

/// A provider: one connection to a host of the simulator, and what came back on it.
final class Sender: Pollable {
    private let connection: HTTP2Connection
    private(set) var answers: [Int: HTTP2Response] = [:]
    private(set) var failures: [Int: HTTP2StreamFailure] = [:]
    private(set) var goAways: [String] = []
    private(set) var limits: [Int] = []
    private(set) var isReady = false
    private var sent = 0

    init(port: Int, trusting certificate: String) throws {
        connection = HTTP2Connection(
            host: "127.0.0.1", port: port, address: "127.0.0.1",
            tls: try HTTP2ClientTLS(HTTP2TLSOptions(caPEM: certificate)),
            nowMilliseconds: MonotonicClock.nowMilliseconds())
    }

    var descriptor: CInt { connection.descriptor }
    var nextDeadlineMilliseconds: Int64? { connection.nextDeadlineMilliseconds }
    var isClosed: Bool { connection.isClosed }
    var settled: Int { answers.count + failures.count }

    func process(nowMilliseconds: Int64) {
        connection.process(nowMilliseconds: nowMilliseconds)
        for event in connection.drainEvents() {
            switch event {
            case .ready: isReady = true
            case .remoteStreamLimit(let limit): limits.append(limit)
            case .response(let response): answers[response.token] = response
            case .streamFailed(let token, let reason): failures[token] = reason
            case .goAway(_, _, let data): goAways.append(String(decoding: data, as: UTF8.self))
            case .pong, .closed: break
            }
        }
    }

    /// Sends a push and returns its number.
    func push(
        _ token: String, _ body: [UInt8], bearer: String, topic: String = activityTopic,
        type: String = "liveactivity"
    ) throws -> Int {
        let headers = HTTP2Headers([
            (":method", "POST"), (":scheme", "https"), (":authority", "127.0.0.1"),
            (":path", "/3/device/" + token), ("authorization", "bearer " + bearer), ("apns-topic", topic),
            ("apns-push-type", type),
        ])
        sent += 1
        try #require(
            connection.submit(
                token: sent, headers: headers, body: body,
                deadlineMilliseconds: MonotonicClock.nowMilliseconds() + 60_000))
        return sent
    }

    func close() { connection.close() }
}

/// A simulator that runs in this process, a back end that takes every registration, and a way to steer them.
final class Rig {
    let server: SimulatorServer
    let ingest: HTTPServer
    let scratch: Scratch
    let key: ProviderKey
    let bearer: String
    private let client = HTTPClient()
    private let calls: Calls
    private var senders: [Sender] = []

    /// The registrations that the back end has got.
    private final class Calls {
        var all: [(method: String, body: JSONValue)] = []
    }

    init(_ more: [String] = []) throws {
        scratch = try Scratch()
        key = try ProviderKey.generate()
        let file = scratch.path + "/key.pem"
        try Data(key.publicPEM().utf8).write(to: URL(filePath: file))
        bearer = try key.providerToken(
            keyID: keyID, teamID: team, issuedAtSeconds: Stage.nowMilliseconds() / 1000)
        let calls = Calls()
        self.calls = calls
        ingest = try HTTPServer(.tcp(host: "127.0.0.1", port: 0)) { request, exchange in
            if let body = try? JSONDocument(request.body) {
                calls.all.append((request.segments.last ?? "", body.root["request"] ?? body.root))
            }
            exchange.respond(status: 200, body: Array(#"{"status_code":200,"status_message":"OK"}"#.utf8))
        }
        let port = try #require(ingest.port)
        server = try SimulatorServer(
            SimulatorOptions(
                [
                    "--listen", "127.0.0.1:0", "--sandbox-listen", "127.0.0.1:0", "--control", "127.0.0.1:0",
                    "--key", "\(team):\(keyID):\(file)", "--ingest", "http://127.0.0.1:\(port)",
                    "--certificate-out", scratch.path + "/ca.pem",
                ] + more))
    }

    func sender(_ environment: APNsEnvironment = .production) throws -> Sender {
        let listener = try #require(server.listeners.first { $0.environment == environment })
        let sender = try Sender(port: listener.port, trusting: server.certificatePEM)
        senders.append(sender)
        try wait { sender.isReady }
        return sender
    }

    /// Runs everything until the condition holds.
    func wait(until condition: () -> Bool) throws {
        let others: [any Pollable] = [ingest, client] + senders
        let isMet = server.run(with: others, timeoutMilliseconds: 60_000, until: condition)
        try #require(isMet)
    }

    /// Calls the control port.
    func control(_ method: String, _ path: String, _ body: String = "") throws -> JSONValue {
        let port = try #require(server.control.port)
        var result: Result<HTTPClientResponse, HTTPClientError>?
        let request = HTTPClientRequest(
            method: method, url: "http://127.0.0.1:\(port)/\(path)", body: Array(body.utf8),
            timeoutMilliseconds: 60_000)
        client.send(request) { result = $0 }
        try wait { result != nil }
        return try JSONDocument(try #require(result).get().body).root
    }

    /// The newest value of a member in the registrations of one kind.
    func registered(_ method: String, _ member: String) -> String? {
        calls.all.last { $0.method == method }?.body[member]?.string
    }

    func registrations(_ method: String) -> Int { calls.all.count { $0.method == method } }
}

extension HTTP2Response {
    /// The reason in the body.
    var reason: String? { (try? JSONDocument(body))?.root["reason"]?.string }
}
