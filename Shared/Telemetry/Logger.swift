/// Takes one whole line, its line feed included.
public typealias LogSink = @Sendable (_ line: [UInt8]) -> Void

/// Writes one line for each event of a service.
///
/// It never fails and never stops its caller: a line that cannot be written is gone. Fields are not even built when
/// their level is not asked for. Callers give tokens as ``Shortened`` and give no keys, payloads or request bodies.
public struct Logger: Sendable {
    /// The name at the beginning of each line.
    public let service: String

    /// The least grave level that is still written.
    public var level: LogLevel

    /// How lines are written.
    public var format: LogFormat

    private let sink: LogSink

    /// Makes a logger.
    ///
    /// - Parameters:
    ///   - service: The name at the beginning of each line.
    ///   - level: The least grave level that is still written.
    ///   - format: How lines are written.
    ///   - sink: What takes the lines; the standard error output by default.
    public init(
        service: String, level: LogLevel = .info, format: LogFormat = .text,
        sink: @escaping LogSink = writeToStandardError
    ) {
        self.service = service
        self.level = level
        self.format = format
        self.sink = sink
    }

    /// Whether lines of a level are written.
    public func writes(_ level: LogLevel) -> Bool { level <= self.level }

    /// Writes an event, named by one fixed word such as `peer-gone`, if its level is asked for.
    public func log(_ level: LogLevel, _ event: String, _ fields: @autoclosure () -> LogFields = [:]) {
        guard writes(level) else { return }
        let line = LogLine(service: service, level: level, event: event, fields: fields())
        sink(line.bytes(as: format))
    }

    /// Writes an event for which a person must act now.
    public func error(_ event: String, _ fields: @autoclosure () -> LogFields = [:]) {
        log(.error, event, fields())
    }

    /// Writes an event at which a person must look.
    public func warning(_ event: String, _ fields: @autoclosure () -> LogFields = [:]) {
        log(.warning, event, fields())
    }

    /// Writes an event in the life of the process.
    public func info(_ event: String, _ fields: @autoclosure () -> LogFields = [:]) {
        log(.info, event, fields())
    }

    /// Writes an unusual event, for finding a fault.
    public func debug(_ event: String, _ fields: @autoclosure () -> LogFields = [:]) {
        log(.debug, event, fields())
    }

    /// Writes an event of a single message.
    public func trace(_ event: String, _ fields: @autoclosure () -> LogFields = [:]) {
        log(.trace, event, fields())
    }
}
