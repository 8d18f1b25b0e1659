import Contracts
import Crypto
import HTTP2
import Service
import Testing

@testable import apns_gateway

/// Connections to a stand-in for APNs.
@Suite(.timeLimit(.minutes(10))) struct ConnectionTests {
    @Test func `h2-stream-limit: it is followed up and down, and used`() throws {
        // Waiting for a stream opens no second connection here, however slow the machine is.
        var limits = ConnectionLimits()
        limits.crowdedMilliseconds = 60_000
        let rig = try Rig(streamLimit: 1, limits: limits)
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
        #expect(Set(rig.reports.map(\.id)).count == 500)
        #expect(rig.requests.count == 500)
        #expect(most > 1 && most <= 20)
        #expect(rig.acceptedConnections == 1)
    }

    @Test func `h2-stream-limit: a refused stream is sent again, not failed`() throws {
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

    @Test func `h2-cold-start-burst: it opens one connection, also when APNs has started anew`() throws {
        let rig = try Rig()
        rig.server.handshakeDelayMilliseconds = 500
        rig.push(1...500)
        try rig.run { rig.reports.count == 500 }
        #expect(rig.acceptedConnections == 1)
        rig.server.closeConnection(1)
        rig.push(501...1_000)
        try rig.run { rig.reports.count == 1_000 }
        #expect(rig.delivered == 1_000)
        #expect(rig.requests.count == 1_000)
        #expect(rig.acceptedConnections == 2)
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
        let rig = try Rig(streamLimit: 2).warm()
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
        let rig = try Rig(streamLimit: 20).warm()
        rig.server.setStreamLimit(connectionID: 1, 1)
        rig.react = { _, _ in .silence }
        rig.push(2...50)
        for _ in 1...3 {
            try rig.settle()
            rig.skip(seconds: 1)
        }
        #expect(rig.acceptedConnections == 1)
    }

    @Test func `h2-silent-dead-connection: it is found out, and only the first push pays`()
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

    @Test func `h2-silent-dead-connection: while a PING is unanswered new requests go elsewhere`() throws {
        let rig = try Rig(servers: 2)
        rig.names.set(.addresses(["127.0.0.1", "127.0.0.2"]))
        try rig.warm()
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
        let rig = try Rig().warm()
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

    @Test func `h2-first-request-times-out: a handshake that takes too long is tried again`() throws {
        let rig = try Rig()
        rig.server.handshakeDelayMilliseconds = 600_000
        rig.push([1])
        try rig.settle()
        rig.server.handshakeDelayMilliseconds = 0
        rig.skip(seconds: 11)
        try rig.run { rig.delivered == 1 }
        #expect(rig.acceptedConnections == 2)
    }

    @Test func `h2-first-request-times-out: after a name that could not be resolved sending goes on`() throws
    {
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

    @Test func `h2-first-request-times-out: no push waits without a deadline`() throws {
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
}
