/// How a process ends (sysexits.h).
public enum ExitCode: Int32, Sendable, CaseIterable {
    /// Stopped as asked.
    case stopped = 0
    /// The command line makes no sense.
    case usage = 64
    /// What was read on standard input is wrong.
    case data = 65
    /// Something the service needs is not there.
    case unavailable = 69
    /// A mistake of the program itself.
    case software = 70
    /// It may work later: another instance has the lock, a store is busy or full.
    case temporary = 75
    /// The configuration is wrong.
    case configuration = 78
}

/// Why a service cannot start or go on; one line in the log, and an exit code.
public struct ServiceFailure: Error, Sendable, Equatable, CustomStringConvertible {
    /// How the process ends.
    public var code: ExitCode
    /// What was being done, in words joined by hyphens; the log line's event.
    public var event: String
    /// What went wrong, with no token, key or payload.
    public var problem: String

    /// Describes a failure.
    public init(_ code: ExitCode, _ event: String, _ problem: String) {
        self.code = code
        self.event = event
        self.problem = problem
    }

    /// One line.
    public var description: String { "\(event): \(problem)" }
}
