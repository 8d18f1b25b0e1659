import HTTP2
import Testing

@Suite(.timeLimit(.minutes(10)))
struct HTTP2ServerTests {
    @Test func `a field that stands twice is seen twice`() throws {
        let world = try World()
        let client = try world.connected()
        var headers = push(1)
        headers.append("apns-id", "again")
        #expect(client.connection.submit(token: 1, headers: headers, body: [], deadlineMilliseconds: .max))
        try world.run { !client.responses.isEmpty }
        #expect(world.requests.first?.headers.all("apns-id") == ["id-1", "again"])
    }

    @Test func `a host without an authority is taken`() throws {
        let world = try World()
        let client = try world.connected()
        let headers = HTTP2Headers([
            (":method", "POST"), (":scheme", "https"), (":path", "/3/device/00"), ("host", "localhost"),
        ])
        #expect(client.connection.submit(token: 1, headers: headers, body: [], deadlineMilliseconds: .max))
        try world.run { !client.responses.isEmpty }
        #expect(world.requests.first?.authority == "localhost")
        #expect(world.requests.first?.headers[":authority"] == nil)
    }

    @Test(arguments: [(7_000, 200), (8_000, 431)])
    func `a header list above 8,000 bytes is answered 431`(size: Int, status: Int) throws {
        let world = try World()
        let client = try world.connected()
        var headers = push(1)
        headers.append("x-long", String(repeating: "a", count: size))
        #expect(client.connection.submit(token: 1, headers: headers, body: [], deadlineMilliseconds: .max))
        try world.run { !client.responses.isEmpty }
        #expect(client.responses.first?.status == status)
        #expect(world.requests.count == (status == 200 ? 1 : 0))
    }

    @Test func `answers may come late and in any order`() throws {
        let world = try World()
        world.handler = { _, _ in }
        let clients = [try world.connected(), try world.connected()]
        for client in clients {
            for token in 1...3 { client.submit(token, at: world.loop.now) }
        }
        try world.run { world.requests.count == 6 }
        for request in world.requests.reversed() { world.answer(request) }
        #expect(!world.server.respond(connectionID: 1, streamID: 1, status: 200))
        try world.run { clients.allSatisfy { $0.responses.count == 3 } }
        #expect(clients[0].responses.map(\.token) == [3, 2, 1])
        #expect(world.server.connectionIDs == [1, 2])
    }

    @Test func `an answer to a stream or connection that is gone is refused`() throws {
        let world = try World()
        #expect(!world.server.respond(connectionID: 5, streamID: 1, status: 200))
        #expect(!world.server.goAway(connectionID: 5))
        #expect(!world.server.setStreamLimit(connectionID: 5, 1))
        _ = try world.connected()
        #expect(!world.server.respond(connectionID: 1, streamID: 1, status: 200))
        #expect(!world.server.reset(connectionID: 1, streamID: 1, code: 8))
    }

    @Test func `connections beyond the limit are closed`() throws {
        var options = HTTP2ServerOptions()
        options.maxConnections = 1
        let world = try World(options)
        _ = try world.connected()
        let second = world.connect()
        try world.run { second.connection.isClosed }
        #expect(world.server.connectionIDs == [1])
    }

    @Test func `a client that never shakes hands is dropped`() throws {
        let world = try World()
        let relay = Relay(to: world.server.port)
        world.loop.parts.append(relay)
        let client = world.connect(port: relay.port)
        try world.run { world.server.acceptedConnections == 1 }
        relay.swallow()
        world.loop.parts.removeAll { $0 === client.connection }
        if world.server.connectionIDs.isEmpty {
            world.loop.skip(milliseconds: 10_000)
            try world.run { !world.serverEvents.isEmpty }
            #expect(
                world.serverEvents == [
                    .handshakeFailed(connectionID: 1, reason: "the handshake took too long")
                ])
        }
    }

    @Test func `closing says goodbye to all`() throws {
        let world = try World()
        let clients = [try world.connected(), try world.connected()]
        world.server.close()
        try world.run { clients.allSatisfy { $0.connection.isClosed } }
        #expect(world.server.connectionIDs.isEmpty)
        let closed = world.serverEvents.filter { if case .closed = $0 { true } else { false } }
        #expect(closed.count == 2)
    }
}
