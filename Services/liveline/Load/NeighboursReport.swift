import JSON

/// What single updates of one application feel of a start to many phones of another.
struct NeighboursReport: Sendable, Equatable {
    /// The phones that the start was for.
    var devices: Int
    /// Single updates a second.
    var rate: Int
    /// From the HTTP request of a single update to its arrival at APNs, microseconds.
    var alone: Spread?
    var beside: Spread?
    /// Newest single updates that did not arrive in time.
    var missing: Int
    var answers: [SendLog.Answers]
    /// From the start's call to its last push, microseconds.
    var fanOutMicroseconds: Int64

    /// How many times the 99th percentile alone the one during the fan-out is; nil where it cannot be told.
    var ratio: Double? {
        guard let alone, let beside, alone.ninetyNinth > 0 else { return nil }
        return Double(beside.ninetyNinth) / Double(alone.ninetyNinth)
    }

    /// A table and what follows from it.
    var text: String {
        var table = Table(
            [("HTTP request to APNs, ms", .left), ("count", .right)]
                + ["50 %", "90 %", "99 %", "max"].map { ($0, .right) })
        for (name, spread) in [("alone", alone), ("during the start", beside)] {
            guard let spread else { continue }
            let values = [spread.median, spread.ninetieth, spread.ninetyNinth, spread.greatest]
            table.add([name, Numbers.grouped(spread.count)] + values.map(Numbers.milliseconds))
        }
        var lines = [
            "neighbours: single updates, \(rate) a second, and a start to \(Numbers.grouped(devices)) phones of "
                + "another application",
            table.text,
            "the start: \(Numbers.fixed(Double(fanOutMicroseconds) / 1_000_000, 1)) s; "
                + "99th percentile: \(ratio.map { Numbers.fixed($0, 2) } ?? "-") times that alone",
        ]
        let others = answers.reduce(0) { $0 + $1.refused + $1.busy + $1.unreachable + $1.unknown }
        if others > 0 { lines += ["\(others) calls were not accepted:"] + answers.flatMap(\.reasons) }
        if missing > 0 { lines.append("\(missing) newest updates did not arrive in time") }
        return lines.joined(separator: "\n\n")
    }

    /// What programs read.
    var json: [UInt8] {
        JSONWriter.object { report in
            report.member("scenario", "neighbours")
            report.member("devices", devices)
            report.member("rate", rate)
            for (name, spread) in [("aloneMicroseconds", alone), ("besideMicroseconds", beside)] {
                report.object(name) {
                    $0.member("count", spread?.count ?? 0)
                    $0.member("p50", spread?.median ?? 0)
                    $0.member("p99", spread?.ninetyNinth ?? 0)
                    $0.member("max", spread?.greatest ?? 0)
                }
            }
            report.member("fanOutMicroseconds", fanOutMicroseconds)
            report.member("ratio", ratio.map { JSONRaw(Array(Numbers.fixed($0, 3).utf8)) })
            report.member("missing", missing)
        }
    }
}
