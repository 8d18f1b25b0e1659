import Contracts
import Service
import Web

/// How a service stands, as it says on its admin address.
struct ServiceState: Sendable, Equatable {
    /// Whether it can work.
    enum Readiness: String, Sendable {
        case ready = "ready"
        case notReady = "not ready"
        /// It is held, stuck or very busy.
        case silent = "does not answer"
        case absent = "not running"
    }

    var service: ServiceName
    var readiness: Readiness
    /// What it keeps until it is answered, messages.
    var kept: Double?
    /// What waits in it or its store.
    var waiting: Double?
    var cpuSeconds: Double?
    var residentBytes: Double?

    /// Asks a service.
    static func ask(
        _ service: ServiceName, _ configuration: Configuration,
        by call: (HTTPClientRequest) throws -> HTTPClientResponse = { try HTTPClient.perform($0) }
    ) -> ServiceState {
        let address = AdminAddress(InstanceName(service), configuration)
        var state = ServiceState(service: service, readiness: .absent)
        do {
            let answer = try call(address.request("/readyz", timeoutMilliseconds: 2_000))
            state.readiness = answer.status == 200 ? .ready : .notReady
            let metrics = try call(address.request("/metrics", timeoutMilliseconds: 2_000))
            if metrics.status == 200 {
                state.take(MetricsText(String(decoding: metrics.body, as: UTF8.self)))
            }
        } catch {
            if (error as? HTTPClientError)?.reason == .timedOut { state.readiness = .silent }
        }
        return state
    }

    private mutating func take(_ metrics: MetricsText) {
        kept = metrics.sum("liveline_kept")
        waiting = metrics.sum("liveline_waiting")
        cpuSeconds = metrics.sum("process_cpu_seconds_total")
        residentBytes = metrics.sum("process_resident_memory_bytes")
    }

    /// One row for each service.
    static func table(_ states: [ServiceState]) -> String {
        var table = Table([
            ("service", .left), ("state", .left), ("kept", .right), ("waiting", .right), ("CPU s", .right),
            ("MB", .right),
        ])
        for state in states {
            table.add(
                state.service.rawValue, state.readiness.rawValue, count(state.kept), count(state.waiting),
                state.cpuSeconds.map { Numbers.fixed($0, 2) } ?? "-",
                state.residentBytes.map { Numbers.fixed($0 / 1_048_576, 1) } ?? "-")
        }
        return table.text
    }

    private static func count(_ value: Double?) -> String {
        value.flatMap { Int(exactly: $0.rounded()) }.map { Numbers.grouped($0) } ?? "-"
    }
}
