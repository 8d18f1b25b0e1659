/// How much a log line asks of its reader.
public enum LogLevel: Int, Comparable, CaseIterable, Sendable {
    /// Something is lost, or the process is about to stop: a person must act now.
    case error
    /// Work goes on, worse than it should: a person must look before it gets worse.
    case warning
    /// The life of the process, such as `ready`, `reloaded` and `stopped`: nobody must act. The default.
    case info
    /// One line for each unusual event, to find a fault with: written when asked for, and safe to leave on.
    case debug
    /// Lines for every message: for a developer alone, and too many for a busy service.
    case trace

    /// Reads a level by its name in a configuration.
    public init?(name: String) {
        guard let level = LogLevel.allCases.first(where: { $0.name == name }) else { return nil }
        self = level
    }

    /// The name in configurations and log lines.
    public var name: String {
        switch self {
        case .error: "error"
        case .warning: "warning"
        case .info: "info"
        case .debug: "debug"
        case .trace: "trace"
        }
    }

    /// Whether one level is graver than another.
    public static func < (one: LogLevel, other: LogLevel) -> Bool { one.rawValue < other.rawValue }
}
