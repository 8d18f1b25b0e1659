internal import Glibc

/// Notices the first byte of a request, which libmicrohttpd does not tell.
///
/// A watched connection stands in an epoll set beside libmicrohttpd's own, for one event. Busy connections are not
/// watched: their request line comes before the next sweep.
struct FirstByteWatch: ~Copyable {
    private let set: EventSet
    private var watched: [Int: ServerConnection] = [:]

    init() throws(HTTPServerError) {
        guard let set = EventSet() else {
            throw HTTPServerError(reason: .system, call: "epoll_create1", code: errno, context: "")
        }
        self.set = set
    }

    /// Waits for the next byte of a connection.
    mutating func watch(_ connection: ServerConnection) {
        let number = Int(connection.descriptor)
        guard watched[number] == nil, set.put(connection.descriptor, [.read, .once], number: number) else {
            return
        }
        watched[number] = connection
    }

    /// Forgets a connection, before its descriptor is closed.
    mutating func forget(_ connection: ServerConnection) {
        set.remove(connection.descriptor)
        watched[Int(connection.descriptor)] = nil
    }

    /// Marks the watched connections on which a byte has come as receiving.
    mutating func collect(nowMilliseconds: Int64) {
        while !watched.isEmpty {
            let ready = set.ready()
            guard !ready.isEmpty else { return }
            for (number, _) in ready {
                guard let connection = watched.removeValue(forKey: number) else { continue }
                if connection.phase == .idle { connection.enter(.receiving, at: nowMilliseconds) }
            }
        }
    }
}
