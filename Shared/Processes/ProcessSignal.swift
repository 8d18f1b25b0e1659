internal import Glibc

/// A signal that is sent to a program.
public enum ProcessSignal: Sendable, CaseIterable {
    /// Asks to stop (SIGTERM).
    case terminate
    /// Asks to read the configuration again (SIGHUP).
    case hangUp
    /// Ends it at once (SIGKILL).
    case kill

    var number: CInt {
        switch self {
        case .terminate: SIGTERM
        case .hangUp: SIGHUP
        case .kill: SIGKILL
        }
    }
}
