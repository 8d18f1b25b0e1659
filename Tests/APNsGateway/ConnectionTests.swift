import Contracts
import Crypto
import HTTP2
import Service
import Testing

@testable import apns_gateway

/// Connections to a stand-in for APNs.
@Suite(.timeLimit(.minutes(1))) struct ConnectionTests {
    @Test func `the stream limit is followed up and down, and used`() throws {
        let rig = try Rig(streamLimit: 1)
        var (answered, most, limit) = (0, 0, 1)
        rig.react = { rig, request in
            most = max(most, rig.server.openStreams(connectionID: request.connectionID))
            answered += 1
            let wanted = answered == 250 ? 1 : answered == 1 || answered == 255 ? 20 : limit
            if wanted != limit { rig.server.setStreamLimit(connectionID: request.connectionID, wanted) }
            limit = wanted
            return .answer(200)
        }
        rig.push(1...500)
        try rig.run { rig.reports.count == 500 }
        #expect(rig.delivered == 500)
        #expect(Set(rig.requests.map { $0.headers["apns-id"] }).count == 1)
        #expect(rig.requests.count == 500)
        #expect(most > 1 && most <= 20)
        #expect(rig.acceptedConnections == 1)
    }

    @Test func `a refused stream is sent again, not failed`() throws {
        let rig = try Rig()
        var refused = 0
        rig.react = { rig, request in
            guard request.streamID > 1, refused < 5 else { return .answer(200) }
            refused += 1
            rig.server.reset(connectionID: request.connectionID, streamID: request.streamID, code: 7)
            return .silence
        }
        rig.push(1...10)
        try rig.run { rig.reports.count == 10 }
        #expect(rig.delivered == 10)
        #expect(rig.requests.count == 15)
    }

    @Test func `a burst at the start opens one connection`() throws {
        let rig = try Rig()
        rig.server.handshakeDelayMilliseconds = 300
        rig.push(1...500)
        try rig.run { rig.reports.count == 500 }
        #expect(rig.delivered == 500)
        #expect(rig.acceptedConnections == 1)
    }

    @Test func `before a provider token is accepted a connection gets one request at a time`() throws {
        let rig = try Rig()
        var most = 0
        rig.react = { rig, request in
            most = max(most, rig.server.openStreams(connectionID: request.connectionID))
            return rig.requests.count < 4 ? .answer(403, "InvalidProviderToken") : .answer(200)
        }
        rig.push(1...4)
        try rig.run { rig.reports.count == 4 }
        #expect(most == 1)
        #expect(
            rig.reports.map(\.reason) == [
                "InvalidProviderToken", "InvalidProviderToken", "InvalidProviderToken", nil,
            ])
    }

    @Test func `more connections are opened only while requests wait for streams, and not too many`() throws {
        let rig = try Rig(streamLimit: 2)
        rig.push([1])
        try rig.run { rig.delivered == 1 }
        rig.react = { _, _ in .silence }
        rig.push(2...3)
        try rig.settle()
        rig.skip(seconds: 2)
        try rig.settle()
        #expect(rig.acceptedConnections == 1)
        rig.push(4...60)
        // A fresh connection has to show first that its token is taken.
        rig.react = { _, request in request.streamID == 1 ? .answer(200) : .silence }
        for _ in 1...8 {
            try rig.settle()
            rig.skip(seconds: 1)
        }
        #expect(rig.acceptedConnections == 4)
        #expect(rig.connections.connectionCounts == [4])
    }

    @Test func `a limit that APNs has lowered after errors opens no connection`() throws {
        let rig = try Rig(streamLimit: 20)
        rig.push([1])
        try rig.run { rig.delivered == 1 }
        rig.server.setStreamLimit(connectionID: 1, 1)
        rig.react = { _, _ in .silence }
        rig.push(2...50)
        for _ in 1...3 {
            try rig.settle()
            rig.skip(seconds: 1)
        }
        #expect(rig.acceptedConnections == 1)
    }

    @Test func `a connection that was cut silently is found out, and the next push goes over a new one`()
        throws
    {
        let rig = try Rig(servers: 2)
        rig.names.set(.addresses(["127.0.0.1", "127.0.0.2"]))
        rig.handsOverAgain = true
        rig.push(1...3)
        try rig.run { rig.delivered == 3 }
        rig.deaf = [0]
        rig.skip(seconds: 600)
        rig.push([4])
        try rig.settle()
        rig.skip(seconds: 5)
        try rig.run { rig.delivered == 4 }
        #expect(rig.reports.map(\.reason).contains("no-answer"))
        // Only the first push pays.
        rig.push(5...9)
        try rig.run { rig.delivered == 9 }
        #expect(rig.reports.count { $0.result == .retry } == 1)
        #expect(rig.servers[1].acceptedConnections == 1)
    }

    @Test func `while a PING is unanswered new requests go elsewhere`() throws {
        let rig = try Rig(servers: 2)
        rig.names.set(.addresses(["127.0.0.1", "127.0.0.2"]))
        rig.push([1])
        try rig.run { rig.delivered == 1 }
        rig.deaf = [0]
        rig.skip(seconds: 600)
        rig.push([2])
        try rig.settle()
        rig.skip(seconds: 2)
        rig.push([3])
        try rig.run { rig.delivered == 2 }
        #expect(rig.requests.last?.connectionID == 1)
        #expect(rig.servers[1].acceptedConnections == 1)
    }

    @Test func `an idle connection is kept, and given up when its PING stays without an answer`() throws {
        let rig = try Rig()
        rig.push([1])
        try rig.run { rig.delivered == 1 }
        rig.skip(seconds: 3_601)
        try rig.settle()
        #expect(rig.connections.connectionCounts == [1])
        rig.deaf = [0]
        rig.skip(seconds: 3_601)
        try rig.settle()
        rig.skip(seconds: 6)
        try rig.run { rig.connections.connectionCounts == [0] }
        #expect(rig.acceptedConnections == 1)
    }

    @Test func `a handshake that takes too long is tried again`() throws {
        let rig = try Rig()
        rig.server.handshakeDelayMilliseconds = 600_000
        rig.push([1])
        try rig.settle()
        rig.server.handshakeDelayMilliseconds = 0
        rig.skip(seconds: 11)
        try rig.run { rig.delivered == 1 }
        #expect(rig.acceptedConnections == 2)
    }

    @Test func `after a name that could not be resolved sending goes on without a restart`() throws {
        let rig = try Rig()
        rig.handsOverAgain = true
        rig.names.set(.failed("no such name"))
        rig.push(1...3)
        for _ in 1...6 {
            try rig.settle()
            rig.skip(seconds: 10)
        }
        #expect(rig.reports.map(\.reason).contains("not-sent"))
        #expect(rig.acceptedConnections == 0)
        rig.names.set(.addresses(["127.0.0.1"]))
        rig.skip(seconds: 10)
        try rig.run { rig.delivered == 3 }
    }

    @Test func `nothing goes out after its time, and no push waits without a deadline`() throws {
        let rig = try Rig()
        rig.server.handshakeDelayMilliseconds = 600_000
        rig.push(1...5)
        rig.push(6...7, sendBeforeSeconds: 3)
        try rig.settle()
        rig.skip(seconds: 3)
        try rig.run { rig.reports.count == 2 }
        rig.skip(seconds: 27)
        try rig.run { rig.reports.count == 7 }
        #expect(rig.reports.allSatisfy { $0.reason == "not-sent" && $0.result == .retry })
        #expect(rig.requests.isEmpty)
    }

    @Test func `a host that nobody vouches for gets nothing`() throws {
        let rig = try Rig()
        let directory = try #require(rig.directory)
        let stranger = try SelfSignedCertificate.make(hosts: ["localhost"]).certificatePEM
        var context = rig.context
        context.configuration.apns.caFile = try directory.write("stranger.pem", stranger)
        try rig.connections.reload(context)
        rig.push([1], sendBeforeSeconds: 1)
        try rig.run { rig.lines.all.contains { $0.contains("apns-not-reached") } }
        rig.skip(seconds: 1)
        try rig.run { rig.reports.count == 1 }
        #expect(rig.reports.first?.reason == "not-sent")
        #expect(rig.requests.isEmpty)
    }

    @Test func `several 500s in a row on one connection lead to a fresh one, a single one does not`() throws {
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

    @Test func `a failing APNs does not get a connection for each third failure`() throws {
        let rig = try Rig()
        rig.push([1])
        try rig.run { rig.delivered == 1 }
        rig.react = { _, _ in .answer(500, "InternalServerError") }
        rig.push(2...100)
        try rig.run { rig.reports.count == 100 }
        #expect(rig.acceptedConnections <= 2)
    }

    @Test func `after a GOAWAY what was under way is answered, and the rest goes over a new connection`()
        throws
    {
        let rig = try Rig()
        rig.push([1])
        try rig.run { rig.delivered == 1 }
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

    @Test func `IdleTimeout reconnects`() throws {
        let rig = try Rig()
        rig.handsOverAgain = true
        rig.react = { _, request in request.connectionID == 1 ? .answer(400, "IdleTimeout") : .answer(200) }
        rig.push([1])
        try rig.run { rig.delivered == 1 }
        #expect(rig.acceptedConnections == 2)
        #expect(Set(rig.requests.map { $0.headers["apns-id"] }).count == 1)
    }

    @Test func `requests without an answer meet their deadline, the others go on`() throws {
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

    @Test func `a connection that breaks with requests on it leaves them without an answer`() throws {
        let rig = try Rig()
        rig.push([1])
        try rig.run { rig.delivered == 1 }
        rig.react = { _, _ in .silence }
        rig.push(2...6)
        try rig.run { rig.requests.count == 6 }
        rig.server.closeConnection(1)
        try rig.run { rig.reports.count == 6 }
        #expect(
            rig.reports.dropFirst().allSatisfy { $0.reason == "no-answer" && $0.sentAtMilliseconds != nil })
    }

    @Test func `what is paused is given back unless it was written, and the trial goes`() throws {
        let rig = try Rig(streamLimit: 2)
        rig.push([1])
        try rig.run { rig.delivered == 1 }
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
        let rig = try Rig(streamLimit: 2)
        rig.push([1])
        try rig.run { rig.delivered == 1 }
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
        #expect(rig.bench.core.isDrained)
    }

    @Test func `after a reload the requests go over new connections`() throws {
        let rig = try Rig()
        rig.push([1])
        try rig.run { rig.delivered == 1 }
        try rig.connections.reload(rig.context)
        rig.push([2])
        try rig.run { rig.delivered == 2 }
        #expect(rig.requests.map(\.connectionID) == [1, 2])
    }
}
