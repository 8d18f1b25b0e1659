import Contracts
import Service
@testable import rate_limiter

/// A limiter, a clock that is moved by hand, and one gateway.
struct Bench {
    static let start: Int64 = 1_700_000_000_000
    var limiter = RateLimiter(configuration: Configuration())
    var now = Moment(monotonic: 0, wall: Bench.start)
    var room = Room.boundless([.apnsGateway])
    var store = NoStore()

    var seconds: Double { Double(now.wall - Bench.start) / 1000 }

    @discardableResult
    mutating func tell(_ message: Message, from service: ServiceName = .tokenRegistry) -> [Message] {
        let sender = Sender(InstanceName(service), epoch: 1)
        return sent(limiter.step(.message(message, from: sender), at: now, in: &store))
    }

    mutating func lose(_ keys: [CustodyKey], _ reason: LossReason) -> [Message] {
        sent(limiter.step(.lost(keys, at: InstanceName(.apnsGateway), reason), at: now, in: &store))
    }

    mutating func turn() -> [Message] { sent(limiter.step(.turn(room), at: now, in: &store)) }

    /// Moves the clock, giving the limiter its turns on the way; what it sends, with the second of sending.
    mutating func advance(seconds: Double) -> [(second: Double, message: Message)] {
        let end = now.wall + Int64(seconds * 1000)
        var all: [(Double, Message)] = turn().map { (self.seconds, $0) }
        while let wait = limiter.nextTurnMilliseconds(after: now), now.wall + wait <= end {
            now = now.advanced(byMilliseconds: max(wait, 1))
            all += turn().map { (self.seconds, $0) }
        }
        if now.wall < end { now = now.advanced(byMilliseconds: end - now.wall) }
        return all
    }

    private func sent(_ effects: [Effect<Never>]) -> [Message] {
        effects.compactMap { effect in
            guard case .send(let message, _) = effect else { return nil }
            return message
        }
    }

    func target(
        message: Int64, device: Int64 = 1, participant: Int64? = nil, attempt: Int = 1, priority: Int = 10,
        sendBefore: Double = 30, pace: Pace = Pace()
    ) -> Target {
        Target(
            id: PushID(message: message, device: device), attempt: attempt,
            participant: participant ?? device,
            order: Order(seconds: now.wallSeconds, sequence: message), token: "a1a1",
            environment: .production,
            apnsID: "00000000-0000-4000-8000-000000000000", priority: priority, pace: pace,
            intervalMilliseconds: 15_000, burst: 1, notBeforeMilliseconds: 0,
            sendBeforeMilliseconds: now.wall + Int64(sendBefore * 1000))
    }

    func targets(
        _ targets: [Target], event: ActivityEvent = .update, application: String = "A",
        expirationIn: Int64 = 3_600, payload: Payload = Payload(contentState: Array(#"{"n":1}"#.utf8))
    ) -> Message {
        .targets(
            Targets(
                application: application,
                notification: Notification(event: event, expirationSeconds: now.wallSeconds + expirationIn),
                targets: targets, payload: payload))
    }

    /// The gateway answers 200 to a push.
    mutating func deliver(_ push: Push, atSecond second: Double? = nil) {
        var report = Report(
            id: push.id, attempt: push.attempt, application: "A", environment: push.environment,
            result: .delivered, status: 200)
        report.sentAtMilliseconds = second.map { Bench.start + Int64($0 * 1000) } ?? now.wall
        report.wireTimestampSeconds = push.timestampSeconds
        tell(.report(report), from: .apnsGateway)
    }
}

extension [Message] {
    var pushes: [Push] {
        flatMap { message -> [Push] in
            guard case .pushes(let pushes) = message else { return [] }
            return pushes.pushes
        }
    }

    var reports: [Report] {
        compactMap { message in
            guard case .report(let report) = message else { return nil }
            return report
        }
    }
}
