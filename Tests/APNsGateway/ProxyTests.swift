import Contracts
import HTTP2
import Service
import Testing

@testable import apns_gateway

/// The way to APNs through a proxy.
@Suite(.timeLimit(.minutes(10))) struct ProxyTests {
    @Test func `pushes go through the proxy that the configuration names, with its user and password`() throws
    {
        let proxy = TunnelProxy("Basic dXNlcjpwQHNz")
        defer { proxy.close() }
        let rig = try Rig(proxy: "http://user:p%40ss@proxy.example:\(proxy.port)")
        rig.push(1...20)
        try rig.run { rig.delivered == 20 }
        #expect(proxy.requests == ["CONNECT localhost:\(rig.server.port) HTTP/1.1"])
        #expect(rig.names.asked == ["proxy.example"])
        #expect(!rig.lines.all.contains { $0.contains("p@ss") || $0.contains("p%40ss") })
    }

    @Test func `a proxy that refuses is named in the log, and the push is given back at its time`() throws {
        let proxy = TunnelProxy("Basic eDp5")
        defer { proxy.close() }
        let rig = try Rig(proxy: "http://user:secret@proxy.example:\(proxy.port)")
        rig.push([1])
        try rig.run { rig.lines.all.contains { $0.contains("apns-not-reached") } }
        let line = rig.lines.all.first { $0.contains("apns-not-reached") }
        #expect(line?.contains("407") == true && line?.contains("proxy.example") == true)
        rig.skip(seconds: 30)
        try rig.run { rig.reports.count == 1 }
        #expect(rig.reports.first?.reason == "not-sent")
        #expect(!rig.lines.all.contains { $0.contains("secret") || $0.contains("dXNlcjpzZWNyZXQ") })
    }

    @Test func `a reload changes the way`() throws {
        let proxy = TunnelProxy()
        defer { proxy.close() }
        let rig = try Rig(proxy: "http://127.0.0.1:\(proxy.port)").warm()
        var context = rig.context
        context.configuration.apns.proxy = nil
        try rig.connections.reload(context)
        rig.push([2])
        try rig.run { rig.delivered == 2 }
        #expect(proxy.requests.count == 1)
        #expect(rig.acceptedConnections == 2)
    }
}
