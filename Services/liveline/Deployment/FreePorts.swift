import Service
import Synchronization
import Web

/// Ports of the loopback interface that nobody listens at in this moment.
enum FreePorts {
    /// Below those that Linux gives to whoever connects (ip(7), `ip_local_port_range`): a connection that is opened
    /// between the search and the program's start cannot take one away.
    private static let range: ClosedRange<UInt16> = 12_000...32_000
    /// Where the next search begins, so that no two of this process find the same.
    private static let next = Mutex(UInt16.random(in: range))

    /// Finds different ports.
    ///
    /// - Throws: `CommandFailure` if there are none.
    static func find(_ count: Int) throws(CommandFailure) -> [UInt16] {
        var found: [UInt16] = []
        for _ in range {
            guard found.count < count else { return found }
            let port = next.withLock { next in
                defer { next = next == range.upperBound ? range.lowerBound : next + 1 }
                return next
            }
            do {
                try HTTPServer(.tcp(host: "127.0.0.1", port: port)) { _, _ in }.close()
                found.append(port)
            } catch {
                guard error.reason == .inUse else {
                    throw CommandFailure(.unavailable, "no free port: \(error)")
                }
            }
        }
        throw CommandFailure(.unavailable, "no free port in \(range)")
    }
}
