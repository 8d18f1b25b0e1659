import Contracts
import Service
import Store

/// What an operator asks.
extension Step {
    /// Answers a query; nothing of another application is ever answered.
    func answer(_ query: Query, _ sender: Sender) throws(StoreError) {
        let content: Answer.Content
        switch query.kind {
        case .deliveries(let message, let after, let limit):
            let known = try self.message(message)?.application == query.application
            content = .deliveries(
                lines: known ? try deliveryLines(message, after: after, limit: limit) : [])
        case .participants(let run, let after, let limit):
            let known = try self.run(run)?.application == query.application
            content = .participants(
                lines: known ? try participantLines(run, after: after, limit: limit) : [],
                newest: known ? try ledger.newestState(run: run, atSeconds: now.wallSeconds) : nil)
        case .missing(let messages):
            var missing: [Int64] = []
            for message in messages.prefix(limits.linesMax) {
                switch try ledger.standing(message, of: query.application) {
                case .missing: missing.append(message)
                case .open: break
                // Who asks about it has forgotten how it ended.
                case .settled: try self.message(message).map(sayAgain)
                }
            }
            content = .missing(messages: missing)
        case .tags, .audience, .channel: return ignore(.query)
        }
        emit(.send(.answer(Answer(id: query.id, content: content)), to: .instance(sender.instance)))
    }

    private func deliveryLines(_ message: Int64, after: Int64, limit: Int) throws(StoreError)
        -> [DeliveryLine]
    {
        let given = try content(message)?.notification.apnsID
        var lines: [DeliveryLine] = []
        for row in try ledger.deliveries(message: message, after: after, limit: bounded(limit)) {
            guard let device = try ledger.device(row.id.device) else { continue }
            lines.append(
                DeliveryLine(
                    deviceNumber: row.id.device, device: ChannelBinding.shown(device.hwid),
                    state: row.state.word,
                    reason: isPaused(row, device) ? "paused" : row.reason,
                    apnsID: given ?? Identity.apnsID(row.id, seed: ledger.seed),
                    atMilliseconds: row.changedAt))
        }
        return lines
    }

    /// Whether a row waits because its application is paused, whether or not it was on its way already.
    private func isPaused(_ row: DeliveryFields, _ device: DeviceFields) -> Bool {
        guard row.state == .waiting else { return false }
        let pause = Pause(application: device.application, environment: memory.environment(device))
        return memory.gates[pause]?.isPaused ?? false
    }

    /// A participant is numbered by its device: within a run that is as good, and lies in the order of an index.
    private func participantLines(_ run: Int64, after: Int64, limit: Int) throws(StoreError)
        -> [ParticipantLine]
    {
        let page = try ledger.participants(run: run, after: after, through: .max, limit: bounded(limit))
        return page.map { participant, device in
            var line = ParticipantLine(
                number: device.number, device: ChannelBinding.shown(device.hwid),
                state: participant.state.word)
            if !participant.place.isChannel {
                line.tokenStart = participant.place.token.map { String($0.prefix(8)) }
            }
            if participant.listens == true { line.isOnChannel = true }
            line.lastSentAtMilliseconds = participant.sentAt
            line.lastOutcome = participant.outcome
            line.lastReason = participant.reason
            return line
        }
    }

    private func bounded(_ limit: Int) -> Int { min(max(limit, 0), limits.linesMax) }
}

extension ParticipantState {
    /// The word an operator sees.
    fileprivate var word: String {
        switch self {
        case .starting: "starting"
        case .active: "active"
        case .ended: "ended"
        }
    }
}
