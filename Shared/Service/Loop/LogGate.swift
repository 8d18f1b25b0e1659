import Contracts
import Telemetry

/// Lets one line of each kind through in a while, and says how many of the kind it has held back.
struct LogGate {
    /// How long a window is, in milliseconds.
    static let windowMilliseconds: Int64 = 10_000

    private struct Window {
        var startMilliseconds: Int64
        var heldBack = 0
    }

    private var windows: [String: Window] = [:]

    /// Counts one line of a kind, of which there are few.
    ///
    /// - Returns: how many of the window before were held back if this one may be written, else nil.
    mutating func pass(_ kind: String, nowMilliseconds now: Int64) -> Int? {
        if var window = windows[kind], now - window.startMilliseconds < LogGate.windowMilliseconds {
            window.heldBack += 1
            windows[kind] = window
            return nil
        }
        defer { windows[kind] = Window(startMilliseconds: now) }
        return windows[kind]?.heldBack ?? 0
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
