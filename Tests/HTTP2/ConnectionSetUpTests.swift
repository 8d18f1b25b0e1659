import HTTP2
import Testing

@Suite(.timeLimit(.minutes(10)))
struct ConnectionSetUpTests {
    @Test func `a slow handshake is waited for`() throws {
        let world = try World()
        world.server.handshakeDelayMilliseconds = 500
        let client = world.connect()
        world.loop.turn()
        #expect(client.events.isEmpty)
        try world.run { world.server.acceptedConnections == 1 }
        world.loop.skip(milliseconds: 500)
        try world.run { client.connection.isOpen }
    }

    @Test func `a handshake beyond the connect deadline is given up and the next connection works`() throws {
        let world = try World()
        world.server.handshakeDelayMilliseconds = 60_000
        let client = world.connect()
        try world.run { world.server.acceptedConnections == 1 }
        world.loop.skip(milliseconds: 10_000)
        try world.run { client.connection.isClosed }
        #expect(client.events == [.closed(.connectDeadline)])
        world.server.handshakeDelayMilliseconds = 0
        let next = try world.connected()
        #expect(next.connection.isOpen)
        #expect(client.connection.nextDeadlineMilliseconds == nil)
    }

    @Test func `a certificate of a stranger is refused`() throws {
        let world = try World()
        let tls = try HTTP2ClientTLS(HTTP2TLSOptions(caPEM: Fixtures.otherAuthority))
        let client = world.connect(tls: tls)
        try world.run { client.connection.isClosed }
        guard case .tls(let text) = client.closeReason else {
            Issue.record("closed for \(String(describing: client.closeReason))")
            return
        }
        #expect(text.contains("certificate verify failed"))
        #expect(text.contains("local issuer"))
    }

    @Test(arguments: [
        ("localhost", true), ("127.0.0.1", true), ("api.push.apple.com", false), ("127.0.0.2", false),
    ])
    func `the certificate must name the host`(host: String, isRight: Bool) throws {
        let world = try World()
        let client = world.connect(host: host)
        try world.run { client.connection.isOpen || client.connection.isClosed }
        #expect(client.connection.isOpen == isRight)
    }

    @Test func `a refused TCP connection is a closed event`() throws {
        let world = try World()
        world.server.stopListening()
        let client = world.connect()
        try world.run { client.connection.isClosed }
        #expect(client.events == [.closed(.connectFailed("Connection refused"))])
    }

    @Test func `an address that is none is a closed event`() throws {
        let world = try World()
        let connection = HTTP2Connection(
            host: "localhost", port: 1, address: "localhost", tls: world.trust, nowMilliseconds: 0)
        guard case .closed(.connectFailed) = connection.drainEvents().first else {
            Issue.record("an address was made of a name")
            return
        }
    }

    @Test func `a proxy opens the tunnel`() throws {
        let world = try World()
        let relay = Relay(to: world.server.port)
        relay.connectAnswer = "HTTP/1.1 200 Connection established\r\nvia: test\r\n\r\n"
        world.loop.parts.append(relay)
        var options = HTTP2ConnectionOptions()
        options.proxy = HTTP2Proxy(port: relay.port)
        let client = try world.connected(options: options)
        client.submit(1, at: world.loop.now)
        try world.run { client.responses.count == 1 }
        #expect(relay.connectLines == ["CONNECT localhost:\(world.server.port) HTTP/1.1"])
    }

    @Test(arguments: [("HTTP/1.1 407 Proxy Authentication Required\r\n\r\n", 407), ("nonsense\r\n\r\n", 0)])
    func `a proxy that refuses is told by its status`(answer: String, status: Int) throws {
        let world = try World()
        let relay = Relay(to: world.server.port)
        relay.connectAnswer = answer
        world.loop.parts.append(relay)
        var options = HTTP2ConnectionOptions()
        options.proxy = HTTP2Proxy(port: relay.port, authorization: "Basic eDp5")
        let client = world.connect(options: options)
        try world.run { client.connection.isClosed }
        #expect(client.events == [.closed(.proxyRefused(status: status))])
    }

    @Test func `authorities and identities that are none are refused by name`() throws {
        #expect(throws: HTTP2Error.self) { try HTTP2ClientTLS(HTTP2TLSOptions(caPEM: "nothing")) }
        #expect(throws: HTTP2Error.self) { try HTTP2ClientTLS(HTTP2TLSOptions(caFile: "/nowhere/ca.pem")) }
        #expect(throws: HTTP2Error.self) {
            try HTTP2ServerTLS(certificatePEM: Fixtures.otherAuthority, keyPEM: Fixtures.key)
        }
        #expect(throws: HTTP2Error.self) {
            try HTTP2ServerTLS(certificatePEM: Fixtures.certificate, keyPEM: "nothing")
        }
    }
}
