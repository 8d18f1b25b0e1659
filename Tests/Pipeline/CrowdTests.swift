import Foundation
import Glibc
import Service
import Testing
import Web

/// The real door beside more connections than it has work.
@Suite(.timeLimit(.minutes(10))) struct CrowdTests {
    private static let idleCount = 10_000
    private static let slowCount = 1_000
    /// Connections, and what a test process needs besides.
    private static let descriptors = idleCount + slowCount + 1_000
    /// What one process may have open here; the door needs as many in its own.
    private static let descriptorsMax = raiseDescriptorLimit(to: descriptors)

    @Test(
        .enabled(
            if: descriptorsMax >= descriptors,
            "the hard limit of descriptors is \(descriptorsMax), below the \(descriptors) that this needs"))
    func `10,000 idle and 1,000 slow connections leave normal traffic unharmed`() throws {
        let door = try LoneDoor()
        let traffic = Traffic(door.address)
        try traffic.start()
        Poller(traffic, traffic.client).run(timeoutMilliseconds: 30_000) { traffic.latencies.count == 300 }
        let alone = traffic.takeLatencies()

        let idle = try Self.visitors(Self.idleCount, traffic)
        let slow = SlowVisitors(try Self.visitors(Self.slowCount, traffic))
        Poller(traffic, traffic.client, slow).run(timeoutMilliseconds: 60_000) { slow.open == 0 }
        #expect(slow.open == 0, "who sends a byte each second is cut off")
        #expect(slow.isAnsweredInTime)
        Poller(traffic, traffic.client).run(timeoutMilliseconds: 30_000) { traffic.pending == 0 }
        let beside = traffic.takeLatencies()

        #expect(alone.count + beside.count == traffic.accepted)
        #expect(traffic.problems.isEmpty)
        #expect(beside.count > 300)
        #expect(idle.allSatisfy { $0.isOpen }, "an idle connection has a minute")
        print(
            "beside \(Self.idleCount) idle and \(Self.slowCount) slow connections: \(beside.count) updates accepted,",
            "median \(ratio(beside, alone, 0.5)) and 99th percentile \(ratio(beside, alone, 0.99)) times as long,",
            "door \(try door.residentKibibytes() / 1_024) MB")
        door.stop()
    }

    /// Opens connections, some at a time: a Unix socket refuses at once when more than its backlog wait.
    ///
    /// Every tenth update comes on a new connection, which is accepted behind those that were there before.
    private static func visitors(_ count: Int, _ traffic: Traffic) throws -> [Visitor] {
        let atOnce = 500
        return try stride(from: 0, to: count, by: atOnce).flatMap { _ in
            let some = try (0..<atOnce).map { _ in try Visitor(traffic.address) }
            let answered = traffic.latencies.count + 11
            Poller(traffic, traffic.client).run(timeoutMilliseconds: 30_000) {
                traffic.latencies.count >= answered
            }
            return some
        }
    }

    private func ratio(_ one: [Int64], _ other: [Int64], _ part: Double) -> String {
        func value(_ all: [Int64]) -> Double { Double(all.sorted()[Int(Double(all.count - 1) * part)]) }
        return String(format: "%.1f", value(one) / max(1, value(other)))
    }
}

/// `ingest` with nobody behind it, on a Unix socket, so that no port is used up.
private final class LoneDoor {
    let directory = "/tmp/crowd-\(UInt32.random(in: 0 ... .max))"
    private let process = Foundation.Process()
    private let log = Pipe()

    var address: String { "\(directory)/door" }

    init() throws {
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: false)
        let configuration = "\(directory)/liveline.json"
        try """
        {"runDirectory": "\(directory)/run", "dataDirectory": "\(directory)/data",
         "http": {"listen": "unix:\(address)"},
         "applications": [{"code": "CROWD", "bundleId": "com.example.crowd", "apiTokens": ["k-crowd"]}]}
        """.write(toFile: configuration, atomically: true, encoding: .utf8)
        process.executableURL = Program.folder.appending(path: "ingest")
        process.arguments = ["--config", configuration]
        process.standardError = log
        try process.run()
        var text = ""
        while !text.contains("ingest.1 info ready") {
            let data = log.fileHandleForReading.availableData
            try #require(!data.isEmpty, "it ended before it was ready: \(text)")
            text += String(decoding: data, as: UTF8.self)
        }
        log.fileHandleForReading.readabilityHandler = { _ = $0.availableData }
    }

    deinit {
        if process.isRunning { process.terminate() }
        try? FileManager.default.removeItem(atPath: directory)
    }

    func stop() {
        process.terminate()
        process.waitUntilExit()
        #expect(process.terminationStatus == 0)
    }

    func residentKibibytes() throws -> Int {
        let status = try String(contentsOfFile: "/proc/\(process.processIdentifier)/status", encoding: .utf8)
        let line = status.split(separator: "\n").first { $0.hasPrefix("VmRSS:") }
        return line?.split(separator: " ").compactMap { Int($0) }.first ?? 0
    }
}

