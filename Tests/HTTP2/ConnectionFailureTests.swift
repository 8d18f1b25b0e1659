import HTTP2
import Testing

@Suite(.timeLimit(.minutes(10)))
struct ConnectionFailureTests {
    /// A client behind a relay with so many requests waiting at the server.
    private func waiting(_ count: Int) throws -> (World, Relay, Client) {
        let world = try World()
        world.handler = { _, _ in }
        let relay = Relay(to: world.server.port)
        world.loop.parts.append(relay)
        let client = try world.connected(port: relay.port)
        for token in 0..<count { client.submit(token + 1, at: world.loop.now) }
        try world.run { world.requests.count == count }
        return (world, relay, client)
    }

    @Test func `streams above the last one of a GOAWAY are surely not processed`() throws {
        let (world, _, client) = try waiting(4)
        world.server.goAway(
            connectionID: 1, lastStreamID: 3, debugData: Array(#"{"reason":"Shutdown"}"#.utf8))
        try world.run { client.failures.count == 2 }
        #expect(
            client.events.contains(
                .goAway(lastStreamID: 3, errorCode: 0, debugData: Array(#"{"reason":"Shutdown"}"#.utf8))))
        #expect(client.failuresByToken.map(\.0) == [3, 4])
        #expect(client.failures.allSatisfy { $0 == .goAwayAboveLast && $0.isSurelyUnprocessed })
        #expect(!client.submit(9, at: world.loop.now))
        for request in world.requests { world.answer(request) }
        try world.run { client.connection.isClosed }
        #expect(client.responses.map(\.token) == [1, 2])
        #expect(client.closeReason == .goAway)
    }

    @Test func `a GOAWAY with last id 0 takes all streams back`() throws {
        let (world, _, client) = try waiting(3)
        world.server.goAway(connectionID: 1, lastStreamID: 0, code: 2)
        try world.run { client.connection.isClosed }
        #expect(client.failures == [.goAwayAboveLast, .goAwayAboveLast, .goAwayAboveLast])
        #expect(client.closeReason == .goAway)
    }

    @Test func `requests queued when a GOAWAY comes are surely not processed`() throws {
        let (world, _, client) = try waiting(0)
        world.server.goAway(connectionID: 1)
        client.submit(1, at: world.loop.now)
        world.server.flush()
        world.loop.parts.removeAll { $0 === world.server }
        try world.run { client.connection.isClosed }
        #expect(client.failures.allSatisfy { $0.isSurelyUnprocessed })
        #expect(client.failures.count == 1)
    }

    @Test func `a cut connection leaves sent requests in doubt`() throws {
        let (world, relay, client) = try waiting(2)
        relay.cut()
        try world.run { client.connection.isClosed }
        #expect(client.failures == [.connectionLost(sent: true), .connectionLost(sent: true)])
        #expect(client.failures.allSatisfy { !$0.isSurelyUnprocessed })
        guard case .lost = client.closeReason else {
            Issue.record("closed for \(String(describing: client.closeReason))")
            return
        }
    }

    @Test func `a request that was never written is known not to be processed`() throws {
        let (world, relay, client) = try waiting(1)
        client.submit(2, at: world.loop.now)
        relay.cut()
        world.loop.parts.removeAll { $0 === client.connection }
        client.connection.close()
        world.loop.turn()
        #expect(client.failuresByToken.map(\.0) == [1, 2])
        #expect(client.failures == [.connectionLost(sent: true), .connectionLost(sent: false)])
    }

    @Test func `a request whose last byte is held back by the window does not count as sent`() throws {
        let (world, relay, client) = try waiting(0)
        client.submit(1, at: world.loop.now, body: [UInt8](repeating: 1, count: 100_000))
        relay.swallow()
        world.loop.turn()
        relay.cut()
        try world.run { client.connection.isClosed }
        #expect(client.failures == [.connectionLost(sent: false)])
    }

    @Test func `requests are told as written when their last byte is, not while the window holds them back`()
        throws
    {
        let (world, _, client) = try waiting(0)
        // The first window of a connection has 65,535 bytes, and the server that grants more does not run here.
        for token in 0..<10 {
            client.submit(token, at: world.loop.now, body: [UInt8](repeating: 1, count: 10_000))
        }
        for _ in 1...20 { client.connection.process(nowMilliseconds: world.loop.now) }
        #expect(client.connection.takeWritten() == Array(0..<6))
        #expect(client.connection.takeWritten() == [])
        try world.run { world.requests.count == 10 }
        #expect(client.connection.takeWritten().sorted() == Array(6..<10))
        #expect(client.connection.takeWritten() == [])
    }

    @Test func `a deadline resets the stream and frees its place`() throws {
        let (world, _, client) = try waiting(1)
        let now = world.loop.now
        #expect(
            client.connection.submit(token: 2, headers: push(2), body: [], deadlineMilliseconds: now + 20_000)
        )
        try world.run { world.requests.count == 2 }
        #expect(client.connection.nextDeadlineMilliseconds == now + 20_000)
        world.loop.skip(milliseconds: 20_000)
        try world.run {
            world.serverEvents.contains(.streamClosed(connectionID: 1, streamID: 3, errorCode: 8))
        }
        #expect(client.failuresByToken.map(\.0) == [2])
        #expect(client.failures == [.deadline(sent: true)])
        #expect(client.connection.openStreams == 1)
        #expect(!world.server.respond(connectionID: 1, streamID: 3, status: 200))
        world.answer(world.requests[0])
        try world.run { client.responses.map(\.token) == [1] }
    }

    @Test func `a reset stream is reported with its code`() throws {
        let (world, _, client) = try waiting(2)
        world.server.reset(connectionID: 1, streamID: 1, code: 2)
        try world.run { client.failures.count == 1 }
        #expect(client.failures == [.reset(2)])
        #expect(!HTTP2StreamFailure.reset(2).isSurelyUnprocessed)
        #expect(client.connection.isOpen)
    }

    @Test func `a silent connection is noticed by its PING`() throws {
        let (world, relay, client) = try waiting(1)
        relay.swallow()
        client.connection.ping(nowMilliseconds: world.loop.now)
        world.loop.turn()
        world.loop.skip(milliseconds: 9_000)
        world.loop.turn()
        #expect(client.connection.isOpen)
        world.loop.skip(milliseconds: 1_100)
        try world.run { client.connection.isClosed }
        #expect(client.closeReason == .pingTimeout)
        #expect(client.failures == [.connectionLost(sent: true)])
    }

    @Test func `a connection closed by the server is told`() throws {
        let (world, _, client) = try waiting(1)
        world.server.closeConnection(1)
        try world.run { client.connection.isClosed }
        #expect(client.failures == [.connectionLost(sent: true)])
        #expect(client.connection.drainEvents().isEmpty)
    }

    @Test func `requests held back by a lower limit end at their deadline as not sent`() throws {
        let world = try World(World.limited(to: 5))
        world.handler = { _, _ in }
        let client = try world.overbearing(50)
        try world.run { world.requests.count == 5 && client.limits == [5] }
        world.loop.skip(milliseconds: 600_000)
        try world.run { client.failures.count == 50 }
        #expect(client.failuresByToken.map(\.0) == Array(1...50))
        #expect(client.failures.prefix(5).allSatisfy { $0 == .deadline(sent: true) })
        #expect(client.failures.dropFirst(5).allSatisfy { $0 == .deadline(sent: false) })
        world.handler = { $0.answer($1) }
        client.submit(51, at: world.loop.now)
        try world.run { client.responses.map(\.token) == [51] }
        #expect(world.requests.count == 6)
    }

    @Test func `a full socket is waited for without turning round and round`() throws {
        let (world, client) = try flooded()
        #expect((client.connection.nextDeadlineMilliseconds ?? 0) > 0)
        world.loop.parts.append(world.server)
        try world.run { client.responses.count == 1_000 }
        #expect(world.requests.count == 1_000)
    }

    @Test func `what did not fit into the socket is known not to be sent`() throws {
        let (world, client) = try flooded()
        client.connection.close()
        world.loop.turn()
        let sent = client.failures.prefix { $0 == .connectionLost(sent: true) }.count
        #expect(sent > 0 && sent < 1_000)
        #expect(client.failures.dropFirst(sent).allSatisfy { $0 == .connectionLost(sent: false) })
        world.handler = { _, _ in }
        world.loop.parts = [world.server]
        try world.run { world.serverEvents.contains { if case .closed = $0 { true } else { false } } }
        #expect(world.requests.count == sent)
    }

    /// A client that has given a server that does not read more than the socket takes.
    private func flooded() throws -> (World, Client) {
        let world = try World()
        let client = try world.connected()
        world.loop.parts.removeAll { $0 === world.server }
        var headers = push(1)
        headers.append("x-long", String(repeating: "z", count: 7_000), indexed: false)
        for token in 1...1_000 {
            let isTaken = client.connection.submit(
                token: token, headers: headers, body: [], deadlineMilliseconds: world.loop.now + 600_000)
            #expect(isTaken)
        }
        world.loop.turn()
        return (world, client)
    }
}
