import Foundation
import HTTP2
import Testing

/// Programs of the nghttp2 and OpenSSL projects against both ends; each is left out when it is not installed.
@Suite(.timeLimit(.minutes(10)))
struct IndependentPeerTests {
    /// A fresh directory with the certificates as files.
    private func files() throws -> URL {
        let folder = URL(fileURLWithPath: "/tmp/h2-\(UUID().uuidString.prefix(8))")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        for (name, text) in [
            ("cert.pem", Fixtures.certificate), ("key.pem", Fixtures.key), ("body", "hello"),
        ] {
            try Data(text.utf8).write(to: folder.appending(path: name))
        }
        return folder
    }

    private func run(_ name: String, _ arguments: [String], in world: World) throws -> String {
        let tool = try Tool(try #require(Tool.path(name)), arguments)
        world.loop.parts.append(tool)
        try world.run { tool.hasEnded }
        return tool.output
    }

    /// A client of an `openssl s_server`.
    private func connectToOpenSSL(_ arguments: [String], in world: World) throws -> Client {
        let folder = try files()
        defer { try? FileManager.default.removeItem(at: folder) }
        let port = try freePort()
        let keys = [
            "-cert", folder.appending(path: "cert.pem").path, "-key", folder.appending(path: "key.pem").path,
        ]
        let tool = try Tool(
            try #require(Tool.path("openssl")),
            ["s_server", "-accept", "127.0.0.1:\(port)"] + keys + arguments)
        world.loop.parts.append(tool)
        try world.run { tool.output.contains("ACCEPT") }
        return world.connect(port: port)
    }

    /// A port that was free a moment ago.
    private func freePort() throws -> Int {
        let world = try World()
        return world.server.port
    }

    @Test(.enabled(if: Tool.path("nghttp") != nil, "nghttp is not installed (nghttp2-client)"))
    func `nghttp sees an answer without a body as HEADERS alone`() throws {
        let folder = try files()
        defer { try? FileManager.default.removeItem(at: folder) }
        let world = try World(World.limited(to: 7))
        let output = try run(
            "nghttp",
            [
                "-nv", "--no-dep", "-d", folder.appending(path: "body").path, "-H", "apns-id: 42",
                "https://127.0.0.1:\(world.server.port)/3/device/00",
            ], in: world)
        #expect(world.requests.first?.body == Array("hello".utf8))
        #expect(output.contains("SETTINGS_MAX_CONCURRENT_STREAMS(0x03):7]"))
        #expect(output.contains("SETTINGS_MAX_HEADER_LIST_SIZE(0x06):8000]"))
        #expect(output.contains("apns-id: 42"))
        #expect(output.contains("recv HEADERS frame"))
        #expect(output.contains("; END_STREAM | END_HEADERS"))
        #expect(!output.contains("recv DATA frame"))
    }

    @Test(.enabled(if: Tool.path("h2load") != nil, "h2load is not installed (nghttp2-client)"))
    func `h2load has all its requests answered`() throws {
        let folder = try files()
        defer { try? FileManager.default.removeItem(at: folder) }
        let world = try World()
        world.handler = { $0.answer($1, body: "{}") }
        let output = try run(
            "h2load",
            [
                "-n", "2000", "-c", "4", "-m", "50", "-d", folder.appending(path: "body").path,
                "https://127.0.0.1:\(world.server.port)/",
            ], in: world)
        #expect(output.contains("2000 succeeded, 0 failed, 0 errored"))
        #expect(world.requests.count == 2_000)
    }

    @Test(
        .enabled(if: Tool.path("openssl") != nil, "openssl is not installed"),
        arguments: [["-alpn", "http/1.1"], []])
    func `a client that does not offer h2 is dropped`(alpn: [String]) throws {
        let world = try World()
        let port = world.server.port
        _ = try run("openssl", ["s_client", "-connect", "127.0.0.1:\(port)"] + alpn, in: world)
        #expect(world.serverEvents.count == 1)
        guard case .handshakeFailed = world.serverEvents.first else {
            Issue.record("not dropped: \(world.serverEvents)")
            return
        }
    }

    @Test(.enabled(if: Tool.path("nghttpd") != nil, "nghttpd is not installed (nghttp2-server)"))
    func `nghttpd answers our client`() throws {
        let folder = try files()
        defer { try? FileManager.default.removeItem(at: folder) }
        let world = try World()
        let port = try freePort()
        let keys = ["key.pem", "cert.pem"].map { folder.appending(path: $0).path }
        let tool = try Tool(
            try #require(Tool.path("nghttpd")),
            ["-v", "-a", "127.0.0.1", "-m", "10", "--echo-upload", "-d", folder.path, "\(port)"] + keys)
        world.loop.parts.append(tool)
        try world.run { tool.output.contains("listen") }
        let client = try world.connected(port: port)
        #expect(client.limits == [10])
        var next = 0
        try world.run {
            while next < 200,
                client.submit(next, at: world.loop.now, body: [UInt8](repeating: 65, count: 4_096))
            {
                next += 1
            }
            return client.responses.count == 200
        }
        #expect(client.responses.allSatisfy { $0.status == 200 && $0.body.count == 4_096 })
        #expect(client.failures.isEmpty)
        client.connection.ping(nowMilliseconds: world.loop.now)
        try world.run { if case .pong = client.events.last { true } else { false } }
        client.connection.shutdown()
        try world.run { client.connection.isClosed }
        #expect(client.closeReason == .local)
    }

    @Test(.enabled(if: Tool.path("openssl") != nil, "openssl is not installed"))
    func `a server without h2 is not talked to`() throws {
        let world = try World()
        let client = try connectToOpenSSL(["-www"], in: world)
        try world.run { client.connection.isClosed }
        #expect(client.closeReason == .notHTTP2)
    }

    @Test(.enabled(if: Tool.path("openssl") != nil, "openssl is not installed"))
    func `a server that breaks the protocol is left`() throws {
        let world = try World()
        let client = try connectToOpenSSL(["-rev", "-alpn", "h2"], in: world)
        try world.run { client.connection.isOpen }
        try world.run { client.connection.isClosed }
        #expect(client.closeReason == .protocolError(1))
    }

    @Test(.enabled(if: Tool.path("openssl") != nil, "openssl is not installed"))
    func `a client that speaks HTTP/1 inside TLS is left`() throws {
        let world = try World()
        let command = "printf 'GET / HTTP/1.1\r\nHost: localhost\r\n\r\n' | openssl s_client -quiet -alpn h2"
        _ = try run("sh", ["-c", "\(command) -connect 127.0.0.1:\(world.server.port)"], in: world)
        try world.run { world.serverEvents.contains { if case .closed = $0 { true } else { false } } }
        #expect(world.requests.isEmpty)
        #expect(world.server.connectionIDs.isEmpty)
    }
}