/// Updates of a running activity, one each ten milliseconds, every tenth on a connection of its own.
private final class Traffic: Pollable {
    private static let pauseMilliseconds: Int64 = 10
    let client = HTTPClient(connectionsMax: 16)
    private(set) var latencies: [Int64] = []
    private(set) var accepted = 0
    private(set) var pending = 0
    private(set) var problems: [String] = []
    let address: String
    private var sent = 0

    let descriptor: CInt = -1
    private(set) var nextDeadlineMilliseconds: Int64? = 0

    init(_ address: String) { self.address = address }

    private func request(_ method: String, _ notification: String) -> HTTPClientRequest {
        let body = #"{"request":{"application":"CROWD","auth":"k-crowd","notifications":[\#(notification)]}}"#
        return HTTPClientRequest(
            method: "POST", url: "http://local/json/1.3/\(method)",
            headers: sent % 10 == 0 ? ["Connection": "close"] : [:], body: Array(body.utf8),
            unixSocketPath: address)
    }

    /// Starts the activity.
    func start() throws {
        let response = try HTTPClient.perform(
            request(
                "startLiveActivity",
                """
                {"live_activity_id":"order","devices":["p1"],"content":"Cooking","live_activity":\
                {"attributes-type":"Order","attributes":{},"content-state":{"step":0}}}
                """))
        try #require(String(decoding: response.body, as: UTF8.self).contains(#""status_code":200"#))
    }

    func process(nowMilliseconds: Int64) {
        nextDeadlineMilliseconds = nowMilliseconds + Traffic.pauseMilliseconds
        sent += 1
        pending += 1
        let state =
            #"{"live_activity_id":"order","live_activity":{"event":"update","content-state":{"n":\#(sent)}}}"#
        let began = ContinuousClock.now
        client.send(request("updateLiveActivity", state)) { [self] result in
            pending -= 1
            let took = began.duration(to: .now)
            latencies.append(
                took.components.seconds * 1_000_000 + took.components.attoseconds / 1_000_000_000_000)
            let text = (try? result.get()).map { String(decoding: $0.body, as: UTF8.self) } ?? "\(result)"
            if text.contains(#""status_code":200"#) { accepted += 1 } else { problems.append(text) }
        }
    }

    /// The time of each answer since the last call, in microseconds.
    func takeLatencies() -> [Int64] {
        defer { latencies = [] }
        return latencies
    }
}

/// A connection that somebody has opened.
private final class Visitor {
    private let descriptor: CInt
    private(set) var received = ""

    init(_ path: String) throws {
        descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        try #require(descriptor >= 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: Array(path.utf8)) }
        let result = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        try #require(result == 0)
    }

    deinit { close(descriptor) }

    /// Whether the door has not ended it.
    var isOpen: Bool {
        var buffer = [UInt8](repeating: 0, count: 1_024)
        let count = recv(descriptor, &buffer, buffer.count, Int32(MSG_DONTWAIT))
        if count > 0 { received += String(decoding: buffer.prefix(count), as: UTF8.self) }
        return count > 0 || (count < 0 && errno == EAGAIN)
    }

    func write(_ byte: UInt8) {
        _ = withUnsafeBytes(of: byte) { send(descriptor, $0.baseAddress, 1, Int32(MSG_NOSIGNAL)) }
    }
}

/// Visitors that send a byte of a request each second.
private final class SlowVisitors: Pollable {
    private static let text = Array("POST /json/1.3/updateLiveActivity HTTP/1.1\r\nHost: a\r\nX-Slow: ".utf8)
    private var visitors: [Visitor]
    private var written = 0
    private(set) var open: Int
    /// Whether everybody heard 408 before the end, and nobody anything else.
    private(set) var isAnsweredInTime = true

    let descriptor: CInt = -1
    private(set) var nextDeadlineMilliseconds: Int64? = 0

    init(_ visitors: [Visitor]) {
        self.visitors = visitors
        open = visitors.count
    }

    func process(nowMilliseconds: Int64) {
        nextDeadlineMilliseconds = nowMilliseconds + 1_000
        let byte = written < SlowVisitors.text.count ? SlowVisitors.text[written] : UInt8(ascii: "y")
        written += 1
        visitors.removeAll { visitor in
            guard visitor.isOpen else {
                if !visitor.received.hasPrefix("HTTP/1.1 408 ") { isAnsweredInTime = false }
                return true
            }
            visitor.write(byte)
            return false
        }
        open = visitors.count
    }
}
