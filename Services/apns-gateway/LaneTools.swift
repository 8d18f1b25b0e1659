import HTTP2
import Service
import Telemetry

/// What the lanes share.
final class LaneTools {
    let limits: ConnectionLimits
    var tls: HTTP2ClientTLS
    /// Through which every connection goes; nil for straight ones.
    var proxy: ProxyAddress?
    let logger: Logger
    let meters: GatewayMeters
    let tokens: ProviderTokens
    /// The monotonic clock, for what must not go by the time at which the turn began.
    let clock: () -> Int64
    /// Begins to resolve the host of a lane, which then gets `resolved`.
    var resolve: (Lane, Int64) -> Void = { _, _ in }
    /// What the core has to be told.
    private(set) var events: [APNsEvent] = []

    init(
        limits: ConnectionLimits, tls: HTTP2ClientTLS, logger: Logger, meters: GatewayMeters,
        tokens: ProviderTokens, clock: @escaping () -> Int64
    ) {
        self.limits = limits
        self.tls = tls
        self.logger = logger
        self.meters = meters
        self.tokens = tokens
        self.clock = clock
    }

    func tell(_ event: APNsEvent) { events.append(event) }

    /// Takes the events since the last call.
    func takeEvents() -> [APNsEvent] {
        var taken: [APNsEvent] = []
        swap(&taken, &events)
        return taken
    }
}

/// The figures of the connections.
struct GatewayMeters {
    /// Provider tokens made by this process.
    let tokensMade: CounterSeries
    /// Connections that got as far as HTTP/2.
    let opened: CounterSeries
    private let connections: Gauge
    private let flights: Gauge
    private let waiting: Gauge

    init(_ metrics: Metrics) {
        tokensMade = metrics.counter(
            "liveline_provider_tokens_made_total", help: "Provider tokens made by this process."
        ).series()
        opened = metrics.counter(
            "liveline_apns_connections_opened_total", help: "Connections to APNs that got as far as HTTP/2."
        ).series()
        connections = metrics.gauge("liveline_apns_connections", help: "Connections to APNs.")
        flights = metrics.gauge("liveline_apns_in_flight", help: "Requests that APNs has not answered yet.")
        waiting = metrics.gauge("liveline_apns_waiting", help: "Requests that wait for a stream.")
    }

    func set(connections: Int, flights: Int, waiting: Int) {
        self.connections.set(connections)
        self.flights.set(flights)
        self.waiting.set(waiting)
    }
}
