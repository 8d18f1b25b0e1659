import Contracts
import Service

/// What arrives from the registry is held until its slot.
extension RateLimiter {
    mutating func hold(_ targets: Targets, at now: Moment) -> [Effect<Never>] {
        let content = Content(
            application: targets.application, notification: targets.notification, payload: targets.payload)
        return targets.targets.flatMap { hold($0, content, at: now) }
    }

    private mutating func hold(_ target: Target, _ content: Content, at now: Moment) -> [Effect<Never>] {
        guard !givenBack.has(target) else { return [.count(Count("ignored", [("type", "targets")]))] }
        if let push = underway[target.id] {
            guard push.target.attempt < target.attempt else { return [] }
            underway[target.id] = nil
        }
        if let known = waitingTargets[target.id], known.target.attempt >= target.attempt { return [] }
        if var report = paces.report(of: target) {
            report.attempt = target.attempt
            return [.send(.report(report), to: .service(.tokenRegistry))]
        }
        waitingTargets.remove(target.id)
        let pause = Pause(application: content.application, environment: target.environment)
        guard target.trial || !held.contains(pause) else {
            return [giveBack(target, content, .retry, "paused", at: now)]
        }
        if !content.isEnd, let last = paces.pace(of: target).lastOrder, target.order < last {
            return [giveBack(target, content, .superseded, nil, at: now)]
        }
        guard let other = waitingTargets.entry(ofParticipant: target.participant) else {
            add(target, content)
            return []
        }
        return merge(other, target, content, at: now)
    }

    private mutating func add(_ target: Target, _ content: Content) {
        let pace = paces.pace(of: target)
        // An end does not wait for the budget; a start's budget is the registry's, in notBefore.
        let slot =
            content.notification.event == .update && target.participant != 0
            ? pace.slotMilliseconds(
                priority: target.priority, intervalMilliseconds: target.intervalMilliseconds,
                burst: target.burst) : 0
        waitingTargets.add(target, content, slotMilliseconds: max(slot, target.notBeforeMilliseconds))
    }

    /// Two states of one participant wait: the newest goes, with the higher priority and the newest alert.
    ///
    /// An end is never replaced, and a start is not merged with what follows it: it has to go first.
    private mutating func merge(
        _ other: WaitingTargets.Entry, _ target: Target, _ content: Content, at now: Moment
    ) -> [Effect<Never>] {
        let newIsKept = content.isEnd || (!other.content.isEnd && other.target.order < target.order)
        let (kept, keptContent, gone, goneContent) =
            newIsKept
            ? (target, content, other.target, other.content)
            : (other.target, other.content, target, content)
        waitingTargets.remove(other.target.id)
        var merged = kept
        merged.priority = max(kept.priority, gone.priority)
        add(merged, keptContent.withAlert(of: goneContent))
        return [giveBack(gone, goneContent, .superseded, nil, by: kept.id, at: now)]
    }
}

extension Content {
    /// The largest body that APNs takes, in bytes (Apple, Generating a remote notification).
    static let bodyBytesMax = 4_096
    /// How many bytes of a body the small members take at most.
    static let smallMembersBytesMax = 400

    /// The same with the other's alert, if this one has none and both fit into one body.
    func withAlert(of other: Content) -> Content {
        let both = payload.byteCount + other.payload.alert.count + Content.smallMembersBytesMax
        guard payload.alert.isEmpty, !other.payload.alert.isEmpty, both <= Content.bodyBytesMax else {
            return self
        }
        var payload = payload
        payload.alert = other.payload.alert
        return Content(application: application, notification: notification, payload: payload)
    }
}
