/// How far a read came.
enum ReadOutcome {
    /// Nothing is left for now.
    case drained
    /// Its share of this turn is used up; there may be more.
    case more
    /// The peer closed, or the network broke with the system's text.
    case ended(String)
    /// nghttp2 cannot go on with what came.
    case broken
}

/// Reads records and hands them to a session; one can serve many connections.
@safe final class FrameInput {
    private static let capacity = 16_384
    private static let readsEachTurn = 64

    private let buffer = UnsafeMutablePointer<UInt8>.allocate(capacity: FrameInput.capacity)

    deinit { unsafe buffer.deallocate() }

    func read(from socket: TLSSocket, into session: Session) -> ReadOutcome {
        for _ in 0..<Self.readsEachTurn {
            switch unsafe socket.read(into: buffer, capacity: Self.capacity) {
            case .done(let count): guard unsafe session.receive(buffer, count: count) else { return .broken }
            case .wantsRead, .wantsWrite: return .drained
            case .closed: return .ended("")
            case .failed(let text): return .ended(text)
            }
        }
        return .more
    }

    /// Throws away what a peer still sends; false at its end.
    func discard(from socket: TLSSocket) -> Bool {
        unsafe socket.discardInput(buffer, capacity: Self.capacity)
    }
}
