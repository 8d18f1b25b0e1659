import Foundation
import Testing
import Web

@Suite(.timeLimit(.minutes(10)))
struct HTTPServerTests {
    @Test func `a request arrives with everything in it`() throws {
        var seen: HTTPRequest?
        let pair = try Pair { request, exchange in
            seen = request
            exchange.respond(status: 201, headers: ["X-Answer": "yes"], body: Array("hello".utf8))
        }
        let answer = try pair.post(
            "/v1/messages/a%2Fb?limit=5&q=a+b%26", Array("body".utf8), headers: ["X-Mixed-Case": "Value"])
        let request = try #require(seen)
        #expect(request.method == "POST")
        #expect(request.path == "/v1/messages/a/b")
        #expect(request.segments == ["v1", "messages", "a/b"])
        #expect(request.query("limit") == "5")
        #expect(request.query("q") == "a b&")
        #expect(request.headers["x-mixed-case"] == "Value")
        #expect(request.body == Array("body".utf8))
        #expect(answer.status == 201)
        #expect(answer.headers["x-answer"] == "yes")
        #expect(answer.headers["content-length"] == "5")
        #expect(answer.body == Array("hello".utf8))
    }

    @Test func `one connection serves many requests`() throws {
        let pair = try Pair(connectionsMax: 1, handler: ok)
        for number in 0..<50 {
            let body = Array("request \(number)".utf8)
            #expect(try pair.post("/", body).body == body)
            #expect(pair.server.connectionCount == 1)
        }
    }

    @Test(arguments: [0, 1, 17_000, 300_000, 1 << 20])
    func `bodies of any permitted size go both ways`(size: Int) throws {
        let pair = try Pair(handler: ok)
        let body = (0..<size).map { UInt8(truncatingIfNeeded: $0 &* 31) }
        let answer = try pair.post("/", body)
        #expect(answer.status == 200)
        #expect(answer.body == body)
    }

    @Test(arguments: ["GET", "DELETE", "OPTIONS", "PROPFIND", "X-ANY"])
    func `any method reaches the handler as it is`(method: String) throws {
        let pair = try Pair { request, exchange in
            exchange.respond(status: 200, body: Array(request.method.utf8))
        }
        let answer = try pair.answer(HTTPClientRequest(method: method, url: pair.origin))
        #expect(answer.body == Array(method.utf8))
    }

    @Test func `HEAD is answered with the length and without the body`() throws {
        let pair = try Pair { _, exchange in exchange.respond(status: 200, body: Array("hello".utf8)) }
        let answer = try pair.answer(HTTPClientRequest(method: "HEAD", url: pair.origin))
        #expect(answer.headers["Content-Length"] == "5")
        #expect(answer.body.isEmpty)
        #expect(try pair.get("/").body.count == 5)
    }

    @Test func `an answer may come in a later turn`() throws {
        var kept: HTTPExchange?
        let pair = try Pair { _, exchange in kept = exchange }
        var result: Result<HTTPClientResponse, HTTPClientError>?
        pair.client.send(HTTPClientRequest(method: "POST", url: pair.origin, body: [1, 2])) { result = $0 }
        pair.run { kept != nil }
        #expect(result == nil)
        kept?.respond(status: 202, body: Array("later".utf8))
        pair.run { result != nil }
        #expect(try result?.get().status == 202)
        #expect(try result?.get().body == Array("later".utf8))
    }

    @Test func `later answers of one exchange are ignored`() throws {
        let pair = try Pair { _, exchange in
            exchange.respond(status: 200)
            exchange.respond(status: 404)
        }
        #expect(try pair.get("/").status == 200)
    }

    @Test func `an exchange that is dropped is answered 500`() throws {
        let pair = try Pair { _, _ in }
        #expect(try pair.get("/").status == 500)
    }

    @Test func `an exchange that is dropped in a later turn is answered 500`() throws {
        var kept: HTTPExchange?
        let pair = try Pair { _, exchange in kept = exchange }
        var status: Int?
        pair.client.send(HTTPClientRequest(url: pair.origin)) { status = try? $0.get().status }
        pair.run { kept != nil }
        kept = nil
        pair.run { status != nil }
        #expect(status == 500)
    }

