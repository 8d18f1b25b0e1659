import Foundation
import Testing
import Web

@Suite(.timeLimit(.minutes(10)))
struct HTTPServerTLSTests {
    @Test func `TLS serves to who knows the authority, and to nobody else`() throws {
        let directory = try TemporaryDirectory()
        let (identity, authority) = try makeIdentity(in: directory.path)
        let pair = try Pair(identity: identity, handler: ok)
        let body = [UInt8](repeating: 7, count: 100_000)
        for _ in 0..<3 {
            let request = HTTPClientRequest(
                method: "POST", url: pair.secureOrigin, body: body, caFile: authority)
            #expect(try pair.answer(request).body == body)
        }
        #expect(pair.server.connectionCount == 1)
        let error = try #require(throws: HTTPClientError.self) {
            try pair.answer(HTTPClientRequest(url: pair.secureOrigin))
        }
        #expect(error.reason == .tls)
        #expect("\(identity)" == "TLSIdentity")
    }

    @Test(arguments: [[:], ["Transfer-Encoding": "chunked"]] as [HTTPHeaders])
    func `a body that is too large is refused through TLS too`(headers: HTTPHeaders) throws {
        let directory = try TemporaryDirectory()
        let (identity, authority) = try makeIdentity(in: directory.path)
        let pair = try Pair(identity: identity, handler: ok)
        let body = [UInt8](repeating: 7, count: 3 << 20)
        let request = HTTPClientRequest(
            method: "POST", url: pair.secureOrigin, headers: headers, body: body, caFile: authority)
        #expect(try pair.answer(request).status == 413)
        let next = HTTPClientRequest(url: pair.secureOrigin, caFile: authority)
        #expect(try pair.answer(next).status == 200)
    }

    @Test func `a TLS handshake that stops is cut off`() throws {
        let directory = try TemporaryDirectory()
        let pair = try Pair(identity: try makeIdentity(in: directory.path).identity, handler: ok)
        let raw = try RawConnection(port: try #require(pair.server.port))
        raw.write("\u{16}\u{3}\u{1}")
        pair.run { pair.server.connectionCount == 1 }
        let now = MonotonicClock.nowMilliseconds()
        for seconds: Int64 in [1, 2, 13] { pair.server.process(nowMilliseconds: now + seconds * 1_000) }
        poll(pair.server, raw) { raw.isEnded }
        pair.run { pair.server.connectionCount == 0 }
    }

    @Test func `a certificate that is none is refused`() throws {
        let error = try #require(throws: HTTPServerError.self) {
            try Pair(identity: TLSIdentity(certificatePEM: "none", keyPEM: "none"), handler: ok)
        }
        #expect(error.reason == .library)
        #expect(!error.context.isEmpty)
    }

    @Test(arguments: [("-tls1_1", nil), ("-tls1_2", "TLSv1.2"), ("-tls1_3", "TLSv1.3")])
    func `TLS 1.2 and 1.3 are spoken, and nothing older`(option: String, version: String?) throws {
        let directory = try TemporaryDirectory()
        let pair = try Pair(identity: try makeIdentity(in: directory.path).identity, handler: ok)
        let port = try #require(pair.server.port)
        // Old versions need the lowest level of security on the client's side, or it would not even ask.
        let client = try OpenSSL([
            "s_client", option, "-cipher", "DEFAULT@SECLEVEL=0", "-connect", "127.0.0.1:\(port)", "-brief",
        ])
        poll(pair.server, client) { client.isOver }
        #expect((client.status == 0) == (version != nil))
        if let version { #expect(client.said.contains("Protocol version: \(version)")) }
    }

    @Test func `a new certificate is shown to new connections, and open ones go on`() throws {
        let directory = try TemporaryDirectory()
        let (first, firstAuthority) = try makeIdentity(in: directory.path, name: "first")
        let (second, secondAuthority) = try makeIdentity(in: directory.path, name: "second")
        let pair = try Pair(identity: first, connectionsMax: 1, handler: ok)
        let old = HTTPClientRequest(url: pair.secureOrigin, caFile: firstAuthority)
        #expect(try pair.answer(old).status == 200)

        try pair.server.replaceIdentity(second)
        #expect(try pair.answer(old).status == 200)
        #expect(pair.server.connectionCount == 1)
        #expect(try status(pair, authority: secondAuthority) == 200)
        #expect(try status(pair, authority: firstAuthority) == nil)

        try pair.server.replaceIdentity(first)
        #expect(try status(pair, authority: firstAuthority) == 200)
        #expect(try status(pair, authority: secondAuthority) == nil)
        #expect(try pair.answer(old).status == 200)
    }

    @Test func `an identity that does not serve leaves the former one`() throws {
        let directory = try TemporaryDirectory()
        let (first, authority) = try makeIdentity(in: directory.path, name: "first")
        _ = try makeIdentity(in: directory.path, name: "second")
        let pair = try Pair(identity: first, handler: ok)
        let own = try String(contentsOfFile: authority, encoding: .utf8)
        let other = try String(contentsOfFile: directory.path + "/second-key.pem", encoding: .utf8)
        let damaged = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"
        for (certificate, key) in [("none", "none"), (damaged, other), (own, "none"), (own, other)] {
            let error = #expect(throws: HTTPServerError.self) {
                try pair.server.replaceIdentity(TLSIdentity(certificatePEM: certificate, keyPEM: key))
            }
            #expect(error?.reason == .library)
            #expect(error?.context.isEmpty == false)
        }
        #expect(try status(pair, authority: authority) == 200)
    }

    @Test func `a server without TLS goes on without it`() throws {
        let directory = try TemporaryDirectory()
        let pair = try Pair(handler: ok)
        try pair.server.replaceIdentity(try makeIdentity(in: directory.path).identity)
        #expect(try pair.get("/").status == 200)
    }

    /// What a client of its own is answered; nil if it does not trust the server.
    private func status(_ pair: Pair, authority: String) throws -> Int? {
        let client = HTTPClient()
        var result: Result<HTTPClientResponse, HTTPClientError>?
        client.send(HTTPClientRequest(url: pair.secureOrigin, caFile: authority)) { result = $0 }
        poll(pair.server, client) { result != nil }
        switch try #require(result) {
        case .success(let response): return response.status
        case .failure(let error):
            #expect(error.reason == .tls)
            return nil
        }
    }
}

/// One run of the command `openssl`, watched by a loop.
private final class OpenSSL: Pollable {
    private let process = Process()
    private let output = Pipe()
    let descriptor: Int32 = -1
    var nextDeadlineMilliseconds: Int64? { MonotonicClock.nowMilliseconds() + 5 }

    init(_ arguments: [String]) throws {
        process.executableURL = URL(fileURLWithPath: "/usr/bin/openssl")
        process.arguments = arguments
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = output
        process.standardError = output
        try process.run()
    }

    var isOver: Bool { !process.isRunning }
    var status: Int32 { process.terminationStatus }
    /// Everything it has written, once it is over.
    var said: String { String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self) }

    func process(nowMilliseconds: Int64) {}
}
