internal import CSystem
internal import Glibc

/// The signals that a service acts on, as a descriptor of its poll loop.
///
/// They are blocked in every thread that is begun afterwards, so that no call is ever interrupted by them.
final class Signals {
    /// What a signal asks for.
    enum Request: Equatable {
        /// SIGTERM or SIGINT.
        case stop
        /// SIGHUP.
        case reload
    }

    /// Readable when a signal has come.
    let descriptor: CInt

    /// Takes the process's signals over: call it before any thread is begun.
    ///
    /// - Throws: `SystemError` if the kernel has no more descriptors.
    init() throws(SystemError) {
        // Their default would end the process; a service has no use for them.
        for number in [SIGPIPE, SIGUSR1, SIGUSR2, SIGALRM, SIGVTALRM, SIGPROF, SIGIO, SIGPWR] {
            _ = signal(number, SIG_IGN)
        }
        var set = sigset_t()
        unsafe sigemptyset(&set)
        for number in [SIGTERM, SIGINT, SIGHUP] { unsafe sigaddset(&set, number) }
        unsafe pthread_sigmask(SIG_BLOCK, &set, nil)
        descriptor = unsafe signalfd(-1, &set, CInt(SFD_NONBLOCK | SFD_CLOEXEC))
        guard descriptor >= 0 else { throw SystemError(call: "signalfd", code: errno) }
    }

    deinit { close(descriptor) }

    /// What has been asked for since the last call, in order.
    func take() -> [Request] {
        var requests: [Request] = []
        var signal = signalfd_siginfo()
        let size = MemoryLayout<signalfd_siginfo>.size
        while unsafe read(descriptor, &signal, size) == size {
            requests.append(CInt(bitPattern: signal.ssi_signo) == SIGHUP ? .reload : .stop)
        }
        return requests
    }
}
