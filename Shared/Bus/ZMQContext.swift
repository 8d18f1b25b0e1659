internal import CZMQ
internal import Glibc

/// libzmq's context, shared by the sockets of one bus and ended after the last of them.
@safe final class ZMQContext {
    let pointer: UnsafeMutableRawPointer

    init() throws(BusError) {
        guard let pointer = unsafe zmq_ctx_new() else {
            throw BusError(.system, call: "zmq_ctx_new", path: "", code: zmq_errno())
        }
        unsafe self.pointer = unsafe pointer
    }

    deinit {
        // It waits for the linger of closed sockets; a signal must not cut that short.
        while unsafe zmq_ctx_term(pointer) != 0, zmq_errno() == EINTR {}
    }
}
