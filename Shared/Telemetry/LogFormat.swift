import JSON

/// How a log line is written.
public enum LogFormat: String, Sendable, CaseIterable {
    /// `rate-limiter warning peer-gone peer=apns-gateway attempt=3`
    case text
    /// `{"service":"rate-limiter","level":"warning","event":"peer-gone","peer":"apns-gateway","attempt":3}`
    case json
}

/// One event on its way to becoming a line.
struct LogLine {
    /// Longer values are cut to this many Unicode scalars.
    static let valueScalarsMax = 256
    /// A line with its line feed, in bytes: what Linux writes to a pipe in one piece (`PIPE_BUF`, pipe(7)).
    static let sizeBytesMax = 4_096
    /// What closes a line: the count of fields left out, a brace and the line feed.
    private static let reserveBytes = 40

    let service: String
    let level: LogLevel
    let event: String
    let fields: LogFields

    /// The line with its line feed; fields that do not fit are counted as `omitted`.
    func bytes(as format: LogFormat) -> [UInt8] {
        var line = format == .text ? textHead : jsonHead
        var omitted = 0
        for field in fields.list {
            let part = format == .text ? text(field.key, field.value) : json(field.key, field.value)
            if line.utf8.count + part.utf8.count + LogLine.reserveBytes > LogLine.sizeBytesMax {
                omitted += 1
            } else {
                line += part
            }
        }
        if omitted > 0 { line += format == .text ? text("omitted", omitted) : json("omitted", omitted) }
        return Array((line + (format == .text ? "\n" : "}\n")).utf8)
    }

    private var textHead: String { "\(bare(cut(service))) \(level.name) \(bare(cut(event)))" }

    private var jsonHead: String {
        let event = JSONText.quote(cut(event))
        return #"{"service":\#(JSONText.quote(cut(service))),"level":"\#(level.name)","event":\#(event)"#
    }

    private func text(_ key: String, _ value: any LogValue) -> String {
        " \(bare(key))=\(bare(cut(value.logText)))"
    }

    private func json(_ key: String, _ value: any LogValue) -> String {
        let text = cut(value.logText)
        return ",\(JSONText.quote(key)):\(value.isJSONLiteral ? text : JSONText.quote(text))"
    }

    /// A word as it is; all else in quotes, so that no value can look like another field or another line.
    private func bare(_ text: String) -> String {
        let isWord = text.unicodeScalars.allSatisfy { scalar in
            switch scalar {
            case "\"", "=", "\\", "\u{7F}": false
            case "…": true
            default: scalar.value > 0x20 && scalar.isASCII
            }
        }
        return isWord && !text.isEmpty ? text : JSONText.quote(text)
    }

    private func cut(_ text: String) -> String {
        let scalars = text.unicodeScalars
        guard scalars.count > LogLine.valueScalarsMax else { return text }
        return String(String.UnicodeScalarView(scalars.prefix(LogLine.valueScalarsMax))) + "…"
    }
}
