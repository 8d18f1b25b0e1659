import Contracts
import Service
import Store

/// Faults of a configuration hold back an application in one environment, until a trial succeeds.
extension Step {
    /// Reasons that end with the connection or provider token they came on; only a second one for the same delivery
    /// is a fault.
    private static let passing: Set<String> = ["ExpiredProviderToken", "UnrelatedKeyIdInToken"]
    private static let faults: Set<String> = ["TopicDisallowed", "no-key"]

    /// Learns from a report whether its application may go on.
    func weigh(_ report: Report, formerReason: String?) throws(StoreError) {
        let pause = Pause(application: report.application, environment: report.environment)
        if report.result == .delivered || Step.isOfToken(report) {
            if let gate = memory.gates[pause] { try succeed(gate, report) }
        } else if report.reason == TokenFault.bad {
            try countBadToken(report, gate(pause))
        } else if isFault(report, formerReason) {
            try hold(gate(pause), report.reason ?? "403")
        }
    }

    /// Whether a refusal speaks of channels alone: the application's other pushes may go on.
    static func isOfChannel(_ report: Report) -> Bool { report.reason == "TopicMismatch" }

    /// Whether APNs has looked up the token and found it dead.
    ///
    /// Key, topic and environment are then as good as with a push that it delivers. While an application was paused many
    /// of its tokens may have died, and trials meet those first.
    private static func isOfToken(_ report: Report) -> Bool { report.status == 410 }

    private func isFault(_ report: Report, _ formerReason: String?) -> Bool {
        let reason = report.reason ?? ""
        if Step.faults.contains(reason) { return true }
        guard report.status == 403, !Step.isOfChannel(report) else { return false }
        return !Step.passing.contains(reason) || formerReason == reason
    }

    private func succeed(_ gate: Gate, _ report: Report) throws(StoreError) {
        if gate.badTokens > 0 {
            gate.badTokens = 0
            try setAside(gate)
        }
        // What was sent before the fault says nothing of now.
        let sentAt = report.sentAtMilliseconds ?? now.wall
        if gate.fault != nil, sentAt >= gate.since, sentAt <= now.wall {
            gate.fault = nil
            gate.trial = nil
            emit(.log(LogLine(.info, "resumed", gate.pause.fields)))
        }
        if gate.isChanged { try save(gate) }
    }

    private func countBadToken(_ report: Report, _ gate: Gate) throws(StoreError) {
        guard gate.fault == nil else { return }
        gate.badTokens += 1
        if gate.badTokens >= limits.badTokensMax {
            gate.badTokens = 0
            _ = try ledger.takeBadTokens(gate.pause)
            return try hold(gate, TokenFault.bad)
        }
        if let token = report.token { try ledger.noteBadToken(token, gate.pause, at: now.wall) }
        try save(gate)
    }

    private func hold(_ gate: Gate, _ reason: String) throws(StoreError) {
        guard gate.fault == nil else {
            // What is out of order by now is what an operator has to mend.
            gate.fault = reason
            if gate.isChanged { try save(gate) }
            return
        }
        gate.fault = reason
        gate.since = now.wall
        gate.trialDelay = limits.trialFirstMilliseconds
        gate.trialAt = now.wall + gate.trialDelay
        gate.trial = nil
        try save(gate)
        emit(.log(LogLine(.warning, "paused", gate.pause.fields + [("reason", reason)])))
    }

    /// The trial is over; if it has failed the next one waits twice as long.
    ///
    /// One that came back unsent has tried nothing, one that met other trouble of APNs says nothing of the fault, and one
    /// that went before a reload nothing of what was read then.
    func forgetTrial(_ row: Delivery, hasFailed: Bool) throws(StoreError) {
        guard let gate = memory.gates.values.first(where: { $0.trial == row.id }) else { return }
        gate.trial = nil
        if try gate.trialAt <= handedAt(row) {
            if hasFailed { gate.trialDelay = min(gate.trialDelay * 2, limits.trialLongestMilliseconds) }
            gate.trialAt = now.wall + gate.trialDelay
        }
        try save(gate)
    }

    /// Whether APNs, or its gateway, has refused what a report is about for a reason that may pause.
    static func isOfFault(_ report: Report) -> Bool {
        let reason = report.reason ?? ""
        return report.status == 403 && !isOfChannel(report) || faults.contains(reason)
            || reason == TokenFault.bad
    }

    /// After a reload, whatever a fault holds back is tried as soon as the gateways have reloaded too.
    func tryPausedAtOnce() throws(StoreError) {
        guard memory.isReloaded else { return }
        memory.isReloaded = false
        for pause in memory.gates.keys.sorted() {
            guard let gate = memory.gates[pause], gate.fault != nil else { continue }
            gate.trialAt = now.wall + limits.trialAfterReloadMilliseconds
            gate.trialDelay = limits.trialFirstMilliseconds
            try save(gate)
        }
    }
}

extension Pause {
    /// Its parts for a log line.
    fileprivate var fields: [(String, String)] {
        [("application", application), ("environment", environment.rawValue)]
    }
}
