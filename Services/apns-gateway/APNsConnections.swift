import Contracts
import FoundationEssentials
import HTTP2
import Service
import Telemetry
import Web

/// Sends requests to APNs over HTTP/2 and tells what became of each.
///
/// It belongs to the process's loop and never blocks: names are resolved on threads of their own, and every wait has
/// its deadline in `ConnectionLimits`. What APNs has surely not processed is sent again until its `sendBefore`; all
/// else is told as it is.
final class APNsConnections: Adapter {
    private let tools: LaneTools
    private let resolver: Resolver
    private let isAlone: Bool
    private var endpoints: [LaneKey.Place: Endpoint]
    private var lanes: [Lane] = []
    private var lastLane: Lane?
    private var held: [Pause] = []
    private var isDraining = false
    private var lookUps: [Int: Lane] = [:]
    private var nextLookUp = 0
    private var now: Int64 = 0

    /// Loads keys and authorities.
    ///
    /// - Throws: `ServiceFailure` (78) with all that is wrong with them.
    init(
        _ context: ServiceContext, limits: ConnectionLimits = ConnectionLimits(),
        resolver: Resolver = Resolver(), nowSeconds: @escaping () -> Int64,
        clock: @escaping () -> Int64 = MonotonicClock.nowMilliseconds
    ) throws(ServiceFailure) {
        let ring = try KeyRing(context.configuration)
        for warning in ring.warnings { context.logger.warning("key-file-open", ["problem": warning]) }
        let meters = GatewayMeters(context.metrics)
        Self.makeDirectory(context)
        tools = LaneTools(
            limits: limits, tls: try Self.tls(context.configuration), logger: context.logger, meters: meters,
            tokens: ProviderTokens(
                directory: context.configuration.dataDirectory, ring: ring, nowSeconds: nowSeconds,
                logger: context.logger, made: meters.tokensMade), clock: clock)
        tools.proxy = Self.proxy(context.configuration)
        self.resolver = resolver
        isAlone = context.isAlone
        endpoints = try Self.endpoints(context)
        tools.resolve = { [weak self] lane, now in self?.lookUp(lane, at: now) }
    }

    var descriptors: [CInt] {
        var descriptors = [resolver.descriptor]
        for lane in lanes {
            for connection in lane.connections where !connection.http.isClosed {
                descriptors.append(connection.http.descriptor)
            }
        }
        return descriptors
    }

    var nextDeadlineMilliseconds: Int64? {
        guard tools.events.isEmpty else { return 0 }
        var next = resolver.nextDeadlineMilliseconds ?? .max
        for lane in lanes { next = min(next, lane.nextDeadlineMilliseconds(at: now) ?? .max) }
        return next == .max ? nil : next
    }

    var drained: Bool {
        tools.events.isEmpty && lanes.allSatisfy { $0.flightCount == 0 && $0.queue.isEmpty }
    }

    /// How many connections there are, for each lane in its order.
    var connectionCounts: [Int] { lanes.map(\.connections.count) }

    func process(nowMilliseconds: Int64) -> [APNsEvent] {
        now = nowMilliseconds
        resolver.process(nowMilliseconds: now)
        for answer in resolver.drainAnswers() {
            lookUps.removeValue(forKey: answer.token)?.resolved(answer.outcome, at: now)
        }
        for lane in lanes { lane.process(at: now) }
        measure()
        return tools.takeEvents()
    }

    func perform(_ outputs: [APNsOrder], nowMilliseconds: Int64) {
        now = nowMilliseconds
        for output in outputs {
            switch output {
            case .request(let request):
                guard let lane = lane(request.group.lane) else {
                    tools.tell(.unsent(request.id, .late))
                    continue
                }
                lane.add(request)
            case .hold(let pauses):
                held = pauses
                for lane in lanes { lane.hold(pauses) }
            }
        }
        for lane in lanes where !lane.queue.isEmpty { lane.advance(at: now) }
    }

