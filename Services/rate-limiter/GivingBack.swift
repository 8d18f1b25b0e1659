import Contracts
import Service

/// What cannot go is given back to the registry, which alone hands over again.
extension RateLimiter {
    mutating func giveBackOverdue(at now: Moment) -> [Effect<Never>] {
        waitingTargets.takeOverdue(at: now.wall).map { entry in
            let expiration = entry.content.notification.expirationSeconds
            let expired = expiration != 0 && expiration * 1000 <= now.wall
            return giveBack(
                entry.target, entry.content, expired ? .expired : .retry, expired ? nil : "send-before",
                at: now)
        }
    }

    mutating func giveBackPaused(at now: Moment) -> [Effect<Never>] {
        guard !held.isEmpty else { return [] }
        let ids = waitingTargets.entries.values.filter { entry in
            !entry.target.trial
                && held.contains(
                    Pause(application: entry.content.application, environment: entry.target.environment))
        }.map(\.target.id).sorted()
        return ids.compactMap { id in
            waitingTargets.remove(id).map { giveBack($0.target, $0.content, .retry, "paused", at: now) }
        }
    }

    /// Gives everything back that waits for its slot if the wall clock was set since the last step: slots, send-befores
    /// and paces are times of the former one, and the registry, which has all of them, moves them.
    mutating func followClock(_ now: Moment) -> [Effect<Never>] {
        guard let step = clockStep.notice(now) else { return [] }
        paces.moveInstants(by: step)
        givenBack.moveInstants(by: step)
        for id in underway.keys { underway[id]?.target.sendBeforeMilliseconds += step }
        return waitingTargets.entries.keys.sorted().compactMap { id in
            waitingTargets.remove(id).map { giveBack($0.target, $0.content, .retry, "not-sent", at: now) }
        }
    }

    /// A push whose gateway has a new life did not go, or its outcome is already on its way to the registry.
    ///
    /// One whose gateway is silent may still be answered until its deadline.
    mutating func giveBack(lost keys: [CustodyKey], _ reason: LossReason, at now: Moment) -> [Effect<Never>] {
        keys.compactMap { key in
            guard case .push(let id, let attempt) = key, let push = underway[id],
                push.target.attempt == attempt
            else { return nil }
            underway[id] = nil
            let retryAt =
                reason == .newLife
                ? now.wall : push.target.sendBeforeMilliseconds + answerDeadlineMilliseconds
            var report = report(push.target, push.content, .retry, "instance-lost")
            report.retryAtMilliseconds = max(retryAt, now.wall)
            // APNs may have it all the same: a phone ignores what does not come later on its wire.
            report.wireTimestampSeconds = push.wireSeconds
            givenBack.add(id, attempt: attempt, at: now.wall)
            return .send(.report(report), to: .service(.tokenRegistry))
        }
    }

    mutating func giveBack(
        _ target: Target, _ content: Content, _ result: Report.Result, _ reason: String?,
        by newer: PushID? = nil, at now: Moment
    ) -> Effect<Never> {
        var report = report(target, content, result, reason)
        report.retryAtMilliseconds = result == .retry ? now.wall : nil
        report.supersededBy = newer
        givenBack.add(target.id, attempt: target.attempt, at: now.wall)
        return .send(.report(report), to: .service(.tokenRegistry))
    }

    private func report(
        _ target: Target, _ content: Content, _ result: Report.Result, _ reason: String?
    ) -> Report {
        Report(
            id: target.id, attempt: target.attempt, application: content.application,
            environment: target.environment, result: result, reason: reason)
    }
}
