import Contracts
import Service
import Web

/// What runs together on one machine: the services, perhaps a simulator, and where they find each other.
struct Deployment: Sendable {
    /// The services in the order in which they go down: what takes work in goes first, and the registry last.
    ///
    /// What a gateway has on the wire when it stops gets its answer, and only the registry can note that: without it, it
    /// would go once more when all are back. The limiter stays until then, so that it is not missed and waited for.
    static let goingDown: [ServiceName] = [.ingest, .segmenter, .apnsGateway, .rateLimiter, .tokenRegistry]

    /// A simulator of APNs beside the services.
    struct Simulator: Sendable, Equatable {
        /// Where it listens for pushes, `address:port`.
        var listen = "127.0.0.1:2197"
        /// Where its host that manages channels listens, `address:port`.
        var channels = "127.0.0.1:2196"
        /// Where it listens for control calls, `address:port`.
        var control = "127.0.0.1:2198"
        /// The options that say which keys it knows.
        var keys = ["--any-key"]
        /// Further options.
        var others: [String] = []
    }

    var executables: Executables
    /// The file that every service reads; nil leaves them their defaults.
    var configurationFile: String?
    /// What the file and the environment say.
    var configuration: Configuration
    var services = Deployment.goingDown
    var simulator: Simulator?

    /// The programs to start, in the order in which they go down.
    var children: [ChildPlan] {
        Deployment.goingDown.filter(services.contains).map(plan) + (simulator.map { [plan($0)] } ?? [])
    }

    private func plan(_ service: ServiceName) -> ChildPlan {
        var arguments = ["--run", configuration.runDirectory, "--data", configuration.dataDirectory]
        if let configurationFile { arguments += ["--config", configurationFile] }
        return ChildPlan(
            name: service.rawValue, path: executables.path(service.rawValue), arguments: arguments,
            environment: simulator.map { environment($0) } ?? [:],
            probe: AdminAddress(InstanceName(service), configuration).request(
                "/readyz", timeoutMilliseconds: 2_000))
    }

    /// The environment beats the file, so that pushes go to the simulator whatever the file says.
    private func environment(_ simulator: Simulator) -> [String: String] {
        [
            "LIVELINE_APNS_PRODUCTION": "https://\(simulator.listen)",
            "LIVELINE_APNS_SANDBOX": "https://\(simulator.listen)",
            "LIVELINE_APNS_CHANNELS_PRODUCTION": "https://\(simulator.channels)",
            "LIVELINE_APNS_CHANNELS_SANDBOX": "https://\(simulator.channels)",
            "LIVELINE_APNS_CA_FILE": certificateFile,
        ]
    }

    private var certificateFile: String { "\(configuration.dataDirectory)/apns-simulator.pem".absolutePath }

    private func plan(_ simulator: Simulator) -> ChildPlan {
        ChildPlan(
            name: Executables.simulator, path: executables.path(Executables.simulator),
            arguments: [
                "--listen", simulator.listen, "--channels", simulator.channels, "--control",
                simulator.control, "--certificate-out",
                certificateFile,
                "--ingest", doorURL,
            ] + simulator.keys + simulator.others,
            probe: HTTPClientRequest(url: "http://\(simulator.control)/healthz", timeoutMilliseconds: 2_000),
            comesFirst: true)
    }

    /// Where the HTTP door is, as a URL.
    var doorURL: String { configuration.doorURL }
}

extension Configuration {
    /// Where the HTTP door is, as a URL.
    var doorURL: String { "\(http.certificateFile == nil ? "http" : "https")://\(http.listen)" }
}
