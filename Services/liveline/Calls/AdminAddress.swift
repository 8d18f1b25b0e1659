import Contracts
import Service
import Web

/// Where a service tells operators about itself.
struct AdminAddress: Sendable, Equatable {
    private let listen: String

    /// The address that the configuration gives an instance: number n listens n - 1 ports above the first one.
    init(_ name: InstanceName, _ configuration: Configuration) {
        guard let first = configuration.adminListen[name.service] else {
            listen = "unix:\(configuration.runDirectory)/\(name).admin"
            return
        }
        guard !first.hasPrefix("unix:"), let colon = first.lastIndex(of: ":"),
            let port = Int(first[colon...].dropFirst())
        else {
            listen = first
            return
        }
        listen = "\(first[...colon])\(port + name.number - 1)"
    }

    /// A call to it.
    func request(_ path: String, timeoutMilliseconds: Int64) -> HTTPClientRequest {
        guard listen.hasPrefix("unix:") else {
            return HTTPClientRequest(url: "http://\(listen)\(path)", timeoutMilliseconds: timeoutMilliseconds)
        }
        return HTTPClientRequest(
            url: "http://localhost\(path)", timeoutMilliseconds: timeoutMilliseconds,
            unixSocketPath: String(listen.dropFirst("unix:".count)))
    }
}
