internal import CNghttp2
internal import Glibc

/// An epoll descriptor that an outer loop can wait for like any other.
@safe final class Readiness {
    let descriptor: CInt
    private let buffer = UnsafeMutablePointer<epoll_event>.allocate(capacity: 256)

    init() {
        descriptor = epoll_create1(CInt(EPOLL_CLOEXEC))
        precondition(descriptor >= 0, "epoll_create1: \(Sockets.text(errno))")
    }

    deinit {
        Glibc.close(descriptor)
        unsafe buffer.deallocate()
    }

    func add(_ target: CInt, id: UInt64, wantsWrite: Bool = false) {
        control(EPOLL_CTL_ADD, target, id, wantsWrite)
    }

    func change(_ target: CInt, id: UInt64, wantsWrite: Bool) {
        control(EPOLL_CTL_MOD, target, id, wantsWrite)
    }

    /// To be called before the descriptor is closed.
    func remove(_ target: CInt) {
        epoll_ctl(descriptor, EPOLL_CTL_DEL, target, nil)
    }

    /// Calls `body` with the id of each descriptor that is ready, at most 256.
    func forEachReady(_ body: (UInt64) -> Void) {
        let count = unsafe epoll_wait(descriptor, buffer, 256, 0)
        guard count > 0 else { return }
        for index in 0..<Int(count) { unsafe body(buffer[index].data.u64) }
    }

    private func control(_ operation: CInt, _ target: CInt, _ id: UInt64, _ wantsWrite: Bool) {
        let mask = wantsWrite ? EPOLLIN.rawValue | EPOLLOUT.rawValue : EPOLLIN.rawValue
        var event = unsafe epoll_event(events: mask, data: epoll_data_t(u64: id))
        let result = unsafe epoll_ctl(descriptor, operation, target, &event)
        precondition(result == 0, "epoll_ctl: \(Sockets.text(errno))")
    }
}
