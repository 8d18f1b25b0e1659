import Contracts
import JSON

/// What an outage of APNs showed.
struct OutageReport: Sendable, Equatable {
    var messages: Int
    var accepted: Int
    /// How often a call was answered that it should come later, and came later.
    var busy: Int
    /// How many deliveries waited in the ledger when APNs came back.
    var waiting: Int
    var settled: Int
    var outcomes: OutcomeCounts
    /// From the first call until all were accepted.
    var acceptSeconds: Double
    /// From the first call until the ledger had all of them.
    var takeSeconds: Double
    /// From the moment at which APNs was back until nothing waited.
    var drainSeconds: Double
    /// The memory before the first message, with all of them waiting, at the most, and at the end.
    var before: ServiceUsage
    var full: ServiceUsage
    var peaks: ServiceUsage
    var after: ServiceUsage
    var usage: ServiceUsage

    /// What must not be.
    var breaches: [String] {
        var breaches: [String] = []
        func check(_ holds: Bool, _ text: String) { if !holds { breaches.append(text) } }
        check(accepted == messages, "\(accepted) of \(messages) messages were accepted")
        check(waiting == accepted, "\(waiting) of \(accepted) waited when APNs came back")
        check(settled == accepted, "\(settled) of \(accepted) messages are settled")
        let total = Outcome.allCases.reduce(0) { $0 + outcomes[$1] }
        check(total == settled, "\(settled) settled messages have \(total) outcomes")
        for outcome in [Outcome.failed, .unreachable, .cancelled] {
            check(outcomes[outcome] == 0, "\(outcomes[outcome]) deliveries ended \(outcome.rawValue)")
        }
        check(
            [before, full, peaks, after].allSatisfy { $0.lines.count == Deployment.goingDown.count },
            "not every service told its memory")
        return breaches
    }

    private struct Line {
        var service: ServiceName
        var megabytes: [Double]
        var bytesPerMessage: Double
        var cpuSeconds: Double?
    }

    private var lines: [Line] {
        Deployment.goingDown.compactMap { service in
            let seen = [before, full, peaks, after].compactMap { $0[service]?.residentBytes }
            guard seen.count == 4 else { return nil }
            return Line(
                service: service, megabytes: seen.map { $0 / 1_048_576 },
                bytesPerMessage: (seen[2] - seen[0]) / Double(max(1, messages)),
                cpuSeconds: usage[service]?.cpuSeconds)
        }
    }

    private func rate(_ count: Int, _ seconds: Double) -> String {
        Numbers.fixed(Double(count) / max(seconds, 0.001), 0)
    }

    /// What people read.
    var text: String {
        var table = Table([
            ("service", .left), ("MB before", .right), ("MB waiting", .right), ("MB peak", .right),
            ("MB after", .right), ("peak - before, bytes/message", .right), ("CPU s", .right),
        ])
        for line in lines {
            let memory = line.megabytes.map { Numbers.fixed($0, 1) }
            table.add(
                line.service.rawValue, memory[0], memory[1], memory[2], memory[3],
                Numbers.fixed(line.bytesPerMessage, 1), line.cpuSeconds.map { Numbers.fixed($0, 2) } ?? "-")
        }
        let verdict = breaches.isEmpty ? ["outage passed"] : breaches.map { "breach: \($0)" }
        return [head, table.text, verdict.joined(separator: "\n")].joined(separator: "\n\n")
    }

    private var head: String {
        let ends = Outcome.allCases.map { "\($0.rawValue) \(Numbers.grouped(outcomes[$0]))" }
        return """
            outage: messages \(Numbers.grouped(messages)); accepted \(Numbers.grouped(accepted)), \
            to come later \(Numbers.grouped(busy)), waiting for APNs \(Numbers.grouped(waiting)), \
            settled \(Numbers.grouped(settled))
            \(ends.joined(separator: ", "))
            accepted after \(Numbers.fixed(acceptSeconds, 1)) s (\(rate(accepted, acceptSeconds))/s), \
            in the ledger after \(Numbers.fixed(takeSeconds, 1)) s (\(rate(accepted, takeSeconds))/s), \
            gone \(Numbers.fixed(drainSeconds, 1)) s after APNs was back (\(rate(waiting, drainSeconds))/s)
            """
    }

    /// What programs read.
    var json: [UInt8] {
        JSONWriter.object { report in
            report.member("scenario", "outage")
            report.member("messages", messages)
            report.member("accepted", accepted)
            report.member("busy", busy)
            report.member("waiting", waiting)
            report.member("settled", settled)
            report.object("deliveries") {
                for outcome in Outcome.allCases { $0.member(outcome.rawValue, outcomes[outcome]) }
            }
            report.member("acceptSeconds", number(acceptSeconds))
            report.member("takeSeconds", number(takeSeconds))
            report.member("drainSeconds", number(drainSeconds))
            report.array("services") { services in
                for service in Deployment.goingDown {
                    services.object {
                        $0.member("service", service.rawValue)
                        $0.member("residentBytesBefore", bytes(before, service))
                        $0.member("residentBytesWaiting", bytes(full, service))
                        $0.member("residentBytesPeak", bytes(peaks, service))
                        $0.member("residentBytesAfter", bytes(after, service))
                    }
                }
            }
            report.member("breaches", breaches)
        }
    }

    private func bytes(_ usage: ServiceUsage, _ service: ServiceName) -> JSONRaw? {
        usage[service].map { JSONRaw(Array(Numbers.fixed($0.residentBytes, 0).utf8)) }
    }

    private func number(_ value: Double) -> JSONRaw { JSONRaw(Array(Numbers.fixed(value, 3).utf8)) }
}
