import Testing
import Web

/// A server that takes bodies as they arrive, and what it has seen.
private final class UploadServer {
    private final class Seen {
        var uploads: [HTTPUpload] = []
        var whole: [String] = []
    }

    private let seen = Seen()
    let server: HTTPServer

    init(limits: HTTPServerLimits = HTTPServerLimits()) throws {
        let seen = seen
        server = try HTTPServer(
            .tcp(host: "127.0.0.1", port: 0), limits: limits,
            uploads: { upload in
                guard upload.request.path == "/up" else { return false }
                seen.uploads.append(upload)
                return true
            }
        ) { request, exchange in
            seen.whole.append(request.path)
            exchange.respond(status: 200)
        }
    }

    var uploads: [HTTPUpload] { seen.uploads }
    var whole: [String] { seen.whole }
    var origin: String { "http://127.0.0.1:\(server.port ?? 0)" }
}

@Suite(.timeLimit(.minutes(10))) struct HTTPUploadTests {
    private func bytes(_ count: Int) -> [UInt8] { (0..<count).map { UInt8(truncatingIfNeeded: $0 / 7) } }

    /// Sends a body and takes it out as it arrives.
    private func send(
        _ request: HTTPClientRequest, to upload: UploadServer, source: HTTPClient.BodySource? = nil
    ) throws -> (body: [UInt8], response: HTTPClientResponse) {
        let client = HTTPClient()
        var result: Result<HTTPClientResponse, HTTPClientError>?
        if let source {
            client.send(request, body: source) { result = $0 }
        } else {
            client.send(request) { result = $0 }
        }
        var body: [UInt8] = []
        poll(upload.server, client) {
            guard let first = upload.uploads.first else { return result != nil }
            body += first.take()
            if first.state == .complete, first.heldBytes == 0 { first.exchange.respond(status: 201) }
            return result != nil
        }
        return (body, try #require(result).get())
    }

    @Test(arguments: [0, 1, 100, 3 << 20])
    func `a body of any size arrives whole, though no more than the limit is held`(count: Int) throws {
        var limits = HTTPServerLimits()
        limits.bodyBytesMax = 50
        let server = try UploadServer(limits: limits)
        let request = HTTPClientRequest(
            method: "POST", url: server.origin + "/up?a=b", body: bytes(count))
        let (body, response) = try send(request, to: server)
        #expect(response.status == 201)
        #expect(body == bytes(count))
        #expect(server.uploads.first?.request.query("a") == "b")
        #expect(server.whole.isEmpty)
    }

    @Test func `a body in chunks arrives whole`() throws {
        let server = try UploadServer()
        let all = bytes(1 << 20)
        var given = 0
        let (body, response) = try send(
            HTTPClientRequest(method: "POST", url: server.origin + "/up"), to: server,
            source: { countMax in
                defer { given = min(all.count, given + min(countMax, 1_111)) }
                return Array(all[given..<min(all.count, given + min(countMax, 1_111))])
            })
        #expect(response.status == 201)
        #expect(body == all)
        #expect(server.uploads.first?.request.headers["Transfer-Encoding"] == "chunked")
    }

    @Test func `while nobody takes it, no more is read than the limit and one buffer`() throws {
        var limits = HTTPServerLimits()
        limits.uploadBytesMax = 100_000
        let server = try UploadServer(limits: limits)
        let raw = try RawConnection(port: try #require(server.server.port))
        raw.write("POST /up HTTP/1.1\r\nHost: a\r\nContent-Length: 100000000\r\n\r\n")
        let piece = bytes(1 << 20)[...]
        var written = 0
        poll(server.server, raw) {
            written += raw.writeWhatFits(piece)
            return server.uploads.first.map { $0.heldBytes >= limits.uploadBytesMax } ?? false
        }
        let upload = try #require(server.uploads.first)
        // It stays so, whatever else goes on.
        for _ in 0..<50 { server.server.process(nowMilliseconds: MonotonicClock.nowMilliseconds()) }
        #expect(upload.heldBytes < limits.uploadBytesMax + limits.headerBytesMax * 2)
        #expect(upload.take().count >= limits.uploadBytesMax)
        poll(server.server, raw) { upload.heldBytes > 0 }
        #expect(upload.state == .arriving)
    }

    @Test func `other requests with large bodies are still refused`() throws {
        let server = try UploadServer()
        let request = HTTPClientRequest(method: "POST", url: server.origin + "/other", body: bytes(2 << 20))
        let client = HTTPClient()
        var result: Result<HTTPClientResponse, HTTPClientError>?
        client.send(request) { result = $0 }
        poll(server.server, client) { result != nil }
        #expect(try #require(result).get().status == 413)
        #expect(server.uploads.isEmpty)
    }

    @Test func `an answer in the middle reaches the client and ends the connection`() throws {
        let server = try UploadServer()
        let raw = try RawConnection(port: try #require(server.server.port))
        raw.write("POST /up HTTP/1.1\r\nHost: a\r\nContent-Length: 100000000\r\n\r\n")
        poll(server.server, raw) {
            _ = raw.writeWhatFits(bytes(1_000)[...])
            server.uploads.first?.exchange.respond(
                status: 503, headers: ["Retry-After": "5", "Content-Type": "application/json"],
                body: Array("{}".utf8))
            return raw.isEnded || raw.received.hasSuffix("{}")
        }
        #expect(raw.statuses() == ["503"])
        #expect(raw.received.contains("Retry-After: 5\r\n"))
        poll(server.server, raw) { server.uploads.first?.state == .cut }
    }

    @Test func `a client that leaves is noticed`() throws {
        let server = try UploadServer()
        var raw: RawConnection? = try RawConnection(port: try #require(server.server.port))
        raw?.write("POST /up HTTP/1.1\r\nHost: a\r\nContent-Length: 1000\r\n\r\nabc")
        poll(server.server) { server.uploads.first?.heldBytes == 3 }
        raw = nil
        poll(server.server) { server.uploads.first?.state == .cut }
        server.uploads.first?.exchange.respond(status: 200)
        #expect(server.server.connectionCount == 0)
    }

    @Test func `a client that sends too little is cut off, one that makes progress is not`() throws {
        var limits = HTTPServerLimits()
        limits.requestMilliseconds = 100
        limits.uploadProgressBytes = 50
        let server = try UploadServer(limits: limits)
        let port = try #require(server.server.port)
        let (slow, steady) = (try RawConnection(port: port), try RawConnection(port: port))
        for raw in [slow, steady] {
            raw.write("POST /up HTTP/1.1\r\nHost: a\r\nContent-Length: 100000\r\n\r\n")
        }
        poll(server.server, slow, steady) { server.uploads.count == 2 }
        // The clock is the server's alone, so that a test does not wait.
        var now = MonotonicClock.nowMilliseconds()
        for _ in 0..<20 {
            slow.write("x")
            steady.write(String(repeating: "y", count: 50))
            now += 20
            for _ in 0..<20 { server.server.process(nowMilliseconds: now) }
        }
        poll(slow) { slow.isEnded }
        #expect(slow.statuses() == ["408"])
        #expect(!steady.isEnded && steady.received.isEmpty)
        #expect(server.uploads.map(\.state).sorted { "\($0)" < "\($1)" } == [.arriving, .cut])
    }

    @Test func `a server that closes answers a request that is complete only then`() throws {
        let kept = Kept()
        let server = try HTTPServer(.tcp(host: "127.0.0.1", port: 0)) { _, exchange in
            kept.exchanges.append(exchange)
        }
        let raw = try RawConnection(port: try #require(server.port))
        raw.write("POST /whole HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\na")
        poll(server) { server.connectionCount == 1 }
        raw.write("bc")
        server.close()
        poll(raw) { raw.isEnded }
        #expect(raw.statuses() == ["503"] || raw.received.isEmpty)
        #expect(kept.exchanges.allSatisfy { !$0.isAnswered } || kept.exchanges.isEmpty)
    }

    private final class Kept {
        var exchanges: [HTTPExchange] = []
    }

    @Test func `a server that closes answers an upload that nobody takes`() throws {
        var limits = HTTPServerLimits()
        limits.uploadBytesMax = 1_000
        let server = try UploadServer(limits: limits)
        let raw = try RawConnection(port: try #require(server.server.port))
        raw.write("POST /up HTTP/1.1\r\nHost: a\r\nContent-Length: 1000000\r\n\r\n")
        poll(server.server, raw) {
            _ = raw.writeWhatFits(bytes(1_000)[...])
            return (server.uploads.first?.heldBytes ?? 0) >= 1_000
        }
        server.server.close()
        poll(raw) { raw.isEnded }
        #expect(server.uploads.first?.state == .cut)
    }
}
