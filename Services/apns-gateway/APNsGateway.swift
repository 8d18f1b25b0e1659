import Contracts
import Service
import Store

/// Turns pushes into requests for APNs and answers into reports.
///
/// Takes: `pushes` from rate-limiters, the registry's `hello` (what is paused) and `noted`, and what the connections
/// tell (`APNsEvent`); `query` about channels from ingest.
///
/// Emits: requests (`APNsOrder`); one `report` for each hand-over, to the registry and a copy to the limiter that
/// sent it; one `answer` for each query that APNs answers.
///
/// It knows a push from its arrival until its outcome is noted and 60 s longer, the last 240,000 noted ones at most
/// (`NotedPushes`): one that comes again is not sent again, unless it is a newer hand-over of one that APNs has not
/// accepted. It sends nothing by itself: what has no outcome is the registry's to hand over again. It keeps nothing on
/// disk; after a crash the limiters give back what was under way here, and a push that was on the wire may reach APNs a
/// second time, with the same `apns-id`.
///
/// A push that cannot be sent as it is (a token that is not hex, an application without a key) is reported, never
/// dropped: who sent it keeps it until then.
struct APNsGateway: Core {
    typealias Storage = NoStore
    typealias External = APNsEvent
    typealias Output = APNsOrder

    static let service = ServiceName.apnsGateway
    /// How long a noted outcome is remembered, in milliseconds; see `NotedPushes.countMax`.
    static let rememberMilliseconds: Int64 = 60_000
    /// How long after the last instant for an answer the connections may stay silent about a request, in
    /// milliseconds; then it is given up here.
    static let silenceMilliseconds: Int64 = 5_000
    /// How long a push without a key waits, in milliseconds.
    static let noKeyRetryMilliseconds: Int64 = 30_000
    /// How many requests that are over may await the instant at which they would have been given up, beside as many
    /// as are under way.
    static let overMax = 1_024

    let windows = Windows()
    private var settings: GatewaySettings
    /// Without an outcome, or with one that is not noted: no more than the windows let in.
    private var known: [PushID: KnownPush] = [:]
    private(set) var noted: NotedPushes
    /// How many pushes have no outcome yet.
    private(set) var underWay = 0
    /// How many pushes have no outcome yet.
    var waiting: Int { underWay }
    private var held: [Pause] = []
    private var nextNumber = 1
    private(set) var toGiveUp = DueList<RequestID>()
    private var tally = AnswerTally()
    private var backOff = BackOff()
    var channelCalls = ChannelCalls()

    init(settings: GatewaySettings, notedMax: Int = NotedPushes.countMax) {
        self.settings = settings
        noted = NotedPushes(countMax: notedMax)
    }

    mutating func step(_ input: Input<APNsEvent>, at now: Moment, in store: inout NoStore)
        -> [Effect<APNsOrder>]
    {
        switch input {
        case .message(.pushes(let pushes), let from): take(pushes, from.instance, at: now)
        case .message(.noted(let noted), _): note(noted, at: now)
        case .message(.query(let query), let from):
            if case .channel(let question) = query.kind {
                ask(query, question, from: from.instance, at: now)
            } else {
                [.count(Count("ignored", [("type", "query")]))]
            }
        case .message(.hello(let hello), let from) where from.instance.service == .tokenRegistry:
            hold(hello.paused)
        case .message(.hello, _), .started, .lost: []
        case .message(let message, _): [.count(Count("ignored", [("type", message.type.rawValue)]))]
        case .external(let event):
            ChannelCalls.isCall(event.id) ? endCall(event, at: now) : take(event, at: now)
        case .turn: turn(at: now)
        }
    }

    func nextTurnMilliseconds(after now: Moment) -> Int64? {
        let forget = noted.oldestMilliseconds.map { $0 + Self.rememberMilliseconds + 1_000 }
        let dues = [toGiveUp.nextDue, forget, tally.dueMilliseconds]
        return dues.compactMap { $0 }.min().map { max(0, $0 - now.monotonic) }
    }

    // MARK: For the questions about channels

    func application(_ code: String) -> GatewaySettings.Application? { settings.applications[code] }

    /// Gives out the next number of a request.
    mutating func takeNumber() -> Int {
        defer { nextNumber += 1 }
        return nextNumber
    }

    /// Gives a request up if nothing is heard of it for too long.
    mutating func giveUpLater(_ request: APNsRequest) {
        if toGiveUp.count >= 2 * underWay + Self.overMax {
            let (known, calls) = (known, channelCalls)
            toGiveUp.removeAll { id in
                guard let push = known[id.push] else { return !calls.contains(id) }
                return push.number != id.number || push.outcome != nil
            }
        }
        let lastInstant = request.sendBeforeMilliseconds + request.answerWithinMilliseconds
        toGiveUp.add(request.id, due: lastInstant + Self.silenceMilliseconds)
    }

