import Testing

@testable import HTTP2

@Suite(.timeLimit(.minutes(10)))
struct HTTP2ConnectionTests {
    @Test func `a request arrives as it was given and its answer comes back`() throws {
        let world = try World()
        world.handler = { $0.answer($1, status: 400, body: #"{"reason":"BadDeviceToken"}"#) }
        let client = try world.connected()
        #expect(client.events.first == .ready)
        client.submit(7, at: world.loop.now, body: Array(#"{"aps":{}}"#.utf8))
        try world.run { !client.responses.isEmpty }

        let request = try #require(world.requests.first)
        #expect(request.method == "POST")
        #expect(request.path == "/3/device/00112233")
        #expect(request.authority == "localhost")
        #expect(request.headers["authorization"] == "bearer test")
        #expect(request.body == Array(#"{"aps":{}}"#.utf8))
        let response = try #require(client.responses.first)
        #expect(response.token == 7)
        #expect(response.status == 400)
        #expect(response.headers["apns-id"] == "id-7")
        #expect(response.body == Array(#"{"reason":"BadDeviceToken"}"#.utf8))
        #expect(client.connection.openStreams == 0)
    }

    @Test func `only the response fields asked for are kept`() throws {
        let world = try World()
        world.handler = { world, request in
            world.server.respond(
                connectionID: request.connectionID, streamID: request.streamID, status: 200,
                headers: HTTP2Headers([("server", "x"), ("apns-unique-id", "u"), ("date", "now")]))
        }
        let client = try world.connected()
        client.submit(1, at: world.loop.now)
        try world.run { !client.responses.isEmpty }
        #expect(client.responses.first?.headers == HTTP2Headers([("apns-unique-id", "u")]))
        #expect(client.responses.first?.body == [])
    }

    @Test func `of the response fields asked for only so many bytes are kept`() throws {
        let world = try World()
        let long = String(repeating: "x", count: 3_000)
        world.handler = { world, request in
            let fields = (0..<10).map { _ in ("retry-after", long) } + [("apns-id", "id")]
            world.server.respond(
                connectionID: request.connectionID, streamID: request.streamID, status: 200,
                headers: HTTP2Headers(fields))
        }
        let client = try world.connected()
        client.submit(1, at: world.loop.now)
        try world.run { !client.responses.isEmpty }
        let headers = try #require(client.responses.first?.headers)
        #expect(headers.listSize <= HTTP2ConnectionOptions().maxResponseHeaderBytes)
        #expect(headers["apns-id"] == "id")
    }

    @Test(arguments: [0, 1, 4_096, 40_000, 300_000])
    func `a body of any size goes through unchanged`(size: Int) throws {
        var options = HTTP2ServerOptions()
        options.maxBodyBytes = 1_000_000
        let world = try World(options)
        world.handler = { world, request in
            world.server.respond(
                connectionID: request.connectionID, streamID: request.streamID, status: 200,
                body: request.body)
        }
        var limits = HTTP2ConnectionOptions()
        limits.maxResponseBodyBytes = 1_000_000
        let client = try world.connected(options: limits)
        let body = (0..<size).map { UInt8(truncatingIfNeeded: $0 &* 31) }
        client.submit(1, at: world.loop.now, body: body)
        try world.run { !client.responses.isEmpty }
        #expect(world.requests.first?.body == body)
        #expect(client.responses.first?.body == body)
    }

    @Test func `a body beyond the limit is cut and its length told`() throws {
        var options = HTTP2ServerOptions()
        options.maxBodyBytes = 100
        let world = try World(options)
        world.handler = { $0.answer($1, body: String(repeating: "x", count: 70_000)) }
        let client = try world.connected()
        client.submit(1, at: world.loop.now, body: [UInt8](repeating: 1, count: 5_000))
        try world.run { !client.responses.isEmpty }
        #expect(world.requests.first?.body.count == 100)
        #expect(world.requests.first?.bodyBytes == 5_000)
        #expect(client.responses.first?.body.count == 65_536)
    }

    @Test func `a PING is answered`() throws {
        let world = try World()
        let client = try world.connected()
        client.connection.ping(nowMilliseconds: world.loop.now)
        client.connection.ping(nowMilliseconds: world.loop.now)
        try world.run { if case .pong = client.events.last { true } else { false } }
        #expect(client.connection.nextDeadlineMilliseconds == nil)
    }

    @Test func `shutdown waits for open requests and takes no more`() throws {
        let world = try World()
        world.handler = { _, _ in }
        let client = try world.connected()
        client.submit(1, at: world.loop.now)
        try world.run { world.requests.count == 1 }
        client.connection.shutdown()
        try world.run { !client.connection.isOpen }
        #expect(!client.submit(2, at: world.loop.now))
        world.answer(world.requests[0])
        try world.run { client.connection.isClosed }
        #expect(client.responses.map(\.token) == [1])
        #expect(client.closeReason == .local)
        try world.run { world.server.connectionIDs.isEmpty }
    }

    @Test func `an answer before the request is complete counts and ends it`() throws {
        let world = try World()
        let client = try world.connected()
        // The header list is too long, and the window holds most of the body back.
        var headers = push(1)
        for number in 0..<300 { headers.append("x-\(number)", "some value that takes room") }
        let body = [UInt8](repeating: 1, count: 2_000_000)
        #expect(client.connection.submit(token: 1, headers: headers, body: body, deadlineMilliseconds: .max))
        try world.run { !client.responses.isEmpty }
        #expect(client.responses.first?.status == 431)
        #expect(client.failures.isEmpty)
        client.submit(2, at: world.loop.now)
        try world.run { client.responses.count == 2 }
    }

    @Test func `a connection whose stream ids are used up ends itself`() throws {
        let world = try World()
        let client = try world.connected()
        client.connection.session?.skip(to: Int32.max)
        #expect(client.submit(1, at: world.loop.now))
        #expect(!client.submit(2, at: world.loop.now))
        try world.run { client.connection.isClosed }
        #expect(client.responses.map(\.token) == [1])
        #expect(client.closeReason == .streamIDsUsedUp)
    }

    @Test func `a response field that is missing or a body that is empty makes no difference`() throws {
        let world = try World()
        world.handler = { world, request in
            let status = request.bodyBytes == 0 ? 410 : 200
            world.server.respond(
                connectionID: request.connectionID, streamID: request.streamID, status: status)
        }
        let client = try world.connected()
        client.submit(1, at: world.loop.now, body: [])
        client.submit(2, at: world.loop.now)
        try world.run { client.responses.count == 2 }
        #expect(client.responses.map(\.status) == [410, 200])
        #expect(client.responses.allSatisfy { $0.headers.isEmpty && $0.body.isEmpty })
    }
}
