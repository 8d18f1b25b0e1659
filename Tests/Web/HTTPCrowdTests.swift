import Testing
import Web

/// Many connections at once, and what becomes of them at the limit.
@Suite(.timeLimit(.minutes(10)))
struct HTTPCrowdTests {
    private static let request = "GET / HTTP/1.1\r\nHost: a\r\n\r\n"

    private func pair(connectionsMax: Int, handler: @escaping HTTPServer.Handler = ok) throws -> Pair {
        var limits = HTTPServerLimits()
        limits.connectionsMax = connectionsMax
        return try Pair(limits: limits, handler: handler)
    }

    @Test func `at the limit the connection that has been idle longest ends for a new one`() throws {
        let pair = try pair(connectionsMax: 2)
        let port = try #require(pair.server.port)
        var now = MonotonicClock.nowMilliseconds()
        let open = try fill(pair, apart: 200, &now)
        let third = try RawConnection(port: port)
        third.write(Self.request)
        turn(pair.server, now, third) { third.statuses() == ["200"] }
        turn(pair.server, now, open[0], open[1]) { open[0].isEnded }
        #expect(!open[1].isEnded)
        #expect(pair.server.connectionCount == 2)
    }

    @Test func `without idle ones the slowest gets a clear end`() throws {
        let pair = try pair(connectionsMax: 2)
        let port = try #require(pair.server.port)
        var now = MonotonicClock.nowMilliseconds()
        let open = try fill(pair, writing: "GET / HT", apart: 1_100, &now)
        let third = try RawConnection(port: port)
        third.write(Self.request)
        turn(pair.server, now, third) { third.statuses() == ["200"] }
        turn(pair.server, now, open[0], open[1]) { open[0].isEnded }
        #expect(open[0].statuses() == ["503"])
        #expect(!open[1].isEnded)
    }

    @Test func `what a handler has is never ended for a new connection`() throws {
        var kept: [HTTPExchange] = []
        let pair = try pair(connectionsMax: 2) { kept.append($1) }
        let port = try #require(pair.server.port)
        var now = MonotonicClock.nowMilliseconds()
        var open: [RawConnection] = []
        for count in 1...3 {
            open.append(try RawConnection(port: port))
            open[count - 1].write(Self.request)
            turn(pair.server, now) { kept.count == count }
            now += 5_000
        }
        for exchange in kept { exchange.respond(status: 200) }
        turn(pair.server, now, open[0], open[1], open[2]) { open.allSatisfy { $0.statuses() == ["200"] } }
    }

    @Test func `a wave of new connections is never larger than the limit and its margin`() throws {
        let pair = try pair(connectionsMax: 100)
        let port = try #require(pair.server.port)
        var now = MonotonicClock.nowMilliseconds()
        var open: [RawConnection] = []
        for _ in 0..<1_000 {
            open.append(try RawConnection(port: port))
            now += 10
            pair.server.process(nowMilliseconds: now)
            #expect(pair.server.connectionCount <= 164)
        }
        let last = try RawConnection(port: port)
        last.write(Self.request)
        turn(pair.server, now, last) { last.statuses() == ["200"] }
    }

    @Test func `two thousand idle connections cost nothing and end together`() throws {
        let pair = try Pair(handler: ok)
        let port = try #require(pair.server.port)
        var all: [RawConnection] = []
        for _ in 0..<2_000 {
            all.append(try RawConnection(port: port))
            pair.server.process(nowMilliseconds: MonotonicClock.nowMilliseconds())
        }
        pair.run { pair.server.connectionCount == 2_000 }
        #expect(try pair.get("/").status == 200)
        all.removeAll()
        pair.run { pair.server.connectionCount <= 1 }
    }
}

extension HTTPCrowdTests {
    /// Opens two connections, one after the other.
    private func fill(_ pair: Pair, writing text: String = "", apart milliseconds: Int64, _ now: inout Int64)
        throws -> [RawConnection]
    {
        var open: [RawConnection] = []
        for count in 1...2 {
            let connection = try RawConnection(port: try #require(pair.server.port))
            open.append(connection)
            connection.write(text)
            turn(pair.server, now) { pair.server.connectionCount == count }
            now += milliseconds
        }
        return open
    }

    /// Runs a server at an instant, and clients, until the condition holds.
    private func turn(
        _ server: HTTPServer, _ now: Int64, _ clients: RawConnection..., until condition: () -> Bool
    ) {
        var turns = 0
        while !condition(), turns < 10_000 {
            server.process(nowMilliseconds: now)
            for client in clients where !client.isEnded { client.process(nowMilliseconds: now) }
            turns += 1
        }
        #expect(condition())
    }
}
