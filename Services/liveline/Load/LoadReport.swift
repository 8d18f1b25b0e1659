import Contracts
import JSON

/// What a load run showed.
struct LoadReport: Sendable, Equatable {
    var scenario: String
    /// What it was asked for, by name.
    var parameters: [(name: String, value: Int)]
    /// From the first send until the last newest state had arrived.
    var seconds: Double
    var sent: Int
    var answers: SendLog.Answers
    var outcomes: OutcomeCounts
    var settled: Int
    var unsettled: Int
    /// Updates that the simulator accepted from the first send on.
    var pushes: Int
    /// Of those, the ones beyond one for each phone and message.
    var repeated: Int
    /// Of those, the ones that phones did not show, by the simulator's word for why.
    var unseen: [String: Int]
    /// Activities whose newest state did not reach all of their phones in time.
    var missing: Int
    var lateness: Spread?
    var answerTimes: Spread?
    var arrivalTimes: Spread?
    var usage: ServiceUsage

    static func == (one: LoadReport, other: LoadReport) -> Bool { one.json == other.json }

    /// Processor time of all five services for each push, microseconds; nil where it cannot be told.
    var cpuMicrosecondsPerPush: Double? {
        guard pushes > 0 else { return nil }
        return usage.totalSeconds.map { $0 * 1_000_000 / Double(pushes) }
    }
}

// MARK: - As a table

extension LoadReport {
    /// What people read.
    var text: String {
        [head, counts.text, times.text, services?.text ?? "", verdicts.joined(separator: "\n")]
            .filter { !$0.isEmpty }.joined(separator: "\n\n")
    }

    private var head: String {
        let asked = parameters.map { "\($0.name) \(Numbers.grouped($0.value))" }.joined(separator: ", ")
        return "\(scenario): \(asked); \(Numbers.fixed(seconds, 1)) s"
    }

    private var counts: Table {
        var table = Table([("messages", .left), ("", .right), ("deliveries", .left), ("", .right)])
        let messages = [
            ("sent", sent), ("accepted", answers.accepted), ("refused", answers.refused),
            ("busy", answers.busy), ("no connection", answers.unreachable),
            ("no answer", answers.unknown), ("tried again", answers.retried), ("settled", settled),
            ("not settled", unsettled),
        ]
        let deliveries =
            Outcome.allCases.map { ($0.rawValue, outcomes[$0]) } + [
                ("pushes accepted", pushes), ("sent twice", repeated),
            ]
        for row in 0..<max(messages.count, deliveries.count) {
            let left = row < messages.count ? [messages[row].0, Numbers.grouped(messages[row].1)] : ["", ""]
            let right = row < deliveries.count ? [deliveries[row].0, Numbers.grouped(deliveries[row].1)] : []
            table.add(left + right)
        }
        return table
    }

    private var times: Table {
        var table = Table(
            [("ms", .left), ("count", .right)] + ["50 %", "90 %", "99 %", "max"].map { ($0, .right) })
        for (name, spread) in spreads {
            guard let spread else { continue }
            let values = [spread.median, spread.ninetieth, spread.ninetyNinth, spread.greatest]
            table.add([name, Numbers.grouped(spread.count)] + values.map(Numbers.milliseconds))
        }
        return table
    }

    private var spreads: [(String, Spread?)] {
        [("sent late by", lateness), ("HTTP answer", answerTimes), ("HTTP request to APNs", arrivalTimes)]
    }

    private var services: Table? {
        guard !usage.lines.isEmpty else { return nil }
        var table = Table([("service", .left), ("CPU s", .right), ("CPU µs/push", .right), ("MB", .right)])
        for line in usage.lines {
            let share = pushes > 0 ? Numbers.fixed(line.cpuSeconds * 1_000_000 / Double(pushes), 1) : "-"
            table.add(
                line.service.rawValue, Numbers.fixed(line.cpuSeconds, 2), share,
                Numbers.fixed(line.residentBytes / 1_048_576, 1))
        }
        if let total = usage.totalSeconds, let share = cpuMicrosecondsPerPush {
            table.add("all five", Numbers.fixed(total, 2), Numbers.fixed(share, 1))
        }
        return table
    }

    private var verdicts: [String] {
        var lines = answers.reasons
        lines += unseen.sorted { $0.key < $1.key }.map {
            "phones did not show \($0.value) updates: \($0.key)"
        }
        if missing > 0 {
            lines.append("the newest state of \(missing) activities did not arrive everywhere in time")
        }
        return lines
    }
}

// MARK: - As JSON

extension LoadReport {
    /// What programs read.
    var json: [UInt8] {
        JSONWriter.object { report in
            report.member("scenario", scenario)
            report.object("parameters") {
                for parameter in parameters { $0.member(parameter.name, parameter.value) }
            }
            report.member("seconds", number(seconds, 3))
            report.object("messages", writeMessages)
            report.object("deliveries") {
                for outcome in Outcome.allCases { $0.member(outcome.rawValue, outcomes[outcome]) }
            }
            report.member("pushes", pushes)
            report.member("repeated", repeated)
            report.object("unseen") {
                for (why, count) in unseen.sorted(by: { $0.key < $1.key }) { $0.member(why, count) }
            }
            report.member("missing", missing)
            write("latenessMicroseconds", lateness, &report)
            write("answerMicroseconds", answerTimes, &report)
            write("endToEndMicroseconds", arrivalTimes, &report)
            report.array("services") { for line in usage.lines { $0.object { write(line, &$0) } } }
            report.member("cpuMicrosecondsPerPush", cpuMicrosecondsPerPush.map { number($0, 2) })
        }
    }

    private func writeMessages(_ messages: inout JSONWriter) {
        messages.member("sent", sent)
        messages.member("accepted", answers.accepted)
        messages.member("refused", answers.refused)
        messages.member("busy", answers.busy)
        messages.member("unreachable", answers.unreachable)
        messages.member("unknown", answers.unknown)
        messages.member("retried", answers.retried)
        messages.member("settled", settled)
        messages.member("unsettled", unsettled)
        messages.member("reasons", answers.reasons)
    }

    private func write(_ name: String, _ spread: Spread?, _ report: inout JSONWriter) {
        guard let spread else { return report.member(name, JSONNull()) }
        report.object(name) {
            $0.member("count", spread.count)
            $0.member("p50", spread.median)
            $0.member("p90", spread.ninetieth)
            $0.member("p99", spread.ninetyNinth)
            $0.member("max", spread.greatest)
        }
    }

    private func write(_ line: ServiceUsage.Line, _ service: inout JSONWriter) {
        service.member("service", line.service.rawValue)
        service.member("cpuSeconds", number(line.cpuSeconds, 6))
        service.member("residentBytes", number(line.residentBytes, 0))
    }

    private func number(_ value: Double, _ digits: Int) -> JSONRaw {
        JSONRaw(Array(Numbers.fixed(value, digits).utf8))
    }
}
