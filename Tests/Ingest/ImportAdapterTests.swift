import Contracts
import Glibc
import JSON
import Service
import Testing
import Web

@testable import ingest

/// A bulk import over HTTP, with the core and a journal behind it.
@Suite(.timeLimit(.minutes(10))) struct ImportAdapterTests {
    private static let path = "/v1/applications/AAAAA-00001/devices:import"

    /// A server with its core, and what sends an import to it.
    private final class Sending {
        let door: AdapterDoor
        let client = HTTPClient()
        private let token: String
        private let source: HTTPClient.BodySource?
        private let body: [UInt8]
        /// Looked at in each turn of the loop.
        var meanwhile: () throws -> Void = {}

        init(
            _ door: AdapterDoor, token: String = "k-test", body: String = "",
            source: HTTPClient.BodySource? = nil
        ) {
            (self.door, self.token, self.source, self.body) = (door, token, source, Array(body.utf8))
        }

        func answer() throws -> HTTPClientResponse {
            let request = HTTPClientRequest(
                method: "POST", url: "http://127.0.0.1:\(door.adapter.port ?? 0)\(ImportAdapterTests.path)",
                headers: ["Authorization": "Bearer \(token)"], body: body, timeoutMilliseconds: 60_000)
            var result: Result<HTTPClientResponse, HTTPClientError>?
            if let source {
                client.send(request, body: source) { result = $0 }
            } else {
                client.send(request) { result = $0 }
            }
            Poller(door, client).run(timeoutMilliseconds: 30_000) {
                do { try meanwhile() } catch { Issue.record(error) }
                return result != nil
            }
            return try #require(result).get()
        }
    }

    private func withDoor(_ bench: Bench, _ body: (AdapterDoor) throws -> Void) throws {
        try withDirectory { directory in try body(try AdapterDoor(bench, directory: directory)) }
    }

    /// Has the services take what the core releases.
    private func takeAll(_ bench: Bench) throws { _ = try bench.drain() }

    private func lines(_ count: Int, pad: Int = 0) -> String {
        (0..<count).map {
            #"{"hwid":"dev-\#($0)","os_version":"\#(String(repeating: "1", count: pad))"}"# + "\n"
        }.joined()
    }

    private func json(_ response: HTTPClientResponse) -> JSONValue? {
        (try? JSONDocument(response.body))?.root
    }

    @Test func `many megabytes are taken, with a length or in chunks, and little of them is held`() throws {
        for isChunked in [false, true] {
            let bench = try Bench()
            try withDoor(bench) { door in
                let text = lines(6_000, pad: 500)
                var rest = Array(text.utf8)[...]
                let source: HTTPClient.BodySource = { count in
                    defer { rest = rest.dropFirst(min(count, 10_007)) }
                    return Array(rest.prefix(min(count, 10_007)))
                }
                let sending = Sending(door, body: isChunked ? "" : text, source: isChunked ? source : nil)
                sending.meanwhile = { try takeAll(bench) }
                let response = try sending.answer()
                #expect(response.status == 200)
                #expect(json(response)?["accepted"]?.int64 == 6_000)
                #expect(json(response)?["lines"]?.int64 == 6_000)
                #expect(bench.counts.filter { $0.name == "accepted" }.reduce(0) { $0 + $1.by } == 6_000)
                try takeAll(bench)
                #expect(bench.core.backlog.total.registrations == 0)
            }
        }
    }

    @Test func `a line without an end, and a body without a line, are answered`() throws {
        let bench = try Bench()
        try withDoor(bench) { door in
            #expect(try json(Sending(door, body: #"{"hwid":"a"}"#).answer())?["accepted"]?.int64 == 1)
            let empty = try Sending(door, body: "").answer()
            #expect(empty.status == 200)
            #expect(json(empty)?["accepted"]?.int64 == 0)
            #expect(door.adapter.drained)
        }
    }

    @Test func `a wrong token is refused early, whatever comes`() throws {
        let bench = try Bench()
        try withDoor(bench) { door in
            #expect(try Sending(door, token: "wrong", body: "").answer().status == 401)
            let response = try Sending(door, token: "k-other", body: lines(30_000, pad: 50)).answer()
            #expect(response.status == 404)
            #expect(bench.core.backlog.total.registrations == 0)
        }
    }

    @Test func `a full disk in the middle is answered with how far it came`() throws {
        let bench = try Bench()
        try withDoor(bench) { door in
            let sending = Sending(door, body: lines(20_000))
            sending.meanwhile = {
                if bench.core.backlog.total.registrations > 400 {
                    try bench.step(.external(.disk(freeBytes: 1, sizeBytes: 1 << 40)))
                }
            }
            let response = try sending.answer()
            #expect(response.status == 503)
            #expect(response.headers["Retry-After"] == "30")
            let accepted = try #require(json(response)?["accepted"]?.int64)
            #expect(accepted > 400 && accepted < 20_000)
            #expect(json(response)?["lines"]?.int64 == accepted)
            #expect(bench.core.backlog.total.registrations == Int(accepted))
        }
    }

    @Test func `a store that fails in the middle is answered with how far it came`() throws {
        let bench = try Bench()
        try withDoor(bench) { door in
            let sending = Sending(door, body: lines(20_000))
            sending.meanwhile = { door.fails = bench.core.backlog.total.registrations >= 400 }
            let response = try sending.answer()
            #expect(response.status == 503)
            let accepted = try #require(json(response)?["accepted"]?.int64)
            #expect(bench.core.backlog.total.registrations == Int(accepted))
            #expect(json(response)?["error"]?.string?.contains("storage is full") == true)
        }
    }

    @Test func `an import that finds no room is read no further, and goes on when there is some`() throws {
        var limits = IngestLimits()
        limits.importWaitingMax = 1_000
        let bench = try Bench(limits: limits)
        try withDoor(bench) { door in
            let sending = Sending(door, body: lines(10_000))
            var most = 0
            sending.meanwhile = {
                most = max(most, bench.core.backlog.total.registrations)
                if bench.core.backlog.total.registrations >= 1_000 { try takeAll(bench) }
            }
            let response = try sending.answer()
            #expect(json(response)?["accepted"]?.int64 == 10_000)
            #expect(most >= 1_000 && most < 1_200)
        }
    }

    @Test func `a connection that is cut leaves what was committed, and the rest may be sent again`() throws {
        let bench = try Bench()
        try withDoor(bench) { door in
            let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
            var address = sockaddr_in()
            address.sin_family = sa_family_t(AF_INET)
            address.sin_port = (door.adapter.port ?? 0).bigEndian
            address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
            let connected = withUnsafePointer(to: &address) {
                $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
                }
            }
            #expect(connected == 0)
            let text =
                "POST \(ImportAdapterTests.path) HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer k-test\r\n"
                + "Content-Length: 1000000\r\n\r\n\(lines(3))" + #"{"hwid":"half"#
            let bytes = Array(text.utf8)
            #expect(send(descriptor, bytes, bytes.count, 0) == bytes.count)
            Poller(door).run(timeoutMilliseconds: 30_000) { bench.core.backlog.total.registrations == 3 }
            close(descriptor)
            Poller(door).run(timeoutMilliseconds: 30_000) { door.adapter.drained }
            #expect(bench.core.backlog.total.registrations == 3)
            #expect(try bench.turn().groups.first?.entries.map(\.device) == ["dev-0", "dev-1", "dev-2"])
            let again = try Sending(door, body: lines(5)).answer()
            #expect(json(again)?["accepted"]?.int64 == 5)
        }
    }

    @Test func `an import under way at the end of the process is answered with how far it came`() throws {
        let bench = try Bench()
        try withDoor(bench) { door in
            let sending = Sending(door, body: lines(20_000))
            var isStopped = false
            sending.meanwhile = {
                guard !isStopped, bench.core.backlog.total.registrations >= 400 else { return }
                isStopped = true
                door.adapter.drain()
            }
            let response = try sending.answer()
            #expect(response.status == 503)
            #expect(json(response)?["lines"]?.int64 == Int64(bench.core.backlog.total.registrations))
            #expect(door.adapter.drained)
        }
    }

    @Test func `other calls are answered while an import goes on`() throws {
        let bench = try Bench()
        try withDoor(bench) { door in
            let sending = Sending(door, body: lines(6_000))
            var asked = 0
            var statuses: [Int] = []
            sending.meanwhile = { [unowned sending] in
                try takeAll(bench)
                guard asked == statuses.count, asked < 20 else { return }
                asked += 1
                let url = "http://127.0.0.1:\(door.adapter.port ?? 0)/healthz"
                sending.client.send(HTTPClientRequest(url: url)) {
                    statuses.append((try? $0.get().status) ?? 0)
                }
            }
            let response = try sending.answer()
            #expect(response.status == 200)
            #expect(statuses.count > 3)
            #expect(statuses.allSatisfy { $0 == 200 })
        }
    }
}
