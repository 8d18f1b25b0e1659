import Contracts
import Telemetry

/// Lets a few lines of one kind through in a while, and says how many it has held back.
struct LogGate {
    /// How many lines go through in one window.
    static let linesMax = 20
    /// How long a window is, in milliseconds.
    static let windowMilliseconds: Int64 = 10_000

    private var windowStart = Int64.min
    private var lines = 0
    private var heldBack = 0

    /// Counts one line.
    ///
    /// - Returns: whether it may be written, and how many of the window before were not.
    mutating func pass(nowMilliseconds now: Int64) -> (mayWrite: Bool, heldBack: Int) {
        var report = 0
        if windowStart == .min || now - windowStart >= LogGate.windowMilliseconds {
            report = heldBack
            (windowStart, lines, heldBack) = (now, 0, 0)
        }
        lines += 1
        guard lines > LogGate.linesMax else { return (true, report) }
        heldBack += 1
        return (false, report)
    }
}

extension Logger {
    /// Writes what a core wants logged.
    func write(_ line: LogLine) {
        var fields: LogFields = [:]
        for field in line.fields { fields.append(field.name, field.value) }
        log(LogLevel(line.level), line.event, fields)
    }
}

extension LogLevel {
    fileprivate init(_ level: LogLine.Level) {
        switch level {
        case .error: self = .error
        case .warning: self = .warning
        case .info: self = .info
        case .debug: self = .debug
        case .trace: self = .trace
        }
    }
}
