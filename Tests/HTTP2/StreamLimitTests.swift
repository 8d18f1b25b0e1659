import HTTP2
import Testing

@Suite(.timeLimit(.minutes(10)))
struct StreamLimitTests {
    /// Keeps a client full until all tokens are answered; refused ones go again.
    private func drive(_ client: Client, _ count: Int, in world: World) throws -> [Int: Int] {
        var queue = Array((1...count).reversed())
        var answers: [Int: Int] = [:]
        var seen = 0
        try world.run {
            while seen < client.events.count {
                switch client.events[seen] {
                case .response(let response): answers[response.token, default: 0] += 1
                case .streamFailed(let token, let reason) where reason.isSurelyUnprocessed:
                    queue.append(token)
                default: break
                }
                seen += 1
            }
            while let token = queue.last, client.submit(token, at: world.loop.now) { queue.removeLast() }
            return answers.count == count
        }
        return answers
    }

    @Test func `500 requests go out under a limit of 1 that becomes 20`() throws {
        let world = try World(World.limited(to: 1))
        var mostOpen = [0, 0]
        world.handler = { world, request in
            let phase = world.requests.count > 1 ? 1 : 0
            mostOpen[phase] = max(
                mostOpen[phase], world.server.openStreams(connectionID: request.connectionID))
            if phase == 0 { world.server.setStreamLimit(connectionID: request.connectionID, 20) }
            world.answer(request)
        }
        let client = try world.connected()
        let answers = try drive(client, 500, in: world)
        #expect(answers.values.allSatisfy { $0 == 1 })
        #expect(world.requests.count == 500)
        #expect(client.failures.isEmpty)
        #expect(client.limits == [1, 20])
        #expect(mostOpen[0] == 1)
        #expect(mostOpen[1] > 1 && mostOpen[1] <= 20)
    }

    @Test func `the limit is followed down and up again`() throws {
        let world = try World(World.limited(to: 20))
        world.handler = { world, request in
            if world.requests.count == 250 { world.server.setStreamLimit(connectionID: 1, 1) }
            if world.requests.count == 280 { world.server.setStreamLimit(connectionID: 1, 20) }
            world.answer(request)
        }
        let client = try world.connected()
        let answers = try drive(client, 500, in: world)
        #expect(answers.count == 500)
        #expect(answers.values.allSatisfy { $0 == 1 })
        #expect(world.requests.count == 500)
        #expect(client.limits == [20, 1, 20])
        #expect(client.failures.allSatisfy { $0 == .refused })
    }

    @Test func `streams above the limit are refused and reported as refused`() throws {
        let world = try World(World.limited(to: 5))
        world.handler = { _, _ in }
        let client = try world.overbearing(50)
        #expect(!client.submit(51, at: world.loop.now))
        // All leave before the server's SETTINGS can have come.
        client.connection.process(nowMilliseconds: world.loop.now)
        try world.run { client.failures.count == 45 }
        #expect(client.failuresByToken.map(\.0) == Array(6...50))
        #expect(client.failures.allSatisfy { $0 == .refused && $0.isSurelyUnprocessed })
        #expect(world.requests.count == 5)
        let refused = world.serverEvents.filter { if case .refused = $0 { true } else { false } }
        #expect(refused.count == 45)
        #expect(client.connection.isOpen)
        #expect(client.connection.availableStreams == 0)
    }

    @Test func `one stream is assumed before the first SETTINGS and the cap holds after them`() throws {
        let world = try World()
        var options = HTTP2ConnectionOptions()
        options.streamCap = 3
        let client = world.connect(options: options)
        #expect(client.connection.availableStreams == 0)
        try world.run { client.events.contains(.ready) }
        if client.limits.isEmpty { #expect(client.connection.availableStreams == 1) }
        try world.run { !client.limits.isEmpty }
        #expect(client.limits == [3])
        world.handler = { _, _ in }
        #expect((1...5).map { client.submit($0, at: world.loop.now) } == [true, true, true, false, false])
    }

    @Test func `a limit below what is open closes nothing`() throws {
        let world = try World(World.limited(to: 10))
        world.handler = { _, _ in }
        let client = try world.connected()
        for token in 1...10 { client.submit(token, at: world.loop.now) }
        try world.run { world.requests.count == 10 }
        world.server.setStreamLimit(connectionID: 1, 0)
        try world.run { client.limits == [10, 0] }
        #expect(client.connection.availableStreams == 0)
        for request in world.requests { world.answer(request) }
        try world.run { client.responses.count == 10 }
        #expect(client.connection.availableStreams == 0)
    }
}
