import Contracts
import JSON
import Web

/// What a measured import showed.
struct ImportReport: Sendable, Equatable {
    var devices: Int
    var answer: ImportAnswer
    /// From the first byte to the answer: all is journalled.
    var answerSeconds: Double
    /// Until both receivers had all of it.
    var takenSeconds: Double
    /// How many devices the segmenter counts; nil if it did not say in time.
    var counted: Int?
    /// By how much the stores have grown.
    var diskBytes: Int64
    var before: ServiceUsage
    /// The most memory that was seen.
    var peaks: ServiceUsage
    var usage: ServiceUsage

    /// The services that take part.
    private static let services: [ServiceName] = [.ingest, .segmenter, .tokenRegistry]

    /// Whether every device was accepted and has arrived.
    var isComplete: Bool { answer.accepted == devices && counted == devices }

    private struct Line {
        var service: ServiceName
        var cpuSeconds: Double
        var beforeBytes: Double
        var peakBytes: Double
    }

    private var lines: [Line] {
        ImportReport.services.compactMap { service in
            guard let used = usage[service], let before = before[service], let peak = peaks[service] else {
                return nil
            }
            return Line(
                service: service, cpuSeconds: used.cpuSeconds, beforeBytes: before.residentBytes,
                peakBytes: peak.residentBytes)
        }
    }

    private func microseconds(_ seconds: Double) -> Double { seconds * 1_000_000 / Double(max(1, devices)) }

    /// What people read.
    var text: String {
        var table = Table([
            ("service", .left), ("CPU s", .right), ("CPU µs/device", .right), ("MB before", .right),
            ("MB peak", .right),
        ])
        for line in lines {
            table.add(
                line.service.rawValue, Numbers.fixed(line.cpuSeconds, 2),
                Numbers.fixed(microseconds(line.cpuSeconds), 1),
                Numbers.fixed(line.beforeBytes / 1_048_576, 1),
                Numbers.fixed(line.peakBytes / 1_048_576, 1))
        }
        let total = lines.reduce(0) { $0 + $1.cpuSeconds }
        table.add("all three", Numbers.fixed(total, 2), Numbers.fixed(microseconds(total), 1))
        return [head, table.text].joined(separator: "\n\n")
    }

    private var head: String {
        """
        import: devices \(Numbers.grouped(devices)); \(answer.text)
        answered after \(Numbers.fixed(answerSeconds, 1)) s, taken after \(Numbers.fixed(takenSeconds, 1)) s
        counted by a filter: \(counted.map { Numbers.grouped($0) } ?? "no answer in time")
        on disk: \(Numbers.fixed(Double(diskBytes) / 1_048_576, 1)) MB
        """
    }

    /// What programs read.
    var json: [UInt8] {
        JSONWriter.object { report in
            report.member("scenario", "import")
            report.member("devices", devices)
            report.member("accepted", answer.accepted)
            report.member("refused", answer.refused)
            report.member("counted", counted)
            report.member("answerSeconds", number(answerSeconds, 3))
            report.member("takenSeconds", number(takenSeconds, 3))
            report.member("diskBytes", diskBytes)
            report.array("services") { services in
                for line in lines {
                    services.object {
                        $0.member("service", line.service.rawValue)
                        $0.member("cpuSeconds", number(line.cpuSeconds, 6))
                        $0.member("residentBytesBefore", number(line.beforeBytes, 0))
                        $0.member("residentBytesPeak", number(line.peakBytes, 0))
                    }
                }
            }
        }
    }

    private func number(_ value: Double, _ digits: Int) -> JSONRaw {
        JSONRaw(Array(Numbers.fixed(value, digits).utf8))
    }
}

extension ImportRun {
    /// The number in what `compileFilter` answered.
    static func count(_ answer: HTTPClientResponse) -> Int? {
        let root = (try? JSONDocument(answer.body))?.root
        return root?["response"]?["count"]?.int64.flatMap { Int(exactly: $0) }
    }
}

extension ServiceUsage {
    /// One service's line.
    subscript(service: ServiceName) -> Line? { lines.first { $0.service == service } }

    /// Keeps the most memory of each.
    mutating func raise(to other: ServiceUsage) {
        for index in lines.indices {
            let seen = other[lines[index].service]?.residentBytes ?? 0
            lines[index].residentBytes = max(lines[index].residentBytes, seen)
        }
    }
}
