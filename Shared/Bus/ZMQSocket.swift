internal import CZMQ
internal import Glibc

/// One libzmq socket, for one thread; closed with the last reference to it.
@safe final class ZMQSocket {
    enum Kind { case push, pull, pair }

    let pointer: UnsafeMutableRawPointer
    // Released after the socket is closed: the other order would wait for ever in zmq_ctx_term.
    private let context: ZMQContext
    // Released after the socket is closed too: libzmq would wait for ever to tell an event that nobody reads.
    private var monitor: ZMQSocket?
    private let message = UnsafeMutablePointer<zmq_msg_t>.allocate(capacity: 1)

    init(_ kind: Kind, _ context: ZMQContext, limits: BusLimits) throws(BusError) {
        let type =
            switch kind {
            case .push: ZMQ_PUSH
            case .pull: ZMQ_PULL
            case .pair: ZMQ_PAIR
            }
        guard let pointer = unsafe zmq_socket(context.pointer, type) else {
            throw BusError(.system, call: "zmq_socket", path: "", code: zmq_errno())
        }
        unsafe self.pointer = unsafe pointer
        self.context = context
        set(ZMQ_LINGER, kind == .push ? limits.lingerMilliseconds : 0)
        set(ZMQ_SNDHWM, limits.queuedMessagesMax)
        set(ZMQ_RCVHWM, limits.queuedMessagesMax)
        set(ZMQ_IMMEDIATE, 1)
        set(ZMQ_RECONNECT_IVL, limits.reconnectMillisecondsMin)
        set(ZMQ_RECONNECT_IVL_MAX, limits.reconnectMillisecondsMax)
        var frameBytesMax = Int64(limits.frameBytesMax)
        let result = unsafe zmq_setsockopt(pointer, ZMQ_MAXMSGSIZE, &frameBytesMax, MemoryLayout<Int64>.size)
        precondition(result == 0, "zmq_setsockopt")
    }

    deinit {
        if monitor != nil {
            // Read empty, as libzmq waits for room to tell the end of it; and before the context ends, as libzmq 4.3.4
            // loses the memory of an event that it then still wants to tell.
            _ = takeEndedConnections(limits: BusLimits())
            unsafe zmq_socket_monitor(pointer, nil, 0)
        }
        unsafe zmq_close(pointer)
        unsafe message.deallocate()
    }

    private func set(_ option: CInt, _ value: Int32) {
        var value = value
        let result = unsafe zmq_setsockopt(pointer, option, &value, MemoryLayout<Int32>.size)
        precondition(result == 0, "zmq_setsockopt")
    }

    func bind(ipc path: String) throws(BusError) {
        guard unsafe zmq_bind(pointer, "ipc://" + path) == 0 else {
            throw BusError(.system, call: "zmq_bind", path: path, code: zmq_errno())
        }
    }

    func connect(ipc path: String) throws(BusError) {
        guard unsafe zmq_connect(pointer, "ipc://" + path) == 0 else {
            throw BusError(.system, call: "zmq_connect", path: path, code: zmq_errno())
        }
    }

    /// Has the connections that end counted from now on.
    func countEndedConnections(name: String) throws(BusError) {
        let address = "inproc://\(name)"
        let events =
            ZMQ_EVENT_DISCONNECTED | ZMQ_EVENT_HANDSHAKE_FAILED_NO_DETAIL
            | ZMQ_EVENT_HANDSHAKE_FAILED_PROTOCOL
        guard unsafe zmq_socket_monitor(pointer, address, events) == 0 else {
            throw BusError(.system, call: "zmq_socket_monitor", path: address, code: zmq_errno())
        }
        let monitor = try ZMQSocket(.pair, context, limits: BusLimits())
        guard unsafe zmq_connect(monitor.pointer, address) == 0 else {
            throw BusError(.system, call: "zmq_connect", path: address, code: zmq_errno())
        }
        self.monitor = monitor
    }

    /// How many connections have ended since the last call.
    func takeEndedConnections(limits: BusLimits) -> Int {
        var count = 0
        while case .message = monitor?.receive(limits: limits) { count += 1 }
        return count
    }

    /// Sends all frames as one message, without waiting.
    ///
    /// - Returns: whether the message was taken; false if nobody is connected or the queue is full.
    func send(_ frames: [[UInt8]]) -> Bool {
        var isTaken = true
        for (index, frame) in frames.enumerated() {
            let isLast = index == frames.count - 1
            guard !send(frame, more: !isLast) else { continue }
            guard index > 0 else { return false }
            // The connection ended in the middle: libzmq drops the frames that follow, up to the last one.
            isTaken = false
        }
        return isTaken
    }

    private func send(_ frame: [UInt8], more: Bool) -> Bool {
        let flags = ZMQ_DONTWAIT | (more ? ZMQ_SNDMORE : 0)
        while true {
            let sent = unsafe frame.withUnsafeBytes {
                unsafe zmq_send(pointer, $0.baseAddress, $0.count, flags)
            }
            if sent >= 0 { return true }
            let code = zmq_errno()
            precondition(code == EINTR || code == EAGAIN, "zmq_send")
            if code == EAGAIN { return false }
        }
    }

    /// Takes one message, without waiting.
    func receive(limits: BusLimits) -> Received {
        var frames: [[UInt8]] = []
        var byteCount = 0
        var frameCount = 0
        while receiveFrame() {
            let size = unsafe zmq_msg_size(message)
            byteCount += size
            frameCount += 1
            let fits = frameCount <= limits.framesMax && byteCount <= limits.messageBytesMax
            if fits {
                let bytes = unsafe UnsafeRawBufferPointer(start: zmq_msg_data(message), count: size)
                unsafe frames.append([UInt8](bytes))
            } else {
                // What came so far is let go at once; the rest is read and dropped.
                frames = []
            }
            let more = unsafe zmq_msg_more(message) != 0
            unsafe zmq_msg_close(message)
            guard !more else { continue }
            if frameCount > limits.framesMax { return .dropped(.tooManyFrames, byteCount: byteCount) }
            return fits ? .message(frames) : .dropped(.tooLarge, byteCount: byteCount)
        }
        return .nothing
    }

    private func receiveFrame() -> Bool {
        unsafe zmq_msg_init(message)
        while unsafe zmq_msg_recv(message, pointer, ZMQ_DONTWAIT) < 0 {
            let code = zmq_errno()
            precondition(code == EINTR || code == EAGAIN, "zmq_msg_recv")
            if code == EAGAIN {
                unsafe zmq_msg_close(message)
                return false
            }
        }
        return true
    }
}

/// What a lane holds next.
public enum Received: Sendable, Equatable {
    /// A whole message.
    case message([[UInt8]])
    /// A message that passed a limit and is gone.
    case dropped(Fault, byteCount: Int)
    /// Nothing now.
    case nothing

    /// The limits a message may pass.
    public enum Fault: String, Sendable, CaseIterable {
        /// All frames together have too many bytes.
        case tooLarge = "too-large"
        /// There are too many frames.
        case tooManyFrames = "too-many-frames"
    }
}
