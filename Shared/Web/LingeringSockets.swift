internal import Glibc

/// Reads and drops what clients still send after their request was refused.
///
/// Closing a TCP socket with unread bytes resets it, and the reset can overtake the answer (RFC 9112, section 9.6).
struct LingeringSockets: ~Copyable {
    private struct Entry {
        let descriptor: CInt
        let endMilliseconds: Int64
    }

    /// How many sockets may linger; further ones are closed at once.
    private static let countMax = 256
    /// The pause between two reads of one socket, ms.
    private static let pauseMilliseconds: Int64 = 10
    /// What is read of one socket in one turn, in pieces of 64 KiB.
    private static let piecesMax = 64

    private var entries: [Entry] = []
    private(set) var nextDeadlineMilliseconds: Int64?

    deinit {
        for entry in entries { close(entry.descriptor) }
    }

    /// Takes a share of a socket that is about to be closed.
    mutating func add(_ descriptor: CInt, nowMilliseconds: Int64, forMilliseconds: Int64) {
        guard entries.count < LingeringSockets.countMax, forMilliseconds > 0 else { return }
        let copy = fcntl(descriptor, F_DUPFD_CLOEXEC, 0)
        guard copy >= 0 else { return }
        shutdown(copy, CInt(SHUT_WR))
        entries.append(Entry(descriptor: copy, endMilliseconds: nowMilliseconds + forMilliseconds))
        nextDeadlineMilliseconds = nowMilliseconds + LingeringSockets.pauseMilliseconds
    }

    /// Reads what has come, and closes what has ended.
    mutating func process(nowMilliseconds: Int64) {
        guard let due = nextDeadlineMilliseconds, due <= nowMilliseconds else { return }
        entries.removeAll { entry in
            let isOver = LingeringSockets.drain(entry.descriptor) || entry.endMilliseconds <= nowMilliseconds
            if isOver { close(entry.descriptor) }
            return isOver
        }
        nextDeadlineMilliseconds =
            entries.isEmpty ? nil : nowMilliseconds + LingeringSockets.pauseMilliseconds
    }

    /// - Returns: Whether the client has closed its side.
    private static func drain(_ descriptor: CInt) -> Bool {
        unsafe withUnsafeTemporaryAllocation(byteCount: 65_536, alignment: 16) { buffer in
            for _ in 0..<piecesMax {
                let count = unsafe recv(descriptor, buffer.baseAddress, buffer.count, CInt(MSG_DONTWAIT))
                if count > 0 { continue }
                return count == 0 || (errno != EAGAIN && errno != EINTR)
            }
            return false
        }
    }
}
