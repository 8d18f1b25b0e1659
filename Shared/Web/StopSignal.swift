internal import CSystem
internal import Glibc

/// SIGTERM and SIGINT as something to poll, for a command that runs until it is told to stop.
///
/// A signal is never missed between two turns of a loop, and interrupts none of its calls. SIGPIPE is ignored as well.
public final class StopSignal: Pollable {
    /// Whether one of them has come.
    public private(set) var hasCome = false
    /// Readable when one of them has come; negative if the system has no descriptor left.
    public let descriptor: CInt

    /// Takes the signals away from their default action: make it before any thread is begun.
    public init() {
        _ = signal(SIGPIPE, SIG_IGN)
        var set = sigset_t()
        unsafe sigemptyset(&set)
        unsafe sigaddset(&set, SIGTERM)
        unsafe sigaddset(&set, SIGINT)
        unsafe pthread_sigmask(SIG_BLOCK, &set, nil)
        descriptor = unsafe signalfd(-1, &set, CInt(SFD_NONBLOCK | SFD_CLOEXEC))
    }

    deinit { close(descriptor) }

    /// There is nothing to do without a signal.
    public var nextDeadlineMilliseconds: Int64? { nil }

    /// Notes that a signal has come, once and for all.
    public func process(nowMilliseconds: Int64) { hasCome = true }
}
