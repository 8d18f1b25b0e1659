import Contracts
import Service
import Web

/// Where a service tells operators about itself.
struct AdminAddress: Sendable, Equatable {
    private let listen: String

    /// The address that the configuration gives the service's first instance.
    init(_ service: ServiceName, _ configuration: Configuration) {
        let path = "\(configuration.runDirectory)/\(InstanceName(service)).admin"
        listen = configuration.adminListen[service] ?? "unix:\(path)"
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
