import Testing
import Web

@Suite(.timeLimit(.minutes(10)))
struct HTTPServerLimitsTests {
    private static func limits(_ change: (inout HTTPServerLimits) -> Void) -> HTTPServerLimits {
        var limits = HTTPServerLimits()
        change(&limits)
        return limits
    }

    /// Writes a request and reads until the server has ended the connection or `isDone` holds.
    private static func exchange(
        _ text: String, _ server: HTTPServer, until isDone: (RawConnection) -> Bool = { $0.isEnded }
    ) throws -> RawConnection {
        let raw = try RawConnection(port: try #require(server.port))
        raw.write(text)
        poll(server, raw) { isDone(raw) }
        return raw
    }

    @Test func `a declared length beyond the limit is refused without reading`() throws {
        var isCalled = false
        let pair = try Pair { _, _ in isCalled = true }
        let raw = try Self.exchange(
            "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1048577\r\n\r\n", pair.server)
        #expect(raw.statuses() == ["413"])
        #expect(!isCalled)
    }

    @Test(arguments: ["99999999999999999999999999", "18446744073709551615"])
    func `an absurd length is refused`(length: String) throws {
        let pair = try Pair(handler: ok)
        let raw = try Self.exchange(
            "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: \(length)\r\n\r\n", pair.server)
        #expect(raw.statuses().first == "413")
    }

    @Test func `a client that sends its large body nevertheless sees the refusal`() throws {
        let pair = try Pair(handler: ok)
        let raw = try RawConnection(port: try #require(pair.server.port))
        raw.write("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 20000000\r\n\r\n")
        let body = [UInt8](repeating: 65, count: 20_000_000)
        var sent = 0
        poll(pair.server) {
            sent += raw.writeWhatFits(body[sent..<min(sent + 2_000_000, body.count)])
            return sent == body.count
        }
        #expect(sent == body.count)
        poll(pair.server, raw) { raw.isEnded }
        #expect(raw.statuses() == ["413"])
    }

    @Test func `a chunked body is refused when it exceeds the limit`() throws {
        let pair = try Pair(limits: Self.limits { $0.bodyBytesMax = 10 }, handler: ok)
        let head = "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
        let raw = try Self.exchange(head + "8\r\n12345678\r\n8\r\n12345678\r\n", pair.server)
        #expect(raw.statuses() == ["413"])
    }

    @Test func `a chunked body within the limit arrives whole`() throws {
        let pair = try Pair(limits: Self.limits { $0.bodyBytesMax = 16 }, handler: ok)
        let head = "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
        let raw = try Self.exchange(head + "8\r\n12345678\r\n8\r\nabcdefgh\r\n0\r\n\r\n", pair.server) {
            $0.received.hasSuffix("12345678abcdefgh")
        }
        #expect(raw.statuses() == ["200"])
    }

    @Test func `a client that waits for leave gets it at once`() throws {
        let pair = try Pair(handler: ok)
        let head = "POST / HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 3\r\n\r\n"
        let raw = try Self.exchange(head, pair.server) { $0.received.contains("100 Continue\r\n\r\n") }
        raw.write("abc")
        poll(pair.server, raw) { raw.received.hasSuffix("abc") }
        #expect(raw.statuses() == ["100", "200"])
    }

    @Test func `a client that waits for leave to send too much is refused without the body`() throws {
        let pair = try Pair(handler: ok)
        let head = "POST / HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 9999999\r\n\r\n"
        #expect(try Self.exchange(head, pair.server).statuses() == ["413"])
    }

    @Test func `bodies that are too many together are refused`() throws {
        let pair = try Pair(limits: Self.limits { $0.arrivingBytesMax = 100 }, handler: ok)
        let waiting = try RawConnection(port: try #require(pair.server.port))
        waiting.write(
            "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 100\r\n\r\n" + String(repeating: "a", count: 80))
        pair.run { pair.server.connectionCount == 1 }
        pair.server.process(nowMilliseconds: MonotonicClock.nowMilliseconds())
        let head = "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 40\r\n\r\n"
        let other = try Self.exchange(head + String(repeating: "b", count: 40), pair.server)
        #expect(other.statuses() == ["503"])
        waiting.write(String(repeating: "a", count: 20))
        poll(pair.server, waiting) { waiting.received.hasSuffix("aaa") }
        #expect(waiting.statuses() == ["200"])
        #expect(try pair.post("/", [UInt8](repeating: 1, count: 100)).status == 200)
    }

    @Test func `a client that leaves in the middle of its body gives its room back`() throws {
        let pair = try Pair(limits: Self.limits { $0.arrivingBytesMax = 100 }, handler: ok)
        for _ in 0..<5 {
            var raw: RawConnection? = try RawConnection(port: try #require(pair.server.port))
            raw?.write(
                "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 90\r\n\r\n" + String(repeating: "a", count: 80)
            )
            pair.run { pair.server.connectionCount == 1 }
            pair.server.process(nowMilliseconds: MonotonicClock.nowMilliseconds())
            raw = nil
            pair.run { pair.server.connectionCount == 0 }
        }
        #expect(try pair.post("/", [UInt8](repeating: 1, count: 100)).status == 200)
    }

    @Test func `answers that nobody reads do not pile up, and what may have changed something is answered`()
        throws
    {
        var handled = 0
        let large = [UInt8](repeating: 65, count: 32 << 20)
        let pair = try Pair(limits: Self.limits { $0.answeringBytesMax = 40 << 20 }) { request, exchange in
            handled += 1
            exchange.respond(status: 200, body: large)
        }
        let get = "GET / HTTP/1.1\r\nHost: a\r\n\r\n"
        var silent: RawConnection? = try RawConnection(port: try #require(pair.server.port))
        silent?.write(get)
        pair.run { handled == 1 }
        let other = try Self.exchange(get, pair.server) { !$0.statuses().isEmpty }
        #expect(other.statuses() == ["503"])
        let post = "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n"
        let changing = try Self.exchange(post, pair.server) { $0.received.utf8.count > large.count }
        #expect(changing.statuses() == ["200"])
        silent = nil
        pair.run { pair.server.connectionCount == 2 }
        let again = try Self.exchange(get, pair.server) { $0.received.utf8.count > large.count }
        #expect(again.statuses() == ["200"], "who has gone gives its room back")
    }

    @Test func `header fields beyond the limit are refused`() throws {
        let pair = try Pair(limits: Self.limits { $0.headerBytesMax = 4_096 }, handler: ok)
        let field = "X-Long: " + String(repeating: "x", count: 20_000)
        let raw = try Self.exchange("GET / HTTP/1.1\r\nHost: a\r\n\(field)\r\n\r\n", pair.server)
        #expect(raw.statuses() == ["431"])
    }

    @Test(arguments: [
        ("GET / HTTP/1.1\r\n\r\n", "400"), ("GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", "400"),
        ("GET /a b HTTP/1.1\r\nHost: a\r\n\r\n", "400"), ("GET / HTTP/9\r\nHost: a\r\n\r\n", "400"),
        ("GET / HTTP/2.0\r\nHost: a\r\n\r\n", "505"), ("GET /%zz HTTP/1.1\r\nHost: a\r\n\r\n", "400"),
        ("GET /%00 HTTP/1.1\r\nHost: a\r\n\r\n", "400"), ("GET /%ff HTTP/1.1\r\nHost: a\r\n\r\n", "400"),
        ("GET / HTTP/1.1\r\nHost: a\r\nno colon\r\n\r\n", "400"),
        ("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: -1\r\n\r\n", "400"),
        ("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: -2\r\n\r\n", "400"),
        ("GET /" + String(repeating: "a", count: 20_000) + " HTTP/1.1\r\nHost: a\r\n\r\n", "414"),
        (
            "GET / HTTP/1.1\r\nHost: a\r\n"
                + (0..<2_000).map { "X-\($0): y\r\n" }.joined() + "\r\n", "431"
        ),
        ("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n", "400"),
        ("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n", "400"),
        ("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip\r\n\r\n", "501"),
        ("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", "400"),
    ])
    func `a malformed request is refused and the server lives on`(text: String, status: String) throws {
        var isCalled = false
        let pair = try Pair { _, exchange in
            isCalled = true
            exchange.respond(status: 200)
        }
        // libmicrohttpd doubles the head of an answer of its own to a malformed length.
        #expect(try Self.exchange(text, pair.server).statuses().first == status)
        #expect(!isCalled)
        #expect(try pair.get("/").status == 200)
    }

    @Test(arguments: [
        "\u{0}\u{1}\u{2}\r\n\r\n", "GARBAGE\r\n\r\n", " \r\n\r\n", "GET\r\n\r\n", "\r\n\r\n\r\nx\r\n",
    ])
    func `what is no request line ends the connection`(text: String) throws {
        let pair = try Pair(limits: Self.limits { $0.requestMilliseconds = 200 }, handler: ok)
        _ = try Self.exchange(text, pair.server)
        #expect(try pair.get("/").status == 200)
    }

    /// What is written once a second, and for how long the server's clock then goes on.
    @Test(arguments: [
        "POST /a-rather-long-path", "GET / HTTP/1.1\r\nHost: aaaaaaaaaaaaaa",
        "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 99\r\n\r\n0123456789012345678901234567890123456789",
    ])
    func `a slow client is cut off ten seconds after its first byte`(text: String) throws {
        let pair = try Pair(handler: ok)
        let raw = try RawConnection(port: try #require(pair.server.port))
        pair.run { pair.server.connectionCount == 1 }
        let start = MonotonicClock.nowMilliseconds() + 5_000
        var now = start
        // The head at once, so that in every case the last bytes are what is slow.
        let head = text.dropLast(18)
        raw.write(String(head))
        for byte in text.suffix(18) {
            pair.server.process(nowMilliseconds: now)
            raw.process(nowMilliseconds: now)
            if raw.isEnded || !raw.received.isEmpty { break }
            raw.write(String(byte))
            now += 1_000
        }
        #expect((10_000...12_000).contains(now - start))
        poll(raw) { raw.isEnded }
        #expect(raw.statuses() == ["408"])
        pair.server.process(nowMilliseconds: now)
        #expect(pair.server.connectionCount == 0)
    }

    @Test func `the deadline counts anew for each request of a connection`() throws {
        let pair = try Pair(handler: ok)
        let raw = try RawConnection(port: try #require(pair.server.port))
        var now = MonotonicClock.nowMilliseconds()
        for number in 1...8 {
            raw.write("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
            pair.server.process(nowMilliseconds: now)
            pair.server.process(nowMilliseconds: now)
            poll(raw) { raw.statuses().count == number }
            now += 5_000
        }
        #expect(pair.server.connectionCount == 1)
        pair.server.process(nowMilliseconds: now)
        raw.write("GET")
        for _ in 0..<3 {
            pair.server.process(nowMilliseconds: now)
            now += 5_500
        }
        poll(raw) { raw.isEnded }
        #expect(raw.statuses().last == "408")
    }

    @Test func `a request that a handler keeps has no deadline of the server's`() throws {
        var kept: HTTPExchange?
        let pair = try Pair { _, exchange in kept = exchange }
        var status: Int?
        pair.client.send(HTTPClientRequest(url: pair.origin)) { status = try? $0.get().status }
        pair.run { kept != nil }
        pair.server.process(nowMilliseconds: MonotonicClock.nowMilliseconds() + 100_000)
        kept?.respond(status: 200)
        pair.run { status != nil }
        #expect(status == 200)
    }

    @Test func `an idle connection is closed after its time`() throws {
        let pair = try Pair(handler: ok)
        let raw = try RawConnection(port: try #require(pair.server.port))
        pair.run { pair.server.connectionCount == 1 }
        let now = MonotonicClock.nowMilliseconds()
        pair.server.process(nowMilliseconds: now + 59_000)
        #expect(pair.server.connectionCount == 1)
        pair.server.process(nowMilliseconds: now + 61_000)
        poll(pair.server, raw) { raw.isEnded }
        #expect(raw.received.isEmpty)
        #expect(pair.server.connectionCount == 0)
    }

    @Test func `a client that does not take its answer is cut off`() throws {
        let pair = try Pair { _, exchange in
            exchange.respond(status: 200, body: [UInt8](repeating: 65, count: 64 << 20))
        }
        let raw = try RawConnection(port: try #require(pair.server.port))
        raw.write("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
        let now = MonotonicClock.nowMilliseconds()
        for _ in 0..<10 { pair.server.process(nowMilliseconds: now) }
        #expect(pair.server.connectionCount == 1)
        pair.server.process(nowMilliseconds: now + 31_000)
        pair.run { pair.server.connectionCount == 0 }
    }
}
