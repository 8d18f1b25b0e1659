import Contracts
import HTTP2
import Service
import Testing

@testable import apns_gateway

/// What APNs says or leaves unsaid, and what follows on the connection.
@Suite(.timeLimit(.minutes(10))) struct TroubleTests {
    @Test func `h2-bad-connection-answers-500: several in a row lead to a fresh one, a single one does not`()
        throws
    {
        let rig = try Rig()
        rig.handsOverAgain = true
        rig.react = { rig, request in
            rig.requests.count == 2 ? .answer(500, "InternalServerError") : .answer(200)
        }
        for device in 1...4 {
            rig.push([Int64(device)])
            try rig.settle()
        }
        #expect(rig.acceptedConnections == 1)
        rig.react = { _, request in
            request.connectionID == 1 ? .answer(500, "InternalServerError") : .answer(200)
        }
        rig.push(11...13)
        try rig.settle()
        rig.skip(seconds: 10)
        try rig.run { rig.delivered == 7 }
        #expect(rig.acceptedConnections == 2)
    }

    @Test func `h2-bad-connection-answers-500: a failing APNs does not get a connection for each third`()
        throws
    {
        let rig = try Rig().warm()
        rig.react = { _, _ in .answer(500, "InternalServerError") }
        rig.push(2...100)
        try rig.run { rig.reports.count == 100 }
        #expect(rig.acceptedConnections <= 2)
    }

    @Test func `after a GOAWAY what was under way is answered, and the rest goes over a new connection`()
        throws
    {
        let rig = try Rig().warm()
        rig.react = { _, _ in .silence }
        rig.push(2...11)
        try rig.run { rig.requests.count == 11 }
        let streams = rig.requests.dropFirst().map(\.streamID).sorted()
        rig.server.goAway(
            connectionID: 1, lastStreamID: streams[4], debugData: Array(#"{"reason":"Shutdown"}"#.utf8))
        rig.react = { _, _ in .answer(200) }
        try rig.run { rig.delivered == 6 }
        #expect(rig.requests.count == 16)
        for stream in streams[...4] {
            rig.server.respond(connectionID: 1, streamID: stream, status: 200)
        }
        try rig.run { rig.delivered == 11 }
        #expect(rig.reports.count == 11)
        #expect(rig.acceptedConnections == 2)
        #expect(rig.lines.all.contains { $0.contains("goaway") && $0.contains("Shutdown") })
    }

    @Test(arguments: [
        (413, "PayloadTooLarge"), (400, "BadCollapseId"), (400, "PayloadEmpty"), (404, "BadPath"),
        (405, "MethodNotAllowed"),
    ])
    func `gw-permanent-refusals: one attempt, and the reason`(_ status: Int, _ reason: String) throws {
        let rig = try Rig().warm()
        rig.handsOverAgain = true
        rig.react = { rig, _ in rig.requests.count == 2 ? .answer(status, reason) : .answer(200) }
        rig.push(2...3)
        try rig.run { rig.reports.count == 3 }
        rig.skip(seconds: 25)
        try rig.settle()
        #expect(rig.requests.count == 3)
        let refused = rig.reports.filter { $0.result == .failed }
        #expect(refused.map(\.status) == [status])
        #expect(refused.map(\.reason) == [reason])
        // Only 410 and BadDeviceToken say something of the token.
        #expect(refused.allSatisfy { $0.apnsTimestampMilliseconds == nil })
        #expect(rig.acceptedConnections == 1)
    }

    @Test func `gw-permanent-refusals: IdleTimeout is about the connection, and the push goes again`() throws
    {
        let rig = try Rig()
        rig.handsOverAgain = true
        rig.react = { _, request in request.connectionID == 1 ? .answer(400, "IdleTimeout") : .answer(200) }
        rig.push([1])
        try rig.run { rig.delivered == 1 }
        #expect(rig.acceptedConnections == 2)
        #expect(Set(rig.requests.map { $0.headers["apns-id"] }).count == 1)
    }

    @Test func `a push counts as sent when it has gone out, however long a token took`() throws {
        let rig = try Rig().warm()
        rig.delayNextToken(seconds: 3)
        rig.push([2])
        let before = rig.bench.now.wall
        try rig.run { rig.reports.count == 2 }
        let sentAt = try #require(rig.reports.last?.sentAtMilliseconds)
        #expect(sentAt >= before + 3_000 && sentAt <= rig.now.wall)
    }

    @Test func `what is late by the time there is a token is not sent`() throws {
        let rig = try Rig().warm()
        rig.delayNextToken(seconds: 31)
        rig.push([2])
        try rig.run { rig.reports.count == 2 }
        #expect(rig.reports.last?.result == .retry)
        #expect(rig.requests.count == 1)
    }

    @Test func `gw-apns-id: it is kept over a retry, and an echo in upper case counts as the same`() throws {
        let rig = try Rig()
        rig.handsOverAgain = true
        rig.react = { rig, request in
            let id = request.headers["apns-id"] ?? ""
            rig.server.respond(
                connectionID: request.connectionID, streamID: request.streamID,
                status: rig.requests.count == 1 ? 503 : 200,
                headers: HTTP2Headers([("apns-id", id.uppercased())]))
            return .silence
        }
        rig.push([1])
        try rig.run { rig.reports.count == 1 }
        rig.skip(seconds: 5)
        try rig.run { rig.delivered == 1 }
        let ids = rig.requests.compactMap { $0.headers["apns-id"] }
        #expect(ids.count == 2 && Set(ids).count == 1)
        #expect(ids[0] == ids[0].lowercased() && ids[0] != ids[0].uppercased())
    }

    @Test func `gw-no-answer: they meet their deadline and go again, the others go on`() throws {
        let rig = try Rig()
        rig.handsOverAgain = true
        var isMute = true
        rig.react = { rig, request in
            isMute && rig.requests.count % 18 == 0 ? .silence : .answer(200)
        }
        rig.push(1...90)
        try rig.run { rig.delivered == 85 }
        #expect(rig.reports.count == 85)
        isMute = false
        // Half of the deadline at a time: the connection's own PINGs are answered.
        for _ in 1...5 {
            rig.skip(seconds: 4)
            try rig.settle()
        }
        rig.skip(seconds: 2)
        try rig.run { rig.delivered == 90 }
        #expect(rig.reports.count { $0.reason == "no-answer" } == 5)
        let resets = rig.serverEvents.count {
            if case .streamClosed(_, _, let code) = $0 { code == 8 } else { false }
        }
        #expect(resets == 5)
        #expect(rig.acceptedConnections == 1)
    }

    @Test func `gw-no-answer: SIGTERM meanwhile ends within four seconds, and says so of each`() throws {
        let rig = try Rig(streamLimit: 20).warm()
        rig.react = { _, _ in .silence }
        rig.push(2...31)
        try rig.run { rig.requests.count == 21 }
        rig.connections.drain()
        try rig.run { rig.reports.count == 11 }
        rig.skip(seconds: 3)
        try rig.settle()
        #expect(!rig.connections.drained)
        rig.skip(seconds: 1)
        try rig.run { rig.connections.drained && rig.bench.core.underWay == 0 }
        #expect(rig.reports.count { $0.reason == "not-sent" && $0.sentAtMilliseconds == nil } == 10)
        #expect(rig.reports.count { $0.reason == "no-answer" && $0.sentAtMilliseconds != nil } == 20)
        #expect(rig.reports.dropFirst().allSatisfy { $0.result == .retry })
    }

    @Test func `a connection that breaks with requests on it leaves them without an answer`() throws {
        let rig = try Rig().warm()
        rig.react = { _, _ in .silence }
        rig.push(2...6)
        try rig.run { rig.requests.count == 6 }
        rig.server.closeConnection(1)
        try rig.run { rig.reports.count == 6 }
        #expect(
            rig.reports.dropFirst().allSatisfy { $0.reason == "no-answer" && $0.sentAtMilliseconds != nil })
    }

    @Test func `what is paused is given back unless it was written, and the trial goes`() throws {
        let rig = try Rig(streamLimit: 2).warm()
        rig.react = { _, _ in .silence }
        rig.push(2...6)
        try rig.run { rig.requests.count == 3 }
        rig.perform(rig.bench.hello(paused: [PauseTests.pause]))
        rig.push([7], trial: true)
        try rig.run { rig.reports.count == 4 }
        #expect(rig.reports.dropFirst().allSatisfy { $0.reason == "paused" })
        for request in rig.requests.dropFirst() {
            rig.server.respond(connectionID: 1, streamID: request.streamID, status: 200)
        }
        try rig.run { rig.requests.count == 4 }
        #expect(rig.delivered == 3)
    }

    @Test func `a process that stops gives back what waits and finishes what is under way`() throws {
        let rig = try Rig(streamLimit: 2).warm()
        rig.react = { _, _ in .silence }
        rig.push(2...6)
        try rig.run { rig.requests.count == 3 }
        rig.connections.drain()
        try rig.run { rig.reports.count == 4 }
        #expect(!rig.connections.drained)
        rig.push([7])
        try rig.run { rig.reports.count == 5 }
        #expect(rig.reports.dropFirst().allSatisfy { $0.reason == "not-sent" })
        for request in rig.requests.dropFirst() {
            rig.server.respond(connectionID: 1, streamID: request.streamID, status: 200)
        }
        try rig.run { rig.connections.drained && rig.delivered == 3 }
        #expect(rig.bench.core.underWay == 0)
    }

    @Test func `a gateway that runs alone sends all that waits before it stops`() throws {
        let rig = try Rig(streamLimit: 2, isAlone: true)
        rig.push(1...20)
        rig.connections.drain()
        #expect(!rig.connections.drained)
        try rig.run { rig.connections.drained && rig.delivered == 20 }
    }

    @Test func `how many connections and how often a PING can be set`() throws {
        let limits = try ConnectionLimits(["connections": "2", "idle-ping": "90", "apns": "x"])
        #expect(limits.connectionsMax == 2)
        #expect(limits.idlePingMilliseconds == 90_000)
        #expect(try ConnectionLimits([:]) == ConnectionLimits())
    }

    @Test(arguments: [("connections", "0"), ("connections", "65"), ("idle-ping", "x"), ("idle-ping", "-1")])
    func `other values are refused`(name: String, value: String) {
        #expect(throws: ServiceFailure.self) { try ConnectionLimits([name: value]) }
    }

    @Test func `after a reload the requests go over new connections`() throws {
        let rig = try Rig().warm()
        try rig.connections.reload(rig.context)
        rig.push([2])
        try rig.run { rig.delivered == 2 }
        #expect(rig.requests.map(\.connectionID) == [1, 2])
    }
}
