internal import CSystem
internal import Glibc

/// The signals that a process acts on, as a member of its poll loop.
///
/// They are blocked in every thread that is begun afterwards: none is missed between two turns of a loop, and none
/// interrupts a call. Signals that would end the process without a reason to are ignored, SIGPIPE first of all.
public final class Signals: Pollable {
    /// What a signal asks for.
    public enum Request: Sendable, Equatable {
        /// SIGTERM or SIGINT.
        case stop
        /// SIGHUP.
        case reload
    }

    /// Readable when a signal has come; negative if the system had no descriptor left.
    public let descriptor: CInt
    private var requests: [Request] = []

    /// Takes the process's signals over: call it before any thread is begun.
    public init() {
        for number in [SIGPIPE, SIGUSR1, SIGUSR2, SIGALRM, SIGVTALRM, SIGPROF, SIGIO, SIGPWR] {
            _ = signal(number, SIG_IGN)
        }
        var set = sigset_t()
        unsafe sigemptyset(&set)
        for number in [SIGTERM, SIGINT, SIGHUP] { unsafe sigaddset(&set, number) }
        unsafe pthread_sigmask(SIG_BLOCK, &set, nil)
        descriptor = unsafe signalfd(-1, &set, CInt(SFD_NONBLOCK | SFD_CLOEXEC))
    }

    deinit { if descriptor >= 0 { close(descriptor) } }

    /// There is nothing to do without a signal.
    public var nextDeadlineMilliseconds: Int64? { nil }

    /// Notes what has been asked for, until `take` tells it.
    public func process(nowMilliseconds: Int64) { note() }

    /// What has been asked for since the last call, in order.
    public func take() -> [Request] {
        note()
        defer { requests = [] }
        return requests
    }

    private func note() {
        var signal = signalfd_siginfo()
        let size = MemoryLayout<signalfd_siginfo>.size
        while unsafe read(descriptor, &signal, size) == size {
            requests.append(CInt(bitPattern: signal.ssi_signo) == SIGHUP ? .reload : .stop)
        }
    }
}
