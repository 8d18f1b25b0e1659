import Contracts
import Foundation
import Service
import Testing

@testable import segmenter

/// What audiences cost, of as many devices as `TESTS_BENCH` says: to read, to write as frames, and to have taken.
///
/// ```
/// TESTS_BENCH=1000000 swift test -c release -Xswiftc -enable-testing --filter 'Segmenter.*what audiences cost'
/// ```
@Suite(.serialized) struct Measurements {
    private static let devices =
        ProcessInfo.processInfo.environment["TESTS_BENCH"].flatMap(Int.init) ?? 0

    private static func tag(
        _ name: String, _ comparison: Filter.Comparison, _ values: TagValue...
    ) -> Filter { .tag(name: name, comparison: comparison, values: values) }

    private static let filters: [(name: String, filter: Filter)] = [
        ("all devices", .everyone),
        ("a text that half of them have", tag("level", .equal, .string("gold"))),
        (
            "60 % by one number and not half of them by another",
            .except(
                tag("age", .between, .integer(20), .integer(79)),
                minus: tag("score", .greaterOrEqual, .integer(50)))
        ),
        (
            "five conditions, nested",
            .any([
                .all([
                    .any([tag("level", .equal, .string("gold")), tag("age", .lessOrEqual, .integer(9))]),
                    .except(
                        tag("score", .lessOrEqual, .integer(49)),
                        minus: tag("age", .greaterOrEqual, .integer(90))),
                ]), tag("level", .notSet),
            ])
        ),
        ("10 devices by a text", tag("group", .equal, .string("g\(devices / 20)"))),
        ("10 devices by a number", tag("serial", .greaterOrEqual, .integer(Int64(devices) - 10))),
        (
            "nobody, though half of them fulfil each of two",
            .all([tag("age", .lessOrEqual, .integer(49)), tag("age", .greaterOrEqual, .integer(50))])
        ),
    ]

    @Test(.enabled(if: devices > 0)) func `what audiences cost`() throws {
        try withStore { location in
            let fillStart = Usage.now()
            var bench = try Bench(location)
            var random = SystemRandomNumberGenerator()
            for start in stride(from: 0, to: Self.devices, by: 10_000) {
                try bench.together { bench in
                    for index in start..<min(start + 10_000, Self.devices) {
                        try bench.register(
                            UUID().uuidString,
                            .tags([
                                "level": .set(.string(Bool.random(using: &random) ? "gold" : "silver")),
                                "age": .set(.integer(.random(in: 0..<100, using: &random))),
                                "score": .set(.integer(.random(in: 0..<100, using: &random))),
                                "group": .set(.string("g\(index / 10)")),
                                "serial": .set(.integer(Int64(index))),
                            ]))
                    }
                }
            }
            let fill = Usage.now().cpuMicroseconds - fillStart.cpuMicroseconds
            say("\(Self.devices) devices with 5 tags each written for \(fill / Int64(Self.devices)) µs each")
            for (name, filter) in Self.filters { try measure(name, filter, &bench) }
        }
    }

    /// Has every batch of an audience read, written as frames, and taken.
    private func measure(_ name: String, _ filter: Filter, _ bench: inout Bench) throws {
        _ = try bench.tell(.command(bench.command(.filter(filter))))
        let coder = ParcelCoder()
        Usage.forgetPeak()
        let begin = Usage.now()
        var first: Usage?
        var largest = Usage(cpuMicroseconds: 0, wallMicroseconds: 0)
        var (turns, recipients) = ([Int64](), 0)
        while bench.segmenter.waiting > 0 {
            let before = Usage.now()
            let batches = try bench.turn()
            for batch in batches {
                let envelope = Envelope(type: .batch, id: 1, from: bench.ingest, sentAtMilliseconds: 0)
                _ = try coder.frames(Parcel(envelope: envelope, messages: [.batch(batch)]))
            }
            let turn = Usage.now() - before
            turns.append(turn.cpuMicroseconds)
            largest.cpuMicroseconds = max(largest.cpuMicroseconds, turn.cpuMicroseconds)
            largest.wallMicroseconds = max(largest.wallMicroseconds, turn.wallMicroseconds)
            if !batches.isEmpty, first == nil { first = Usage.now() - begin }
            recipients += batches.reduce(0) { $0 + $1.recipients.count }
            for batch in batches { try bench.take(batch) }
        }
        let total = Usage.now() - begin
        let cpu = Double(total.cpuMicroseconds)
        turns.sort()
        say(
            """
            \(name): \(recipients) recipients; first batch after \(first?.wallMicroseconds ?? 0) µs \
            (\(first?.cpuMicroseconds ?? 0) µs CPU); all \(total.cpuMicroseconds) µs CPU, \
            \(String(format: "%.2f", cpu / Double(max(recipients, 1)))) a recipient, \
            \(String(format: "%.2f", cpu / Double(Self.devices))) a device; \(turns.count) turns, \
            99 % of them at most \(turns[turns.count * 99 / 100]) µs CPU, the largest \(largest.cpuMicroseconds) µs CPU, \(largest.wallMicroseconds) µs; \
            resident at most \(Usage.peakKibibytes / 1_024) MiB
            """)
    }

    private func say(_ text: String) { FileHandle.standardError.write(Data("\(text)\n".utf8)) }
}

/// What the process has used.
private struct Usage {
    var cpuMicroseconds: Int64
    var wallMicroseconds: Int64

    static func now() -> Usage {
        Usage(cpuMicroseconds: read(CLOCK_PROCESS_CPUTIME_ID), wallMicroseconds: read(CLOCK_MONOTONIC))
    }

    static func - (after: Usage, before: Usage) -> Usage {
        Usage(
            cpuMicroseconds: after.cpuMicroseconds - before.cpuMicroseconds,
            wallMicroseconds: after.wallMicroseconds - before.wallMicroseconds)
    }

    private static func read(_ clock: clockid_t) -> Int64 {
        var time = timespec()
        clock_gettime(clock, &time)
        return Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1_000
    }

    /// Has the kernel begin anew to look for the most memory.
    static func forgetPeak() {
        try? "5".write(toFile: "/proc/self/clear_refs", atomically: false, encoding: .utf8)
    }

    static var peakKibibytes: Int {
        let status = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
        let line = status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") }
        return line?.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0
    }
}
