import Contracts
import Service
import Web

/// Looks at whether APNs can be reached the way that the gateways take.
struct ReachExamination {
    /// How long APNs may take to answer a connection, ms.
    static let reachMilliseconds: Int64 = 5_000

    let configuration: Configuration
    /// Whether a gateway runs.
    let isRunning: Bool

    var findings: [Finding] {
        let environments = Set(
            configuration.applications.flatMap { application in
                application.keys.compactMap(\.environment) + [application.environment]
            })
        return APNsEnvironment.allCases.filter(environments.contains).compactMap {
            look(configuration.apns[$0])
        }
    }

    private func look(_ url: String) -> Finding? {
        // A simulator on this machine is there only beside the services.
        guard isRunning || !Self.isHere(url) else { return nil }
        let proxy = configuration.apns.proxy
        var request = HTTPClientRequest(
            url: url, timeoutMilliseconds: Self.reachMilliseconds, caFile: configuration.apns.caFile,
            proxy: proxy)
        request.offersHTTP2 = true
        do throws(HTTPClientError) {
            _ = try HTTPClient.perform(request)
            return nil
        } catch {
            // What comes after the TLS handshake is of no interest.
            guard [.unresolved, .connectionFailed, .timedOut, .tls].contains(error.reason) else { return nil }
            let way = proxy == nil ? "" : " through apns.proxy"
            return Finding("\(url) cannot be reached\(way): \(error)", remedy(url))
        }
    }

    private func remedy(_ url: String) -> String {
        if configuration.apns.proxy != nil {
            return "see that the proxy runs, lets this host in and opens tunnels to Apple's 17.0.0.0/8"
        }
        if Self.isHere(url) { return "start the simulator, or correct apns in the configuration" }
        return "open the way out to port 443 of Apple's 17.0.0.0/8, or name a proxy as apns.proxy"
    }

    /// Whether a URL names this machine.
    private static func isHere(_ url: String) -> Bool {
        guard let host = Endpoint(url)?.host else { return false }
        return host == "localhost" || host == "::1" || host.hasPrefix("127.")
    }
}