    @Test func `answering after the client has left does no harm`() throws {
        var kept: HTTPExchange?
        let pair = try Pair { request, exchange in
            if request.path == "/slow" { kept = exchange } else { exchange.respond(status: 200) }
        }
        var raw: RawConnection? = try RawConnection(port: try #require(pair.server.port))
        raw?.write("GET /slow HTTP/1.1\r\nHost: a\r\n\r\n")
        pair.run { kept != nil }
        raw = nil
        kept?.respond(status: 200, body: [UInt8](repeating: 65, count: 1 << 20))
        pair.run { pair.server.connectionCount == 0 }
        #expect(try pair.get("/").status == 200)
    }

    @Test(arguments: [(99, "a"), (600, "a"), (200, "a\r\nX-Injected: 1")])
    func `an answer that HTTP does not allow becomes a 500`(status: Int, value: String) throws {
        let pair = try Pair { _, exchange in exchange.respond(status: status, headers: ["X-Field": value]) }
        let answer = try pair.get("/")
        #expect(answer.status == 500)
        #expect(answer.headers["X-Injected"] == nil)
    }

    @Test func `pipelined requests are answered in order`() throws {
        let pair = try Pair { request, exchange in
            exchange.respond(status: 200, body: Array("<\(request.path)>".utf8))
        }
        let raw = try RawConnection(port: try #require(pair.server.port))
        raw.write((1...5).map { "GET /\($0) HTTP/1.1\r\nHost: a\r\n\r\n" }.joined())
        poll(pair.server, raw) { raw.received.contains("</5>") }
        let order = (1...5).compactMap { raw.received.range(of: "</\($0)>")?.lowerBound }
        #expect(order == order.sorted() && order.count == 5)
    }

    @Test func `a request in single bytes is one request`() throws {
        var count = 0
        let pair = try Pair { request, exchange in
            count += 1
            exchange.respond(status: 200, body: request.body)
        }
        let raw = try RawConnection(port: try #require(pair.server.port))
        for byte in "POST /a HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nxyz" {
            raw.write(String(byte))
            pair.server.process(nowMilliseconds: MonotonicClock.nowMilliseconds())
        }
        poll(pair.server, raw) { raw.received.hasSuffix("xyz") }
        #expect(raw.statuses() == ["200"])
        #expect(count == 1)
    }

    @Test func `a thousand requests run at once`() throws {
        let pair = try Pair(connectionsMax: 200, handler: ok)
        var bodies: Set<[UInt8]> = []
        for number in 0..<1_000 {
            let request = HTTPClientRequest(
                method: "POST", url: pair.origin, body: Array("\(number)".utf8), timeoutMilliseconds: 60_000)
            pair.client.send(request) { if let answer = try? $0.get() { bodies.insert(answer.body) } }
        }
        pair.run { pair.client.pendingCount == 0 }
        #expect(bodies.count == 1_000)
        #expect(pair.server.connectionCount <= 200)
    }

    @Test func `a thousand requests wait and are answered in the opposite order`() throws {
        var kept: [(HTTPRequest, HTTPExchange)] = []
        let pair = try Pair(connectionsMax: 1_000) { kept.append(($0, $1)) }
        var bodies: Set<[UInt8]> = []
        for number in 0..<1_000 {
            let request = HTTPClientRequest(
                method: "POST", url: pair.origin, body: Array("\(number)".utf8), timeoutMilliseconds: 60_000)
            pair.client.send(request) { if let answer = try? $0.get() { bodies.insert(answer.body) } }
        }
        pair.run { kept.count == 1_000 }
        for (request, exchange) in kept.reversed() { exchange.respond(status: 200, body: request.body) }
        pair.run { pair.client.pendingCount == 0 }
        #expect(bodies.count == 1_000)
    }

    @Test func `a quiesced server finishes what it has and takes nothing new`() throws {
        var kept: HTTPExchange?
        let pair = try Pair { _, exchange in kept = exchange }
        let port = try #require(pair.server.port)
        var answer: HTTPClientResponse?
        pair.client.send(HTTPClientRequest(url: pair.origin)) { answer = try? $0.get() }
        pair.run { kept != nil }
        pair.server.quiesce()
        #expect(pair.server.port == nil)
        #expect(throws: (any Error).self) { try RawConnection(port: port) }
        kept?.respond(status: 200)
        pair.run { answer != nil && pair.server.connectionCount == 0 }
        #expect(answer?.status == 200)
        #expect(answer?.headers["Connection"] == "close")
    }

    @Test func `closing answers 503 to what is open and outlives late answers`() throws {
        var kept: HTTPExchange?
        let pair = try Pair { _, exchange in kept = exchange }
        var status: Int?
        pair.client.send(HTTPClientRequest(url: pair.origin)) { status = try? $0.get().status }
        pair.run { kept != nil }
        pair.server.close()
        pair.server.close()
        kept?.respond(status: 200)
        #expect(pair.server.descriptor == -1)
        #expect(pair.server.nextDeadlineMilliseconds == nil)
        pair.run { pair.client.pendingCount == 0 }
        #expect(status == 503)
    }

    @Test func `closing answers 503 also to what comes in that moment`() throws {
        var kept: [HTTPExchange] = []
        let pair = try Pair { _, exchange in kept.append(exchange) }
        let late = try RawConnection(port: try #require(pair.server.port))
        poll(pair.server) { pair.server.connectionCount == 1 }
        late.write("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
        pair.server.close()
        poll(late) { late.isEnded }
        #expect(late.received.hasPrefix("HTTP/1.1 503 "))
        #expect(kept.isEmpty)
    }

    @Test func `a handler may stop its own server`() throws {
        var stop: () -> Void = {}
        let pair = try Pair { _, exchange in
            exchange.respond(status: 200)
            stop()
        }
        stop = { [weak server = pair.server] in server?.close() }
        #expect(try pair.get("/").status == 200)
        #expect(pair.server.descriptor == -1)
    }
}
