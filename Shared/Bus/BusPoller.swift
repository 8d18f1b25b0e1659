internal import CZMQ
internal import Glibc

/// Waits on libzmq sockets and plain descriptors together.
@safe final class BusPoller {
    private var items: [zmq_pollitem_t] = unsafe []

    func wait(_ sockets: [ZMQSocket], _ descriptors: [CInt], timeoutMilliseconds: Int64) {
        unsafe items.removeAll(keepingCapacity: true)
        for socket in sockets {
            unsafe items.append(
                zmq_pollitem_t(socket: socket.pointer, fd: -1, events: Int16(ZMQ_POLLIN), revents: 0))
        }
        for descriptor in descriptors where descriptor >= 0 {
            unsafe items.append(
                zmq_pollitem_t(socket: nil, fd: descriptor, events: Int16(ZMQ_POLLIN), revents: 0))
        }
        let timeout = Int(max(0, timeoutMilliseconds))
        let result = unsafe zmq_poll(&items, CInt(items.count), timeout)
        precondition(result >= 0 || zmq_errno() == EINTR, "zmq_poll")
    }
}

/// The names in a directory, in no order.
///
/// - Throws: `BusError` if it cannot be read.
func directoryEntries(_ path: String) throws(BusError) -> [String] {
    guard let directory = unsafe opendir(path) else {
        throw BusError(.system, call: "opendir", path: path, code: errno)
    }
    defer { unsafe closedir(directory) }
    var names: [String] = []
    while let entry = unsafe readdir(directory) {
        let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) { pointer in
            unsafe pointer.withMemoryRebound(to: CChar.self, capacity: 256) { unsafe String(cString: $0) }
        }
        names.append(name)
    }
    return names
}
