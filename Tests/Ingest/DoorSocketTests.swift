import Crypto
import Foundation
import Telemetry
import Testing
import Web

@testable import Service
@testable import ingest

/// The door as callers meet it, through sockets.
@Suite(.timeLimit(.minutes(10))) struct DoorSocketTests {
    private func exchange(_ bench: LoopBench, _ text: String, until isDone: (RawCaller) -> Bool) throws
        -> RawCaller
    {
        let caller = try RawCaller(port: bench.port)
        caller.write(text)
        try bench.run([caller]) { isDone(caller) }
        return caller
    }

    @Test func `ing-expect-continue: leave to send is given at once, and refused at once for 50 MB`() throws {
        try withDirectory { directory in
            let bench = try LoopBench(directory: directory)
            try bench.run([]) { !bench.loop.node.isAbandoned }
            let whole = LoopBench.start("order-1").split(separator: "\r\n\r\n", maxSplits: 1)
            let body = whole[1] + String(repeating: " ", count: 1_500 - whole[1].utf8.count)
            let head = "POST /json/1.3/startLiveActivity HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\n"
            let caller = try exchange(bench, head + "Content-Length: 1500\r\n\r\n") {
                $0.received.hasSuffix("\r\n\r\n")
            }
            #expect(caller.received == "HTTP/1.1 100 Continue\r\n\r\n")
            caller.write(String(body))
            try bench.run([caller]) { caller.statuses.count == 2 }
            #expect(caller.statuses == ["100", "200"])
            #expect(caller.received.contains(#""status_code":200"#))
            #expect(!caller.isEnded)

            let large = try exchange(bench, head + "Content-Length: 50000000\r\n\r\n") { $0.isEnded }
            #expect(large.statuses == ["413"])
            #expect(!large.isReset)
            #expect(try bench.count("messages") == 1)
        }
    }

    @Test(arguments: [
        ("BREW", "/json/1.3/startLiveActivity", "POST"), ("GET", "/json/1.3/setTags", "POST"),
        ("PUT", "/v1/projects/demo/messages:send", "POST"), ("TRACE", "/healthz", "GET"),
    ])
    func `a method that is not served is answered 405 with the one that is`(
        method: String, path: String, allowed: String
    ) throws {
        try withDirectory { directory in
            let bench = try LoopBench(directory: directory)
            try bench.run([]) { !bench.loop.node.isAbandoned }
            let caller = try exchange(bench, "\(method) \(path) HTTP/1.1\r\nHost: a\r\n\r\n") {
                !$0.statuses.isEmpty
            }
            #expect(caller.statuses == ["405"])
            #expect(caller.received.contains("Allow: \(allowed)\r\n"))
        }
    }

    @Test func `a caller of HTTP 1.0 is served and its connection ends`() throws {
        try withDirectory { directory in
            let bench = try LoopBench(directory: directory)
            try bench.run([]) { !bench.loop.node.isAbandoned }
            let caller = try exchange(bench, "GET /healthz HTTP/1.0\r\n\r\n") { $0.isEnded }
            #expect(caller.received.contains(" 200 OK\r\n"))
            #expect(!caller.isReset)
        }
    }

    @Test func `SIGHUP shows a new certificate, and keeps the former one when the files are bad`() throws {
        try withDirectory { directory in
            let (certificate, key) = (directory + "/c.pem", directory + "/k.pem")
            func write(_ made: SelfSignedCertificate) throws {
                try PrivateFile.write(made.certificatePEM, to: certificate)
                try PrivateFile.write(made.keyPEM, to: key)
            }
            let first = try SelfSignedCertificate.make(hosts: ["127.0.0.1"])
            let second = try SelfSignedCertificate.make(hosts: ["127.0.0.1"])
            try write(first)
            let bench = try LoopBench(directory: directory) {
                $0.http.certificateFile = certificate
                $0.http.keyFile = key
            }
            let open = HTTPClient(connectionsMax: 1)
            #expect(try status(bench, first, directory, open) == 200)

            try write(second)
            bench.loop.take(bench.configuration)
            #expect(try status(bench, first, directory, open) == 200)
            #expect(try status(bench, second, directory) == 200)
            #expect(try status(bench, first, directory) == nil)

            try PrivateFile.write(first.keyPEM, to: key)
            bench.loop.take(bench.configuration)
            #expect(bench.log.lines.contains { $0.contains("warning certificate-kept") })
            #expect(bench.log.lines.contains { $0.contains("info reloaded") })
            #expect(try status(bench, second, directory) == 200)
            #expect(try status(bench, first, directory, open) == 200)

            try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: key)
            bench.loop.take(bench.configuration)
            #expect(bench.log.lines.contains { $0.contains("warning key-file-open") })
            #expect(!bench.log.lines.contains { $0.contains("PRIVATE KEY") })
        }
    }

    /// What a client that trusts one certificate is answered; nil if the door shows another.
    private func status(
        _ bench: LoopBench, _ trusted: SelfSignedCertificate, _ directory: String,
        _ client: HTTPClient = HTTPClient()
    ) throws -> Int? {
        let authority = directory + "/\(SHA256.hex(trusted.certificatePEM).prefix(8)).pem"
        try trusted.certificatePEM.write(toFile: authority, atomically: true, encoding: .utf8)
        var result: Result<HTTPClientResponse, HTTPClientError>?
        client.send(
            HTTPClientRequest(url: "https://127.0.0.1:\(bench.port)/healthz", caFile: authority)
        ) { result = $0 }
        for _ in 0..<4_000 where result == nil {
            Poller(client).run(timeoutMilliseconds: 1) { result != nil }
            try bench.loop.round()
        }
        switch try #require(result) {
        case .success(let response): return response.status
        case .failure(let error):
            #expect(error.reason == .tls)
            return nil
        }
    }

    @Test func `more connections than there can be descriptors are not promised`() throws {
        try withDirectory { directory in
            let bench = try LoopBench(directory: directory) { $0.http.connectionsMax = 1_000_000_000 }
            #expect(bench.log.lines.contains { $0.contains("warning connections-limited") })
            bench.configuration.http.connectionsMax = 100
            bench.loop.take(bench.configuration)
            #expect(bench.log.lines.contains { $0.contains("warning restart-needed path=http") })
        }
    }
}
