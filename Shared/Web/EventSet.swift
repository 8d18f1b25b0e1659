internal import CSystem
internal import Glibc

/// An epoll set; each descriptor in it carries a number.
struct EventSet: ~Copyable {
    /// What is waited for, and what has come.
    struct Interest: OptionSet {
        let rawValue: UInt32
        static let read = Interest(rawValue: EPOLLIN.rawValue)
        static let write = Interest(rawValue: EPOLLOUT.rawValue)
        static let failure = Interest(rawValue: EPOLLERR.rawValue | EPOLLHUP.rawValue)
        /// The descriptor tells once and is then silent until it is put again.
        static let once = Interest(rawValue: EPOLLONESHOT.rawValue)
    }

    private static let batch = 64

    let descriptor: CInt

    /// - Returns: `nil` if the system has no descriptor left; errno tells.
    init?() {
        let descriptor = epoll_create1(CInt(EPOLL_CLOEXEC))
        guard descriptor >= 0 else { return nil }
        self.descriptor = descriptor
    }

    deinit { close(descriptor) }

    /// Adds a descriptor, or changes what is waited for.
    ///
    /// - Returns: Whether the set has it.
    func put(_ member: CInt, _ interest: Interest, number: Int) -> Bool {
        var event = unsafe epoll_event()
        unsafe event.events = interest.rawValue
        unsafe event.data.u64 = UInt64(number)
        return unsafe epoll_ctl(descriptor, EPOLL_CTL_MOD, member, &event) == 0
            || epoll_ctl(descriptor, EPOLL_CTL_ADD, member, &event) == 0
    }

    /// Removes a descriptor before it is closed; one that is not in the set is no matter.
    func remove(_ member: CInt) {
        var event = unsafe epoll_event()
        _ = unsafe epoll_ctl(descriptor, EPOLL_CTL_DEL, member, &event)
    }

    /// What is ready now, at most 64 of it.
    func ready() -> [(number: Int, events: Interest)] {
        unsafe withUnsafeTemporaryAllocation(of: epoll_event.self, capacity: EventSet.batch) { buffer in
            let count = unsafe epoll_wait(descriptor, buffer.baseAddress, CInt(EventSet.batch), 0)
            return unsafe buffer.prefix(max(0, Int(count))).map {
                unsafe (number: Int($0.data.u64), events: Interest(rawValue: $0.events))
            }
        }
    }
}
