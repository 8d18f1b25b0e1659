import Contracts
import Service
import Store
import Testing

@testable import token_registry

/// How often the registry is thrown away and made anew from its ledger.
enum Life: CaseIterable, CustomTestStringConvertible {
    case one
    case anewAfterEachStep

    var testDescription: String { self == .one ? "one life" : "a new life after each step" }
}

/// What the stand-in for APNs answers.
struct Answered {
    var result = Report.Result.delivered
    var status: Int? = 200
    var reason: String?
    var retryAfter: Int64?
    var apnsTimestamp: Int64?
    var wasSent = true

    static let ok = Answered()
    static func failed(_ status: Int, _ reason: String, at: Int64? = nil) -> Answered {
        Answered(result: .failed, status: status, reason: reason, apnsTimestamp: at)
    }
    static func retry(_ status: Int?, _ reason: String, after: Int64 = 0, wasSent: Bool = true) -> Answered {
        Answered(result: .retry, status: status, reason: reason, retryAfter: after, wasSent: wasSent)
    }
}

/// One push as it would go to APNs.
struct Sent {
    var at: Int64
    var target: Target
    var notification: Notification
    var payload: Payload
    var state: String { String(decoding: payload.contentState, as: UTF8.self) }
    var alert: String { String(decoding: payload.alert, as: UTF8.self) }
    var wire: Int64
    var answer: Answered?

    /// Whether the phone may show it: APNs has not refused it.
    var mayBeShown: Bool {
        guard let answer else { return true }
        return answer.result == .delivered || answer.status == nil && answer.wasSent
    }
}

/// The registry between stand-ins for ingest, a segmenter, a limiter with its gateway, and APNs; time moves when the
/// test says so.
final class Harness {
    static let app = "AAAAA-00001"
    static let epoch: Int64 = 1_700_000_000_000
    var now = Moment(monotonic: 5_000, wall: Harness.epoch)
    var configuration: Configuration
    let limits: Limits
    private(set) var ledger: Ledger
    var core: TokenRegistry
    let life: Life
    /// What APNs answers; nil leaves the push unanswered.
    var apns: (Sent) -> Answered? = { _ in .ok }
    var room = Room.boundless()
    var ingestNotes = true

    private(set) var sent: [Sent] = []
    private(set) var settled: [Int64: Settled] = [:]
    private(set) var facts: [Int64: Fact] = [:]
    private(set) var effects: [Effect<Never>] = []
    private(set) var unanswered: [Sent] = []
    private var held: [(target: Target, targets: Targets)] = []
    private var known: Set<CustodyKey> = []
    private var inbox: [(Message, Sender)] = []
    private(set) var sequence: Int64 = 0

    static let ingest = Sender(InstanceName(.ingest), epoch: 1)
    static let segmenter = Sender(InstanceName(.segmenter), epoch: 2)
    static let limiter = Sender(InstanceName(.rateLimiter), epoch: 3)
    static let gateway = Sender(InstanceName(.apnsGateway), epoch: 4)

    init(
        _ life: Life = .one, limits: Limits = Limits(), location: Database.Location = .memory,
        _ change: (inout Configuration) -> Void = { _ in }
    ) throws {
        var configuration = Configuration()
        configuration.applications = [
            .init(code: Harness.app, bundleID: "com.example.orders"),
            .init(code: "OTHER-00001", bundleID: "com.example.other"),
        ]
        change(&configuration)
        self.configuration = configuration
        var limits = limits
        // A batch that is taken in over several turns would begin anew in each life; its segmenter is not here.
        if life == .anewAfterEachStep { limits.rowsPerTurn = max(limits.rowsPerTurn, Batch.recipientsMax) }
        self.limits = limits
        self.life = life
        ledger = try Ledger(Database(location), seed: 42, boot: 1)
        core = TokenRegistry(configuration: configuration, limits: limits)
        try input(.started)
    }

    // MARK: Time and steps

    func input(_ input: Input<Never>) throws {
        try ledger.begin()
        let new = try core.step(input, at: now, in: &ledger)
        try ledger.commit()
        try handle(new)
        if life == .anewAfterEachStep, case .started = input {
        } else if life == .anewAfterEachStep {
            try restart()
        }
    }

    /// A crash: the core is made anew from its ledger.
    func restart() throws {
        core = TokenRegistry(configuration: configuration, limits: limits)
        try input(.started)
    }

    /// Hands a message in, and lets the registry go on as far as it can without time passing.
    func take(_ message: Message, from sender: Sender = Harness.ingest) throws {
        inbox.append((message, sender))
        try settle()
    }

    func settle() throws {
        var turns = 0
        var idle = 0
        repeat {
            while !inbox.isEmpty {
                let (message, sender) = inbox.removeFirst()
                try input(.message(message, from: sender))
            }
            let before = effects.count
            try input(.turn(room))
            try openSlots()
            // A life that is over after one turn never learns that there is no room.
            idle = effects.count == before ? idle + 1 : 0
            turns += 1
            try #require(turns < 5_000, "the registry never comes to rest")
        } while !inbox.isEmpty || idle < 8 && core.nextTurnMilliseconds(after: now) == 0
    }

    /// Lets time pass, stopping wherever something is due.
    func advance(seconds: Int64) throws { try advance(milliseconds: seconds * 1000) }

    func advance(milliseconds: Int64) throws {
        let end = now.advanced(byMilliseconds: milliseconds)
        while true {
            let turn = core.nextTurnMilliseconds(after: now).map { now.wall + max($0, 1) } ?? .max
            let next = min(turn, held.map { slot($0.target, $0.targets) }.min() ?? .max)
            guard next <= end.wall else { break }
            now = now.advanced(byMilliseconds: max(next - now.wall, 0))
            try settle()
        }
        now = end
        try settle()
    }

