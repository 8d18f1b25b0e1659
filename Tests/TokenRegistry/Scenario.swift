import Contracts
import Service
import Testing

@testable import token_registry

/// Tokens as phones have them, 160 hex digits.
enum Token {
    static let a = String(repeating: "a1", count: 80)
    static let b = String(repeating: "b2", count: 80)
    static let startA = String(repeating: "5a", count: 80)
    static let startB = String(repeating: "5b", count: 80)
    static func number(_ number: Int) -> String {
        let digits = String(number, radix: 16)
        return String(repeating: "0", count: 64 - digits.count) + digits
    }
}

/// What ingest and the segmenter send.
extension Harness {
    @discardableResult
    func register(
        _ change: Registration.Change, _ hwid: String = "dev-1", application: String = Harness.app,
        acceptedAt: Int64? = nil
    ) throws -> Int64 {
        let sequence = nextSequence()
        try take(
            .registration(
                Registration(
                    sequence: sequence, application: application, device: hwid, change: change,
                    acceptedAtMilliseconds: acceptedAt ?? now.wall)))
        return sequence
    }

    @discardableResult
    func startToken(_ token: String, _ hwid: String = "dev-1", type: String? = "Order") throws -> Int64 {
        try register(.startToken(StartToken(token: token, attributesType: type)), hwid)
    }

    @discardableResult
    func activityToken(
        _ token: String, run: Int64, _ hwid: String = "dev-1", registeredAt: Int64? = nil,
        activity: String = "ord-12"
    ) throws -> Int64 {
        try register(
            .activityToken(
                ActivityToken(token: token, activity: activity, run: run, registeredAtSeconds: registeredAt)),
            hwid)
    }

    /// A participant of an activity that the app started itself.
    func joined(_ token: String = Token.a, _ hwid: String = "dev-1", activity: String = "ord-12") throws
        -> Int64
    {
        let run = sequence + 1
        return try activityToken(token, run: run, hwid, activity: activity)
    }

    func command(
        _ kind: Command.Kind, run: Int64? = nil, audience: Audience = .activity, state: String = "{}",
        alert: String = "", priority: Int = 10, timestamp: Int64? = nil, expiration: Int64? = nil,
        activity: String = "ord-12", application: String = Harness.app,
        _ change: (inout Notification) -> Void = { _ in }
    ) -> Command {
        let sequence = nextSequence()
        let event = ActivityEvent(rawValue: kind.rawValue)
        var notification: Notification?
        if let event {
            var made = Notification(
                event: event, priority: priority,
                expirationSeconds: expiration ?? now.wallSeconds + 3_600)
            made.timestampSeconds = timestamp
            if event == .start { made.attributesType = "Order" }
            change(&made)
            notification = made
        }
        return Command(
            sequence: sequence, application: application, kind: kind, run: run ?? sequence,
            activity: activity,
            order: Order(seconds: timestamp ?? now.wallSeconds, sequence: sequence),
            acceptedAtMilliseconds: now.wall, audience: audience, notification: notification,
            payload: Payload(
                contentState: Array(state.utf8), attributes: kind == .start ? Array("{}".utf8) : [],
                alert: Array(alert.utf8)))
    }

    /// Sends a command as the one last batch of a pass.
    @discardableResult
    func send(_ command: Command, to recipients: [String] = [], pass: Int64? = nil) throws -> Int64 {
        let batch = Batch(
            pass: Pass(epoch: 2, number: pass ?? command.sequence), index: 0, last: true,
            recipients: recipients, command: command)
        try take(.batch(batch), from: Harness.segmenter)
        return command.sequence
    }

    @discardableResult
    func start(_ recipients: [String] = ["dev-1"], state: String = "{\"step\":1}") throws -> Int64 {
        try send(command(.start, audience: .devices(recipients), state: state), to: recipients)
    }

    @discardableResult
    func update(
        _ run: Int64, _ state: String, alert: String = "", priority: Int = 10, timestamp: Int64? = nil,
        expiration: Int64? = nil
    ) throws -> Int64 {
        try send(
            command(
                .update, run: run, state: state, alert: alert, priority: priority, timestamp: timestamp,
                expiration: expiration))
    }

    @discardableResult
    func end(_ run: Int64, _ state: String = "{\"end\":true}") throws -> Int64 {
        try send(command(.end, run: run, state: state))
    }

    /// A phone whose activity was started by a push and has its token.
    func running(_ hwid: String = "dev-1", token: String = Token.a) throws -> Int64 {
        try startToken(Token.startA, hwid)
        let run = try start([hwid])
        try activityToken(token, run: run, hwid)
        return run
    }
}

extension OutcomeCounts {
    /// Counts by name, for comparing.
    static func of(
        delivered: Int = 0, superseded: Int = 0, expired: Int = 0, failed: Int = 0, unreachable: Int = 0,
        cancelled: Int = 0
    ) -> OutcomeCounts {
        var counts = OutcomeCounts()
        counts.delivered = delivered
        counts.superseded = superseded
        counts.expired = expired
        counts.failed = failed
        counts.unreachable = unreachable
        counts.cancelled = cancelled
        return counts
    }
}

extension Room {
    /// One limiter that takes so many targets; one application gets half of them at a time.
    static func targets(_ count: Int) -> Room {
        Room(
            places: [Place(instance: InstanceName(.rateLimiter), windows: Windows(targets: count))],
            settledServices: [.rateLimiter])
    }
}
