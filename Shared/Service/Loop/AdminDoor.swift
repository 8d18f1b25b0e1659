import Bus
import Contracts
import Telemetry
import Web

/// Serves `/metrics`, `/readyz` and `/healthz` of one process.
final class AdminDoor {
    /// What the process still lacks to work, in words; empty when it is ready.
    var missing: () -> [String] = { ["starting"] }
    /// Called before metrics are written, to set those that are not counted as they happen.
    var refresh: () -> Void = {}
    private let metrics: Metrics
    private var server: HTTPServer?
    /// Where its socket's file is, and which one it is; nil for a TCP port.
    private var place: (path: String, file: FileIdentity?)?

    /// Listens.
    ///
    /// - Throws: `ServiceFailure` if it cannot.
    init(_ address: HTTPAddress, metrics: Metrics) throws(ServiceFailure) {
        self.metrics = metrics
        var limits = HTTPServerLimits()
        limits.bodyBytesMax = 0
        limits.connectionsMax = 64
        do {
            server = try HTTPServer(address, limits: limits) { [weak self] request, exchange in
                // A request that arrives while the process ends outlives this object.
                guard let self else { return exchange.respond(status: 503) }
                answer(request, exchange)
            }
        } catch {
            throw ServiceFailure(
                error.reason == .inUse ? .temporary : .unavailable, "admin-door", error.description)
        }
        if case .unix(let path) = address { place = (path, FileIdentity(at: path)) }
    }

    /// Makes sure that the door can still be reached.
    ///
    /// - Throws: `ServiceFailure` if its socket's file was removed or replaced.
    func requirePlace() throws(ServiceFailure) {
        guard let place, place.file == nil || place.file != FileIdentity(at: place.path) else { return }
        throw .placeLost(place.path)
    }

    /// The loop's part of it.
    var pollable: (any Pollable)? { server }

    /// Where the door of an instance is: what the configuration says, else a Unix socket in the run directory.
    ///
    /// Instance n of a service listens n - 1 ports above the configured one, so that replicas share one file.
    ///
    /// - Throws: `ServiceFailure` if the configuration names no address.
    static func address(
        _ configuration: Configuration, _ endpoint: BusEndpoint
    ) throws(ServiceFailure) -> HTTPAddress {
        let instance = endpoint.instance
        guard let text = configuration.adminListen[instance.service] else {
            return .unix(path: endpoint.adminPath)
        }
        do {
            let address = try HTTPAddress(parsing: text)
            guard case .tcp(let host, let port) = address, port != 0 else { return address }
            let own = Int(port) + instance.number - 1
            guard let own = UInt16(exactly: own) else {
                throw ServiceFailure(.configuration, "admin-door", "port \(own) is too high")
            }
            return .tcp(host: host, port: own)
        } catch let error as ServiceFailure {
            throw error
        } catch {
            throw ServiceFailure(.configuration, "admin-door", "\(error)")
        }
    }

    private func answer(_ request: HTTPRequest, _ exchange: HTTPExchange) {
        guard request.method == "GET" || request.method == "HEAD" else {
            return exchange.respond(status: 405, headers: ["Allow": "GET, HEAD"])
        }
        switch request.path {
        case "/healthz": text("ok\n", 200, exchange)
        case "/readyz":
            let missing = missing()
            text(
                missing.isEmpty ? "ready\n" : missing.map { "\($0)\n" }.joined(),
                missing.isEmpty ? 200 : 503, exchange)
        case "/metrics":
            refresh()
            exchange.respond(
                status: 200, headers: ["Content-Type": Metrics.contentType],
                body: [UInt8]((metrics.exposition() + usage()).utf8))
        default: text("not found\n", 404, exchange)
        }
    }

    private func text(_ text: String, _ status: Int, _ exchange: HTTPExchange) {
        exchange.respond(
            status: status, headers: ["Content-Type": "text/plain; charset=utf-8"], body: [UInt8](text.utf8))
    }

    /// What the kernel counts for the process, under the names that Prometheus' own clients use.
    private func usage() -> String {
        let usage = ProcessUsage.now()
        return """
            # HELP process_cpu_seconds_total CPU seconds used, in the program and in the kernel.
            # TYPE process_cpu_seconds_total counter
            process_cpu_seconds_total \(usage.cpuSeconds)
            # HELP process_resident_memory_bytes Resident memory.
            # TYPE process_resident_memory_bytes gauge
            process_resident_memory_bytes \(usage.residentBytes)

            """
    }
}
