import Service
import Web

/// Ports of the loopback interface that nobody listens at in this moment.
enum FreePorts {
    /// Finds different ports.
    ///
    /// - Throws: `CommandFailure` if there are none.
    static func find(_ count: Int) throws(CommandFailure) -> [UInt16] {
        var servers: [HTTPServer] = []
        defer { for server in servers { server.close() } }
        do {
            for _ in 0..<count {
                servers.append(try HTTPServer(.tcp(host: "127.0.0.1", port: 0)) { _, _ in })
            }
        } catch {
            throw CommandFailure(.unavailable, "no free port: \(error)")
        }
        return servers.compactMap(\.port)
    }
}
