import Foundation
import Glibc
import Testing
import Web

/// A server and a client in one loop on this thread.
final class Pair {
    let server: HTTPServer
    let client: HTTPClient

    init(
        limits: HTTPServerLimits = HTTPServerLimits(), identity: TLSIdentity? = nil, connectionsMax: Int = 64,
        handler: @escaping HTTPServer.Handler
    ) throws {
        server = try HTTPServer(
            .tcp(host: "127.0.0.1", port: 0), limits: limits, identity: identity, handler: handler)
        client = HTTPClient(connectionsMax: connectionsMax)
    }

    var origin: String { "http://127.0.0.1:\(server.port ?? 0)" }

    var secureOrigin: String { "https://127.0.0.1:\(server.port ?? 0)" }

    func run(until condition: () -> Bool) {
        poll(server, client, until: condition)
    }

    /// Sends a request and runs the loop until it has its result.
    func answer(_ request: HTTPClientRequest) throws -> HTTPClientResponse {
        var result: Result<HTTPClientResponse, HTTPClientError>?
        client.send(request) { result = $0 }
        run { result != nil }
        return try #require(result).get()
    }

    func get(_ path: String) throws -> HTTPClientResponse {
        try answer(HTTPClientRequest(url: origin + path))
    }

    func post(_ path: String, _ body: [UInt8], headers: HTTPHeaders = [:]) throws -> HTTPClientResponse {
        try answer(HTTPClientRequest(method: "POST", url: origin + path, headers: headers, body: body))
    }
}

/// A bare TCP connection that writes and collects bytes.
final class RawConnection: Pollable {
    let descriptor: CInt
    private(set) var received = ""
    private(set) var isEnded = false
    let nextDeadlineMilliseconds: Int64? = nil

    init(port: UInt16) throws {
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        let result = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard result == 0 else { throw POSIXError(.ECONNREFUSED) }
    }

    deinit { close(descriptor) }

    func write(_ text: String) {
        let bytes = Array(text.utf8)
        _ = send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL))
    }

    /// Writes as much as the kernel takes without waiting.
    func writeWhatFits(_ bytes: ArraySlice<UInt8>) -> Int {
        max(
            0,
            Array(bytes).withUnsafeBytes {
                send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL | MSG_DONTWAIT))
            })
    }

    func process(nowMilliseconds: Int64) {
        var buffer = [UInt8](repeating: 0, count: 65_536)
        let count = recv(descriptor, &buffer, buffer.count, Int32(MSG_DONTWAIT))
        if count > 0 {
            received += String(decoding: buffer.prefix(count), as: UTF8.self)
        } else if count == 0 || errno != EAGAIN {
            isEnded = true
        }
    }

    func statuses() -> [String] {
        received.components(separatedBy: "HTTP/1.1 ").dropFirst().map { String($0.prefix(3)) }
    }
}

/// A fresh directory with a short path, removed at the end.
struct TemporaryDirectory: ~Copyable {
    let path: String

    init() throws {
        var template = Array("/tmp/wXXXXXX".utf8CString)
        let made = template.withUnsafeMutableBufferPointer { buffer in
            buffer.baseAddress.flatMap { mkdtemp($0) } != nil
        }
        try #require(made)
        path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }
}

/// Makes an identity with its own certificate as authority.
func makeIdentity(
    in directory: String, name: String = "own"
) throws -> (identity: TLSIdentity, authority: String) {
    let (certificate, key) = ("\(directory)/\(name).pem", "\(directory)/\(name)-key.pem")
    let openssl = Process()
    openssl.executableURL = URL(fileURLWithPath: "/usr/bin/openssl")
    openssl.arguments =
        ["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2"]
        + ["-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1"]
        + ["-keyout", key, "-out", certificate]
    openssl.standardError = FileHandle.nullDevice
    try openssl.run()
    openssl.waitUntilExit()
    try #require(openssl.terminationStatus == 0)
    let identity = TLSIdentity(
        certificatePEM: try String(contentsOfFile: certificate, encoding: .utf8),
        keyPEM: try String(contentsOfFile: key, encoding: .utf8))
    return (identity, certificate)
}

func ok(_ request: HTTPRequest, _ exchange: HTTPExchange) {
    exchange.respond(status: 200, body: request.body)
}

/// Runs a loop until the condition holds, and records it if that takes too long.
func poll(_ members: any Pollable..., until condition: () -> Bool) {
    let isDone = Poller(members).run(timeoutMilliseconds: 60_000, until: condition)
    #expect(isDone)
}