    mutating func count(_ answer: APNsAnswer, at now: Moment) {
        tally.add(status: answer.status, reason: answer.reason, at: now)
    }
}

extension APNsGateway: Reloadable, Drainable {
    mutating func reload(_ configuration: Configuration) {
        settings = GatewaySettings(configuration)
    }

    /// Whether every push that came has its outcome, and the registry has noted it: before that it is known here alone,
    /// and what is on its way to a registry that has much to read ends with the process.
    var isDrained: Bool { known.isEmpty }
}

// MARK: Pushes

extension APNsGateway {
    private mutating func take(_ pushes: Pushes, _ limiter: InstanceName, at now: Moment) -> [Effect<
        APNsOrder
    >] {
        var effects: [Effect<APNsOrder>] = []
        effects.reserveCapacity(pushes.pushes.count)
        var writer = RequestWriter(pushes, settings.applications[pushes.application])
        for push in pushes.pushes {
            let arrived = KnownPush(
                push, number: takeNumber(), application: writer.application,
                expirationSeconds: writer.expirationSeconds, asker: limiter)
            if let repeated = recall(push.id, arrived) {
                effects += repeated
            } else {
                begin(push, arrived, &writer, &effects, at: now)
            }
        }
        return effects
    }

    /// What follows from a push that is known; nil if it is to be sent.
    private mutating func recall(_ id: PushID, _ arrived: KnownPush) -> [Effect<APNsOrder>]? {
        let asker = arrived.firstAsker
        if let push = noted.recall(id, arrived) {
            guard arrived.attempt > push.attempt else { return reports(of: push, id, to: [asker]) }
            // The newer hand-over has yet to be noted.
            noted.remove(id)
            known[id] = push
        }
        guard let index = known.index(forKey: id) else { return nil }
        let isNewer = arrived.attempt > known.values[index].attempt
        guard let outcome = known.values[index].outcome else {
            known.values[index].add(asker)
            known.values[index].attempt = max(known.values[index].attempt, arrived.attempt)
            return []
        }
        // What was refused may have another token by now, or the same one registered anew; it was not processed.
        if isNewer && outcome.result != .delivered { return nil }
        known.values[index].attempt = max(known.values[index].attempt, arrived.attempt)
        return reports(of: known.values[index], id, to: [asker])
    }

    private mutating func begin(
        _ push: Push, _ arrived: KnownPush, _ writer: inout RequestWriter,
        _ effects: inout [Effect<APNsOrder>], at now: Moment
    ) {
        known[push.id] = arrived
        underWay += 1
        let id = RequestID(push: push.id, number: arrived.number)
        if let outcome = refusal(push, writer, at: now) {
            effects += end(id, outcome, at: now)
            return
        }
        guard let request = writer.request(push, id, at: now) else {
            effects += end(id, KnownPush.Outcome(result: .failed, reason: "not-valid"), at: now)
            return
        }
        giveUpLater(request)
        effects.append(.perform(.request(request)))
    }

    /// Why a push is not sent at all; nil if it is.
    private func refusal(_ push: Push, _ writer: RequestWriter, at now: Moment) -> KnownPush.Outcome? {
        let pause = Pause(application: writer.application, environment: push.environment)
        if writer.isExpired(at: now) { return KnownPush.Outcome(result: .expired) }
        if !push.trial && held.contains(pause) { return .unsent(.paused, at: now) }
        if push.sendBeforeMilliseconds <= now.wall { return .unsent(.late, at: now) }
        guard writer.hasKey(for: push.environment) else {
            var outcome = KnownPush.Outcome(result: .retry, reason: "no-key")
            outcome.retryAtMilliseconds = now.wall + Self.noKeyRetryMilliseconds
            return outcome
        }
        return nil
    }

    private mutating func hold(_ pauses: [Pause]) -> [Effect<APNsOrder>] {
        guard pauses != held else { return [] }
        held = pauses
        return [.perform(.hold(pauses))]
    }
}

// MARK: Outcomes

extension APNsGateway {
    private mutating func take(_ event: APNsEvent, at now: Moment) -> [Effect<APNsOrder>] {
        switch event {
        case .answered(let id, let answer, let sentAt): return take(answer, id, sentAt, at: now)
        case .unanswered(let id, let sentAt):
            tally.add(status: 0, reason: "no-answer", at: now)
            var outcome = outcome(.noAnswer, id, at: now)
            outcome.reason = "no-answer"
            outcome.sentAtMilliseconds = now.wall - max(0, now.monotonic - sentAt)
            return end(id, outcome, at: now)
        case .unsent(let id, let reason):
            guard let push = known[id.push] else { return end(id, .unsent(reason, at: now), at: now) }
            let isExpired = RequestWriter.isExpired(push.expirationSeconds, at: now)
            return end(
                id, isExpired ? KnownPush.Outcome(result: .expired) : .unsent(reason, at: now), at: now)
        }
    }

