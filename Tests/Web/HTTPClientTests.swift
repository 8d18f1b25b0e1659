import Foundation
import Testing
import Web

@Suite(.timeLimit(.minutes(10)))
struct HTTPClientTests {
    private func failure(_ pair: Pair, _ request: HTTPClientRequest) throws -> HTTPClientError.Reason {
        try #require(throws: HTTPClientError.self) { try pair.answer(request) }.reason
    }

    @Test func `a server that does not answer in time is a time-out`() throws {
        var kept: [HTTPExchange] = []
        let pair = try Pair { kept.append($1) }
        #expect(try failure(pair, HTTPClientRequest(url: pair.origin, timeoutMilliseconds: 50)) == .timedOut)
    }

    @Test func `waiting for a free connection counts towards the time`() throws {
        var kept: [HTTPExchange] = []
        let pair = try Pair(connectionsMax: 1) { kept.append($1) }
        var reasons: [HTTPClientError.Reason?] = []
        for milliseconds: Int64 in [10_000, 100, 150] {
            pair.client.send(HTTPClientRequest(url: pair.origin, timeoutMilliseconds: milliseconds)) {
                result in
                if case .failure(let error) = result {
                    reasons.append(error.reason)
                } else {
                    reasons.append(nil)
                }
            }
        }
        pair.run { reasons.count == 2 }
        #expect(reasons == [.timedOut, .timedOut])
        kept.first?.respond(status: 200)
        pair.run { reasons.count == 3 }
        #expect(reasons.last == .some(nil))
    }

    @Test func `nobody listening is a failed connection`() throws {
        let pair = try Pair(handler: ok)
        let origin = pair.origin
        pair.server.close()
        #expect(try failure(pair, HTTPClientRequest(url: origin)) == .connectionFailed)
        let missing = HTTPClientRequest(url: "http://local/", unixSocketPath: "/tmp/none.sock")
        #expect(try failure(pair, missing) == .connectionFailed)
    }

    @Test(arguments: [
        HTTPClientRequest(url: "http://127.0.0.1/a b"), HTTPClientRequest(url: "http://127.0.0.1/\r\nX: 1"),
        HTTPClientRequest(url: "ftp://127.0.0.1/"), HTTPClientRequest(url: ""),
        HTTPClientRequest(method: "GET /x", url: "http://127.0.0.1/"),
        HTTPClientRequest(url: "http://127.0.0.1/", headers: ["X": "a\r\nY: b"]),
        HTTPClientRequest(url: "http://127.0.0.1/", headers: ["X Y": "a"]),
    ])
    func `a request that cannot be sent is refused in the next turn`(request: HTTPClientRequest) throws {
        let pair = try Pair(handler: ok)
        #expect(try failure(pair, request) == .invalidRequest)
    }

    @Test func `an unknown name is unresolved`() throws {
        let pair = try Pair(handler: ok)
        #expect(try failure(pair, HTTPClientRequest(url: "http://nobody.invalid/")) == .unresolved)
    }

    @Test func `an answer beyond the limit is too large`() throws {
        let server = try HTTPServer(.tcp(host: "127.0.0.1", port: 0)) { _, exchange in
            exchange.respond(status: 200, body: [UInt8](repeating: 0, count: 1_001))
        }
        let client = HTTPClient(answerBytesMax: 1_000)
        var reason: HTTPClientError.Reason?
        client.send(HTTPClientRequest(url: "http://127.0.0.1:\(server.port ?? 0)/")) { result in
            if case .failure(let error) = result { reason = error.reason }
        }
        poll(server, client) { client.pendingCount == 0 }
        #expect(reason == .tooLarge)
    }

    @Test func `headers go as they are and none is invented`() throws {
        var seen: HTTPRequest?
        let pair = try Pair { request, exchange in
            seen = request
            exchange.respond(status: 204)
        }
        _ = try pair.post("/", Array("{}".utf8), headers: ["X-A": "1", "X-B": "two words"])
        let headers = try #require(seen).headers
        #expect(headers["X-A"] == "1")
        #expect(headers["X-B"] == "two words")
        #expect(headers["Content-Type"] == nil)
        #expect(headers["Expect"] == nil)
        _ = try pair.post("/", [], headers: ["Content-Type": "application/json"])
        #expect(try #require(seen).headers["content-type"] == "application/json")
        #expect(try #require(seen).headers["content-length"] == "0")
    }

    @Test func `a completion may send the next request`() throws {
        let pair = try Pair(connectionsMax: 1, handler: ok)
        var count = 0
        func next(_ result: Result<HTTPClientResponse, HTTPClientError>) {
            count += 1
            if count < 100 { pair.client.send(HTTPClientRequest(url: pair.origin), completion: next) }
        }
        pair.client.send(HTTPClientRequest(url: pair.origin), completion: next)
        #expect(count == 0)
        pair.run { count == 100 }
        #expect(pair.server.connectionCount == 1)
    }

    @Test func `closing completes everything once, and later requests at once`() throws {
        var kept: [HTTPExchange] = []
        let pair = try Pair(connectionsMax: 1) { kept.append($1) }
        var reasons: [HTTPClientError.Reason] = []
        let note: HTTPClient.Completion = {
            if case .failure(let error) = $0 { reasons.append(error.reason) }
        }
        for _ in 0..<3 { pair.client.send(HTTPClientRequest(url: pair.origin), completion: note) }
        pair.run { kept.count == 1 }
        pair.client.close()
        #expect(reasons == [.closed, .closed, .closed])
        #expect(pair.client.descriptor == -1)
        #expect(pair.client.pendingCount == 0)
    }

    @Test func `a completion may close its client`() throws {
        let pair = try Pair(connectionsMax: 4, handler: ok)
        var count = 0
        for _ in 0..<10 {
            pair.client.send(HTTPClientRequest(url: pair.origin)) { [weak client = pair.client] _ in
                count += 1
                client?.close()
            }
        }
        pair.run { count == 10 }
        #expect(pair.client.pendingCount == 0)
    }

    @Test func `a blocking request needs no loop`() throws {
        let server = try HTTPServer(.tcp(host: "127.0.0.1", port: 0)) { request, exchange in
            exchange.respond(status: 200, body: Array(request.path.utf8))
        }
        let url = "http://127.0.0.1:\(server.port ?? 0)/blocking"
        let result = Outcome()
        let thread = Thread { result.set(try? HTTPClient.perform(HTTPClientRequest(url: url))) }
        thread.start()
        poll(server, Ticker()) { result.isSet }
        #expect(result.response?.body == Array("/blocking".utf8))
        server.close()
        let error = #expect(throws: HTTPClientError.self) {
            try HTTPClient.perform(HTTPClientRequest(url: url))
        }
        #expect(error?.reason == .connectionFailed)
    }
}

/// Makes the loop look at its condition, which nothing in it announces.
private struct Ticker: Pollable {
    let descriptor: Int32 = -1
    var nextDeadlineMilliseconds: Int64? { MonotonicClock.nowMilliseconds() + 5 }
    func process(nowMilliseconds: Int64) {}
}

/// What another thread has found out.
private final class Outcome: @unchecked Sendable {
    private let lock = NSLock()
    private var value: HTTPClientResponse??

    func set(_ response: HTTPClientResponse?) { lock.withLock { value = .some(response) } }
    var isSet: Bool { lock.withLock { value != nil } }
    var response: HTTPClientResponse? { lock.withLock { value ?? nil } }
}
