import Contracts
import Service

@testable import apns_gateway

/// A gateway's core with a clock that stands still, and shorthand for what goes in and comes out.
struct Bench {
    static let limiter = Sender(InstanceName(.rateLimiter, 1), epoch: 7)
    static let otherLimiter = Sender(InstanceName(.rateLimiter, 2), epoch: 8)
    static let registry = Sender(InstanceName(.tokenRegistry, 1), epoch: 9)
    static let application = "AAAAA-00001"
    static let key = Configuration.Key(teamID: "TEAM123456", keyID: "KEY1234567", file: "none")

    var core: APNsGateway
    var now = Moment(monotonic: 5_000_000, wall: 1_800_000_000_000)
    private var store = NoStore()

    init(_ configuration: Configuration = Bench.configuration()) {
        core = APNsGateway(settings: GatewaySettings(configuration))
    }

    static func configuration(keys: [Configuration.Key] = [key]) -> Configuration {
        var application = Configuration.Application(code: Bench.application, bundleID: "com.example.orders")
        application.keys = keys
        var configuration = Configuration()
        configuration.applications = [application]
        return configuration
    }

    @discardableResult
    mutating func step(_ input: Input<APNsEvent>) -> [Effect<APNsOrder>] {
        core.step(input, at: now, in: &store)
    }

    /// Hands in one push and says what follows.
    @discardableResult
    mutating func send(
        _ push: Push, _ notification: Notification? = nil, from limiter: Sender = Bench.limiter
    ) -> [Effect<APNsOrder>] {
        send([push], notification, from: limiter)
    }

    mutating func send(
        _ pushes: [Push], _ notification: Notification? = nil, payload: Payload? = nil,
        from limiter: Sender = Bench.limiter
    ) -> [Effect<APNsOrder>] {
        let message = Pushes(
            application: Bench.application, notification: notification ?? update, pushes: pushes,
            payload: payload ?? Payload(contentState: Array(#"{"step":2}"#.utf8)))
        return step(.message(.pushes(message), from: limiter))
    }

    @discardableResult
    mutating func answer(
        _ device: Int64, _ status: Int, _ reason: String? = nil, timestamp: Int64? = nil,
        retryAfter: Int64? = nil
    ) -> [Effect<APNsOrder>] {
        let answer = APNsAnswer(
            status: status, reason: reason, timestampMilliseconds: timestamp, retryAfterSeconds: retryAfter)
        return step(
            .external(.answered(newest(device), answer, sentAtMilliseconds: now.monotonic - 40)))
    }

    @discardableResult
    mutating func turn() -> [Effect<APNsOrder>] { step(.turn(.boundless())) }

    @discardableResult
    mutating func note(_ device: Int64, attempt: Int = 1) -> [Effect<APNsOrder>] {
        step(.message(.noted(Noted([.report(id(device), attempt: attempt)])), from: Bench.registry))
    }

    @discardableResult
    mutating func hello(paused: [Pause], from sender: Sender = Bench.registry) -> [Effect<APNsOrder>] {
        step(.message(.hello(Hello(windows: Windows(), paused: paused)), from: sender))
    }

    mutating func advance(seconds: Int64) { now = now.advanced(byMilliseconds: seconds * 1_000) }

    var update: Notification {
        Notification(event: .update, expirationSeconds: now.wallSeconds + 3_600)
    }

    func id(_ device: Int64) -> PushID { PushID(message: 12, device: device) }

    func newest(_ device: Int64) -> RequestID { RequestID(push: id(device), number: RequestID.newest) }

    func push(
        _ device: Int64 = 1, attempt: Int = 1, environment: APNsEnvironment = .production,
        pushType: PushType = .liveActivity, collapseID: String? = nil, priority: Int = 10, trial: Bool = false
    ) -> Push {
        let target = Target(
            id: id(device), attempt: attempt, participant: device, order: Order(seconds: 1, sequence: 12),
            token: String(repeating: "a1", count: 80), environment: environment, pushType: pushType,
            apnsID: "0b0e6d2c-6c1e-4ad9-9d7a-000000000001", collapseID: collapseID, priority: priority,
            pace: Pace(), intervalMilliseconds: 15_000, burst: 1, notBeforeMilliseconds: 0,
            sendBeforeMilliseconds: now.wall + 30_000, trial: trial)
        return Push(target, timestampSeconds: now.wallSeconds)
    }
}

extension [Effect<APNsOrder>] {
    /// The requests asked for.
    var requests: [APNsRequest] {
        compactMap { if case .perform(.request(let request)) = $0 { request } else { nil } }
    }

    /// The reports for the registry.
    var reports: [Report] { reports(to: .service(.tokenRegistry)) }

    /// The copies for a limiter.
    func copies(to limiter: Sender = Bench.limiter) -> [Report] { reports(to: .instance(limiter.instance)) }

    private func reports(to wanted: Route) -> [Report] {
        compactMap {
            if case .send(.report(let report), let route) = $0, route == wanted { report } else { nil }
        }
    }

    var counts: [Count] { compactMap { if case .count(let count) = $0 { count } else { nil } } }

    var logs: [Service.LogLine] { compactMap { if case .log(let line) = $0 { line } else { nil } } }
}