    private mutating func take(
        _ answer: APNsAnswer, _ id: RequestID, _ sentAt: Int64, at now: Moment
    ) -> [Effect<APNsOrder>] {
        tally.add(status: answer.status, reason: answer.reason, at: now)
        let ruling = Ruling.of(status: answer.status, reason: answer.reason)
        var outcome = outcome(ruling, id, at: now, retryAfterSeconds: answer.retryAfterSeconds)
        outcome.status = answer.status
        outcome.reason = answer.reason
        outcome.apnsTimestampMilliseconds = answer.timestampMilliseconds
        outcome.sentAtMilliseconds = now.wall - max(0, now.monotonic - sentAt)
        var effects = end(id, outcome, at: now)
        if ruling.isOurFault, tally.isWorthALine(answer.reason, at: now) {
            effects.append(
                .log(LogLine(.error, "request-refused-as-wrong", [("reason", answer.reason ?? "")])))
        }
        return effects
    }

    private mutating func outcome(
        _ ruling: Ruling, _ id: RequestID, at now: Moment, retryAfterSeconds: Int64? = nil
    ) -> KnownPush.Outcome {
        var outcome = KnownPush.Outcome(result: ruling.result)
        guard isUnderWay(id) else { return outcome }
        guard ruling.result == .retry else {
            backOff.end(id.push)
            return outcome
        }
        outcome.retryAtMilliseconds = ruling.retryAtMilliseconds(
            time: backOff.note(ruling, id.push, at: now), wall: now.wall, retryAfterSeconds: retryAfterSeconds
        )
        return outcome
    }

    /// Whether an event is about the request of a push that has no outcome yet.
    private func isUnderWay(_ id: RequestID) -> Bool {
        guard let push = known[id.push], push.outcome == nil else { return false }
        return id.number == push.number || id.number == RequestID.newest
    }

    /// Notes how a push ended and reports it; an event about a request that is over is ignored.
    private mutating func end(_ id: RequestID, _ outcome: KnownPush.Outcome, at now: Moment)
        -> [Effect<APNsOrder>]
    {
        guard isUnderWay(id), let index = known.index(forKey: id.push) else {
            return [.count(Count("ignored", [("type", "apns-event")]))]
        }
        known.values[index].outcome = outcome
        underWay -= 1
        let askers = known.values[index].askers
        known.values[index].otherAskers = []
        return reports(of: known.values[index], id.push, to: askers)
    }

    /// The report for the registry under the newest hand-over, and for each limiter under the one it knows.
    private func reports(of push: KnownPush, _ id: PushID, to askers: [KnownPush.Asker]) -> [Effect<
        APNsOrder
    >] {
        guard let report = push.report(id, attempt: push.attempt) else { return [] }
        var effects: [Effect<APNsOrder>] = [.send(.report(report), to: .service(.tokenRegistry))]
        for asker in askers {
            var copy = report
            copy.attempt = asker.attempt
            effects.append(.send(.report(copy), to: .instance(asker.instance)))
        }
        return effects
    }

    private mutating func note(_ message: Noted, at now: Moment) -> [Effect<APNsOrder>] {
        for case .report(let id, let attempt) in message.keys {
            guard let push = known[id], push.attempt == attempt, let outcome = push.outcome else { continue }
            known[id] = nil
            noted.append(id, push, outcome, at: now.monotonic)
        }
        return []
    }

    private mutating func turn(at now: Moment) -> [Effect<APNsOrder>] {
        noted.forget(through: now.monotonic - Self.rememberMilliseconds)
        var effects: [Effect<APNsOrder>] = []
        while let id = toGiveUp.pop(at: now.monotonic) {
            if channelCalls.contains(id) { effects += endCall(.unsent(id, .late), at: now) }
            guard let push = known[id.push], push.number == id.number, push.outcome == nil else { continue }
            var outcome = outcome(.noAnswer, id, at: now)
            outcome.reason = "no-answer"
            effects += end(id, outcome, at: now)
            effects.append(.log(LogLine(.error, "request-forgotten", [("push", "\(id.push.message)")])))
        }
        return effects + tally.flush(at: now).map { .count($0) }
    }
}

extension KnownPush.Outcome {
    /// Given back without having been processed; it may come again at once.
    fileprivate static func unsent(_ reason: UnsentReason, at now: Moment) -> Self {
        var outcome = Self(result: .retry, reason: reason.rawValue)
        outcome.retryAtMilliseconds = Ruling.notSent.retryAtMilliseconds(time: 1, wall: now.wall)
        return outcome
    }
}