    func reload(_ context: ServiceContext) throws {
        let ring = try KeyRing(context.configuration)
        let tls = try Self.tls(context.configuration)
        endpoints = try Self.endpoints(context)
        tools.tls = tls
        tools.proxy = Self.proxy(context.configuration)
        tools.tokens.replace(ring: ring)
        // Apple asks for new connections after a key was revoked and after the team got a new app.
        for lane in lanes {
            lane.endpoint = endpoints[lane.key.place] ?? lane.endpoint
            lane.refresh()
        }
    }

    /// Gives back what waits, and finishes what is under way; alone, where nobody takes anything back, it sends all.
    func drain() {
        guard !isAlone else { return }
        isDraining = true
        for lane in lanes { lane.drain(at: now) }
    }

    private func lane(_ key: LaneKey) -> Lane? {
        if let lastLane, lastLane.key == key { return lastLane }
        if let lane = lanes.first(where: { $0.key == key }) {
            lastLane = lane
            return lane
        }
        guard let endpoint = endpoints[key.place] else { return nil }
        let lane = Lane(key, endpoint: endpoint, tools: tools, held: held)
        if isDraining { lane.drain(at: now) }
        lanes.append(lane)
        lastLane = lane
        return lane
    }

    private func lookUp(_ lane: Lane, at now: Int64) {
        nextLookUp += 1
        lookUps[nextLookUp] = lane
        resolver.resolve(
            token: nextLookUp, host: tools.proxy?.host ?? lane.endpoint.host, nowMilliseconds: now,
            timeoutMilliseconds: tools.limits.resolveTimeoutMilliseconds)
    }

    private func measure() {
        var (connections, flights, waiting) = (0, 0, 0)
        for lane in lanes {
            connections += lane.connections.count
            flights += lane.flightCount
            waiting += lane.queue.count
        }
        tools.meters.set(connections: connections, flights: flights, waiting: waiting)
    }

    /// Makes the directory of the provider tokens, which this service may be the first to need.
    private static func makeDirectory(_ context: ServiceContext) {
        do {
            try FileManager.default.createDirectory(
                atPath: context.configuration.dataDirectory, withIntermediateDirectories: true,
                attributes: [.posixPermissions: 0o750])
        } catch {
            context.logger.error("data-directory", ["problem": "\(error)"])
        }
    }

    private static func tls(_ configuration: Configuration) throws(ServiceFailure) -> HTTP2ClientTLS {
        do {
            return try HTTP2ClientTLS(HTTP2TLSOptions(caFile: configuration.apns.caFile))
        } catch {
            throw ServiceFailure(.configuration, "authorities-not-loaded", error.description)
        }
    }

    private static func proxy(_ configuration: Configuration) -> ProxyAddress? {
        configuration.apns.proxy.flatMap { ProxyAddress($0) }
    }

    private static func endpoints(
        _ context: ServiceContext
    ) throws(ServiceFailure) -> [LaneKey.Place: Endpoint] {
        let (options, apns) = (context.options, context.configuration.apns)
        var endpoints: [LaneKey.Place: Endpoint] = [:]
        func add(_ url: String, _ environment: APNsEnvironment, _ host: LaneKey.Host) throws(ServiceFailure) {
            guard let endpoint = Endpoint(url) else {
                throw ServiceFailure(
                    .configuration, "apns-host", "\(environment.rawValue): \(url) is not https://host[:port]")
            }
            endpoints[LaneKey.Place(environment: environment, host: host)] = endpoint
        }
        for environment in APNsEnvironment.allCases {
            try add(options["apns"] ?? apns[environment], environment, .pushes)
            try add(options["apns-channels"] ?? apns.channels[environment], environment, .channels)
        }
        return endpoints
    }
}

extension LaneKey {
    /// What a lane's requests go to.
    struct Place: Hashable {
        var environment: APNsEnvironment
        var host: Host
    }

    fileprivate var place: Place { Place(environment: environment, host: host) }
}
