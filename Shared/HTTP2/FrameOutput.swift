internal import CNghttp2

/// How far a flush came.
enum FlushOutcome {
    case flushed
    case blocked
    case failed(String)
}

/// Gathers frames and writes them as TLS records of up to 16,384 bytes.
///
/// One write for each frame would cost a record, a system call and a packet each.
@safe final class FrameOutput {
    private static let record = 16_384
    private static let frameMax = 16_384 + 9
    private static let capacity = record + 2 * frameMax

    private let bytes = UnsafeMutablePointer<UInt8>.allocate(capacity: FrameOutput.capacity)
    private var start = 0
    private var end = 0
    private var retryLength = 0

    /// All bytes ever taken from the session.
    private(set) var gathered = 0
    /// All bytes ever accepted by TLS; a record counts when the socket has taken it whole.
    private(set) var accepted = 0

    deinit { unsafe bytes.deallocate() }

    var isEmpty: Bool { start == end }

    /// Writes all that the session has to say, until the socket takes no more.
    ///
    /// - Parameters:
    ///   - session: Where the frames come from.
    ///   - socket: Where they go.
    ///   - inspect: Sees each frame once, after it is counted in `gathered`, and may change it.
    /// - Returns: How far it came.
    func flush(
        _ session: Session, into socket: TLSSocket, inspect: (UnsafeMutablePointer<UInt8>, Int) -> Void
    ) -> FlushOutcome {
        while true {
            guard unsafe gather(session, inspect) else { return .failed("nghttp2 has no memory") }
            guard start < end else { return .flushed }
            let count = retryLength > 0 ? retryLength : min(end - start, Self.record)
            switch unsafe socket.write(bytes + start, count: count) {
            case .done:
                start += count
                accepted += count
                retryLength = 0
            case .wantsWrite, .wantsRead:
                retryLength = count
                return .blocked
            case .closed: return .failed("")
            case .failed(let text): return .failed(text)
            }
        }
    }

    private func gather(_ session: Session, _ inspect: (UnsafeMutablePointer<UInt8>, Int) -> Void) -> Bool {
        makeRoom()
        while end - start < Self.record {
            var frame: UnsafePointer<UInt8>?
            let count = unsafe nghttp2_session_mem_send(session.raw, &frame)
            guard count > 0, let frame = unsafe frame else { return count == 0 }
            precondition(end + count <= Self.capacity, "a frame is at most 16,393 bytes")
            let place = unsafe bytes + end
            unsafe place.update(from: frame, count: count)
            end += count
            gathered += count
            if count >= 9 { unsafe inspect(place, count) }
        }
        return true
    }

    private func makeRoom() {
        guard start > 0 else { return }
        unsafe bytes.update(from: bytes + start, count: end - start)
        end -= start
        start = 0
    }
}
