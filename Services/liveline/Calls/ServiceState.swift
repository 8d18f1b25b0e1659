import Contracts
import FoundationEssentials
import Service
import Web

/// How a service stands, as it says on its admin address.
struct ServiceState: Sendable, Equatable {
    /// Whether it can work.
    enum Readiness: String, Sendable {
        case ready = "ready"
        case notReady = "not ready"
        /// Another instance works, and it takes over when that one is gone.
        case standsBy = "stands by"
        /// It is held, stuck or very busy.
        case silent = "does not answer"
        case absent = "not running"
    }

    var instance: InstanceName
    var readiness: Readiness
    /// What it keeps until it is answered, messages.
    var kept: Double?
    /// What waits in it or its store.
    var waiting: Double?
    var cpuSeconds: Double?
    var residentBytes: Double?

    /// Asks a service, all its instances that run; where none does, the first.
    ///
    /// One that ended beside another of its service is missed by nobody, be it a standby that has taken over.
    static func askAll(_ service: ServiceName, _ configuration: Configuration) -> [ServiceState] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: configuration.runDirectory)) ?? []
        let others = names.compactMap { name in
            name.hasSuffix(".admin") ? InstanceName(String(name.dropLast(".admin".count))) : nil
        }
        let states = Set(others).filter { $0.service == service }.sorted().map { ask($0, configuration) }
            .filter { $0.readiness != .absent }
        return states.isEmpty ? [ask(InstanceName(service), configuration)] : states
    }

    /// Whether a service works: one instance of those that work one at a time, else all.
    static func isReady(_ states: [ServiceState]) -> Bool {
        states.contains { $0.readiness == .standsBy }
            ? states.contains { $0.readiness == .ready } : states.allSatisfy { $0.readiness == .ready }
    }

    /// Asks an instance.
    static func ask(
        _ instance: InstanceName, _ configuration: Configuration,
        by call: (HTTPClientRequest) throws -> HTTPClientResponse = { try HTTPClient.perform($0) }
    ) -> ServiceState {
        let address = AdminAddress(instance, configuration)
        var state = ServiceState(instance: instance, readiness: .absent)
        do {
            let answer = try call(address.request("/readyz", timeoutMilliseconds: 2_000))
            let standsBy = String(decoding: answer.body, as: UTF8.self).hasPrefix("standing by")
            state.readiness = answer.status == 200 ? .ready : standsBy ? .standsBy : .notReady
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
                state.instance.number == 1 ? state.instance.service.rawValue : "\(state.instance)",
                state.readiness.rawValue, count(state.kept), count(state.waiting),
                state.cpuSeconds.map { Numbers.fixed($0, 2) } ?? "-",
                state.residentBytes.map { Numbers.fixed($0 / 1_048_576, 1) } ?? "-")
        }
        return table.text
    }

    private static func count(_ value: Double?) -> String {
        value.flatMap { Int(exactly: $0.rounded()) }.map { Numbers.grouped($0) } ?? "-"
    }
}
