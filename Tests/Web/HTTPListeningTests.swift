import Foundation
import Glibc
import Testing
import Web

@Suite(.timeLimit(.minutes(10)))
struct HTTPListeningTests {
    private func request(_ path: String) -> HTTPClientRequest {
        HTTPClientRequest(url: "http://local/", unixSocketPath: path)
    }

    private func status(of server: HTTPServer, _ request: HTTPClientRequest) throws -> Int {
        let client = HTTPClient()
        var result: Result<HTTPClientResponse, HTTPClientError>?
        client.send(request) { result = $0 }
        poll(server, client) { result != nil }
        return try #require(result).get().status
    }

    @Test func `a Unix socket serves and is removed at the end`() throws {
        let directory = try TemporaryDirectory()
        let path = directory.path + "/a.sock"
        let server = try HTTPServer(.unix(path: path), handler: ok)
        #expect(try status(of: server, request(path)) == 200)
        #expect(server.port == nil)
        let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
        #expect(mode == 0o660)
        server.close()
        #expect(!FileManager.default.fileExists(atPath: path))
    }

    @Test func `the socket of a dead process is taken over`() throws {
        let directory = try TemporaryDirectory()
        let path = directory.path + "/a.sock"
        leaveSocket(at: path)
        try #require(FileManager.default.fileExists(atPath: path))
        let server = try HTTPServer(.unix(path: path), handler: ok)
        #expect(try status(of: server, request(path)) == 200)
    }

    @Test func `the socket of a living process is refused and left alone`() throws {
        let directory = try TemporaryDirectory()
        let path = directory.path + "/a.sock"
        let server = try HTTPServer(.unix(path: path), handler: ok)
        let error = try #require(throws: HTTPServerError.self) {
            try HTTPServer(.unix(path: path), handler: ok)
        }
        #expect(error.reason == .inUse)
        #expect("\(error)".contains(path))
        #expect(try status(of: server, request(path)) == 200)
    }

    @Test func `a file that is no socket is refused and left alone`() throws {
        let directory = try TemporaryDirectory()
        let path = directory.path + "/a.sock"
        try Data("precious".utf8).write(to: URL(fileURLWithPath: path))
        let error = try #require(throws: HTTPServerError.self) {
            try HTTPServer(.unix(path: path), handler: ok)
        }
        #expect(error.reason == .notASocket)
        #expect(FileManager.default.contents(atPath: path) == Data("precious".utf8))
    }

    @Test func `a successor's socket is not removed`() throws {
        let directory = try TemporaryDirectory()
        let path = directory.path + "/a.sock"
        let server = try HTTPServer(.unix(path: path), handler: ok)
        try FileManager.default.removeItem(atPath: path)
        let successor = try HTTPServer(.unix(path: path), handler: ok)
        server.close()
        #expect(try status(of: successor, request(path)) == 200)
    }

    @Test func `a port in use is refused`() throws {
        let server = try HTTPServer(.tcp(host: "127.0.0.1", port: 0), handler: ok)
        let port = try #require(server.port)
        let error = try #require(throws: HTTPServerError.self) {
            try HTTPServer(.tcp(host: "127.0.0.1", port: port), handler: ok)
        }
        #expect(error.reason == .inUse)
    }

    @Test func `IPv6 serves`() throws {
        let server = try HTTPServer(try HTTPAddress(parsing: "[::1]:0"), handler: ok)
        let port = try #require(server.port)
        #expect(try status(of: server, HTTPClientRequest(url: "http://[::1]:\(port)/")) == 200)
    }

    @Test(arguments: ["127.0.0.1:8080", "[::1]:8080", "0.0.0.0:0", "unix:/run/liveline/a.sock"])
    func `an address is read and written alike`(text: String) throws {
        #expect(try HTTPAddress(parsing: text).description == text)
    }

    @Test(arguments: [
        "", "8080", ":8080", "localhost:8080", "127.0.0.1", "127.0.0.1:", "127.0.0.1:65536", "127.0.0.1:+1",
        "::1:8080", "[127.0.0.1]:1", "[::1]", "256.0.0.1:1", "unix:",
        "unix:" + String(repeating: "a", count: 108),
    ])
    func `what is no address is refused by name`(text: String) throws {
        let error = try #require(throws: HTTPServerError.self) { try HTTPAddress(parsing: text) }
        #expect(error.reason == .malformedAddress)
        #expect(error.context == text)
    }

    private func leaveSocket(at path: String) {
        let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: Array(path.utf8)) }
        _ = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        close(descriptor)
    }
}