    // MARK: What the registry says

    private func handle(_ new: [Effect<Never>]) throws {
        effects += new
        for case .send(let message, let route) in new {
            switch message {
            case .targets(let targets):
                #expect(route == .instance(Harness.limiter.instance))
                for target in targets.targets
                where known.insert(.push(target.id, attempt: target.attempt)).inserted {
                    held.append((target, targets))
                }
            case .retarget(let retarget):
                for index in held.indices where held[index].target.id == retarget.id {
                    held[index].target.token = retarget.token
                }
            case .settled(let news):
                if news.revision >= settled[news.message]?.revision ?? 0 { settled[news.message] = news }
                note(message)
            case .fact(let fact):
                facts[fact.number] = fact
                note(message)
            case .taken(.command), .taken(.registration): note(message)
            default: break
            }
        }
    }

    private func note(_ message: Message) {
        guard ingestNotes else { return }
        inbox.append((.noted(Noted(message.keptKeys(receiver: .ingest))), Harness.ingest))
    }

    private func slot(_ target: Target, _ targets: Targets) -> Int64 {
        guard targets.notification.event == .update else { return target.notBeforeMilliseconds }
        let slot = target.pace.slotMilliseconds(
            priority: target.priority, intervalMilliseconds: target.intervalMilliseconds,
            burst: target.burst)
        return max(slot, target.notBeforeMilliseconds)
    }

    /// Plays limiter, gateway and APNs for the targets whose slot is open.
    private func openSlots() throws {
        let open = held.filter { slot($0.target, $0.targets) <= now.wall }
        held.removeAll { slot($0.target, $0.targets) <= now.wall }
        for (target, targets) in open {
            let expiration = targets.notification.expirationSeconds
            guard expiration == 0 || expiration * 1000 > now.wall else {
                report(target, Answered(result: .expired, status: nil, wasSent: false))
                continue
            }
            var push = Sent(
                at: now.wall, target: target, notification: targets.notification, payload: targets.payload,
                wire: target.wireTimestampSeconds
                    ?? target.pace.wireSeconds(
                        callerSeconds: targets.notification.timestampSeconds, nowSeconds: now.wallSeconds))
            push.answer = apns(push)
            sent.append(push)
            if let answer = push.answer {
                report(target, answer, push)
            } else {
                unanswered.append(push)
            }
        }
    }

    /// Puts a report on its way to the registry.
    func report(_ target: Target, _ answer: Answered, _ push: Sent? = nil) {
        var report = Report(
            id: target.id, attempt: target.attempt, application: Harness.app, environment: target.environment,
            result: answer.result, status: answer.status, reason: answer.reason)
        report.apnsTimestampMilliseconds = answer.apnsTimestamp
        if answer.result == .retry { report.retryAtMilliseconds = now.wall + (answer.retryAfter ?? 0) }
        if answer.wasSent {
            report.token = target.token
            report.sentAtMilliseconds = push?.at ?? now.wall
            report.wireTimestampSeconds = push?.wire ?? now.wallSeconds
            report.priority = target.priority
        }
        inbox.append((.report(report), Harness.gateway))
    }

    /// Answers a push that was left unanswered.
    func answer(_ push: Sent, _ answer: Answered) throws {
        unanswered.removeAll { $0.target.id == push.target.id && $0.target.attempt == push.target.attempt }
        report(push.target, answer, push)
        try settle()
    }

    /// Lets a push be lost with the instances that had it.
    func lose(_ push: Sent, _ keys: [CustodyKey]) throws {
        unanswered.removeAll { $0.target.id == push.target.id && $0.target.attempt == push.target.attempt }
        try input(.lost(keys, at: Harness.limiter.instance, .gone))
        try settle()
    }

    /// Reports for targets that the limiter still holds.
    func giveBack(_ answer: Answered) throws {
        let all = held
        held = []
        for (target, _) in all { report(target, answer) }
        try settle()
    }

    var heldTargets: [Target] { held.map(\.target) }

    func forgetEffects() { effects = [] }

    func nextSequence() -> Int64 {
        sequence += 1
        return sequence
    }
}

// MARK: What has been said

extension Harness {
    var messages: [Message] {
        effects.compactMap { effect in
            if case .send(let message, _) = effect { message } else { nil }
        }
    }

    var logs: [String] {
        effects.compactMap { effect in
            if case .log(let line) = effect { line.event } else { nil }
        }
    }

    func counted(_ name: String) -> Int {
        effects.reduce(0) { sum, effect in
            if case .count(let count) = effect, count.name == name { sum + count.by } else { sum }
        }
    }

    func counts(_ message: Int64) -> OutcomeCounts? { settled[message]?.counts }

    var factKinds: [Fact.Kind] { facts.keys.sorted().compactMap { facts[$0]?.kind } }

    var states: [String] { sent.map(\.state) }

    func isTaken(_ message: Int64) -> Bool { messages.contains(.taken(.command(message: message))) }

    /// The ledger's row of a message for a device.
    func row(_ message: Int64, _ hwid: String = "dev-1") throws -> DeliveryFields? {
        guard let device = try ledger.device(Harness.app, hwid: hwid) else { return nil }
        return try ledger.delivery(PushID(message: message, device: device.number))
    }

    func participant(_ run: Int64, _ hwid: String = "dev-1") throws -> ParticipantFields? {
        guard let device = try ledger.device(Harness.app, hwid: hwid) else { return nil }
        return try ledger.participant(run: run, device: device.number)
    }

    func rowCount(_ table: String) throws -> Int64 {
        try ledger.database.first(SQL("SELECT count(*) FROM \(table)")) { $0.int(0) } ?? 0
    }
}
