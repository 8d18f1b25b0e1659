internal import CSystem
internal import Glibc

/// A signal that is sent to a process or waited for.
public enum ProcessSignal: Sendable, CaseIterable {
    /// Asks to stop (SIGTERM).
    case terminate
    /// Asks to stop, from a terminal (SIGINT).
    case interrupt
    /// Asks to read the configuration again (SIGHUP).
    case hangUp
    /// Ends a process at once (SIGKILL); it cannot be waited for.
    case kill

    var number: CInt {
        switch self {
        case .terminate: SIGTERM
        case .interrupt: SIGINT
        case .hangUp: SIGHUP
        case .kill: SIGKILL
        }
    }
}

/// Signals to this process as something to poll, so that they come between two turns of a loop.
public final class SignalInbox {
    /// Becomes readable when a signal has come.
    public let descriptor: CInt
    private let signals: [ProcessSignal]

    /// Takes the signals away from their default action, for the whole process, and ignores SIGPIPE.
    ///
    /// It is made before any thread is, so that all of them leave the signals alone.
    ///
    /// - Throws: `ProcessError` if the system has no descriptor left.
    public init(_ signals: [ProcessSignal]) throws(ProcessError) {
        var set = sigset_t()
        unsafe sigemptyset(&set)
        for signal in signals { unsafe sigaddset(&set, signal.number) }
        unsafe sigprocmask(SIG_BLOCK, &set, nil)
        descriptor = unsafe signalfd(-1, &set, CInt(SFD_NONBLOCK | SFD_CLOEXEC))
        self.signals = signals
        guard descriptor >= 0 else { throw ProcessError("signalfd", "") }
        signal(SIGPIPE, SIG_IGN)
    }

    deinit { close(descriptor) }

    /// The signals that have come since the last call, in order.
    public func take() -> [ProcessSignal] {
        var taken: [ProcessSignal] = []
        var information = signalfd_siginfo()
        let size = MemoryLayout<signalfd_siginfo>.size
        while unsafe read(descriptor, &information, size) == size {
            let number = CInt(information.ssi_signo)
            if let signal = signals.first(where: { $0.number == number }) { taken.append(signal) }
        }
        return taken
    }
}
