internal import Glibc

/// A signal that is sent to a program.
public enum ProcessSignal: Sendable, CaseIterable {
    /// Asks to stop (SIGTERM).
    case terminate
    /// Asks to read the configuration again (SIGHUP).
    case hangUp
    /// Ends it at once (SIGKILL).
    case kill
    /// Holds it, as if the machine had no time for it (SIGSTOP).
    case hold
    /// Lets it go on after `hold` (SIGCONT).
    case goOn

    var number: CInt {
        switch self {
        case .terminate: SIGTERM
        case .hangUp: SIGHUP
        case .kill: SIGKILL
        case .hold: SIGSTOP
        case .goOn: SIGCONT
        }
    }
}
