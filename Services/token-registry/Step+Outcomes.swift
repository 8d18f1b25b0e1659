import Contracts
import Service
import Store

/// How rows end, and what follows from it.
extension Step {
    /// Gives a row its outcome and counts it; a row that has another one already gets the new one.
    func settle(_ row: Delivery, _ outcome: Outcome, _ reason: String?) throws(StoreError) {
        guard let message = try message(row.id.message) else { return }
        if let former = row.state.outcome {
            guard former != outcome else { return }
            message.counts[former] -= 1
            revise(message)
        } else {
            message.unsettled -= 1
            if message.kind == .start, outcome != .delivered { try forgetStartWait(row) }
        }
        message.counts[outcome] += 1
        tally(outcome)
        row.state = DeliveryState(outcome)
        row.reason = reason
        row.changedAt = now.wall
        if !row.isOut { row.place = nil }
    }

    /// Lets a settled message be settled once more.
    private func revise(_ message: MessageRecord) {
        guard message.settledAt != nil else { return }
        message.settledAt = nil
        message.revision += 1
    }

    /// Gives a row its outcome, and its participant what follows from it.
    func finish(_ row: Delivery, _ outcome: Outcome, _ reason: String? = nil) throws(StoreError) {
        try settle(row, outcome, reason)
        guard row.participant != 0, let participant = try participant(row.participant),
            let message = try message(row.id.message)
        else { return }
        participant.outcome = outcome.rawValue
        participant.reason = reason
        try letGo(row, participant)
        switch message.kind {
        case .start where outcome != .delivered && participant.state == .starting:
            try end(participant, Cause.neverStarted)
        case .end where participant.end == message.number:
            try end(participant, Cause.ended, withoutToken: hadNoToken(row))
        default: break
        }
    }

    /// Takes a row from the place of the one that waits for its participant.
    func letGo(_ row: Delivery, _ participant: Participant) throws(StoreError) {
        guard participant.waiting == row.id.message else { return }
        try setWaiting(participant, nil)
    }

    func setWaiting(_ participant: Participant, _ message: Int64?) throws(StoreError) {
        let change = (message == nil ? 0 : 1) - (participant.waiting == nil ? 0 : 1)
        participant.waiting = message
        if change != 0 { try run(participant.run)?.waiting += change }
    }

    /// Ends a participant; what waited for it has no way to go.
    ///
    /// - Parameters:
    ///   - participant: who ends.
    ///   - cause: why, for what waited.
    ///   - registration: the sequence of what ended it; nil for that of its token.
    ///   - hadNoToken: its end met a token that was refused: the phone still shows the activity, and comes with another.
    /// - Throws: `StoreError` if the ledger fails.
    func end(
        _ participant: Participant, _ cause: String, registration: Int64? = nil,
        withoutToken hadNoToken: Bool = false
    ) throws(StoreError) {
        guard participant.state != .ended else { return }
        participant.state = .ended
        let run = try run(participant.run)
        // A channel is nobody: it was not counted.
        if !participant.place.isChannel { run?.open -= 1 }
        if participant.listens == true { run?.channel?.members -= 1 }
        if let token = participant.place.usable, let run, !participant.place.isChannel {
            try say(
                hadNoToken ? .tokenDied : .participantEnded, application: run.application, token: token,
                run: run.number, registration: registration ?? participant.place.sequence)
        }
        guard let waiting = participant.waiting,
            let row = try delivery(PushID(message: waiting, device: participant.device))
        else { return }
        try finish(row, .unreachable, cause)
    }

    /// Opens a settled row again; the caller places it.
    func reopen(_ row: Delivery, _ message: MessageRecord) {
        guard let outcome = row.state.outcome else { return }
        message.counts[outcome] -= 1
        message.unsettled += 1
        openAgain(message)
        row.state = .waiting
        row.reason = nil
        row.changedAt = now.wall
    }

    /// Lets a message that may be settled have an open row again.
    func openAgain(_ message: MessageRecord) {
        revise(message)
        message.sweepAt = message.nextSweep(after: now.wall, memory.settings(message.application))
    }
}

/// What ingest is told of messages and runs.
extension Step {
    /// Says that a message is settled, once all its rows are known and have an outcome.
    func settleIfDone(_ message: MessageRecord) throws(StoreError) {
        guard message.isComplete, message.cursor == nil, message.unsettled == 0, message.settledAt == nil
        else { return }
        message.settledAt = now.wall
        message.isSettledUnnoted = true
        message.sweepAt = nil
        // While its application is paused nobody else finds that the queue of a fan-out is empty.
        if message.isFanOut { closeQueues(of: message) }
        sendSettled(message)
    }

    private func closeQueues(of message: MessageRecord) {
        for environment in APNsEnvironment.allCases {
            memory.rounds.close(Place.fanOut(message: message.number, environment).number)
        }
    }

    /// Says that nobody is left in a run; one that was ended by a message needs no saying.
    func sayIfEmpty(_ run: RunRecord) throws(StoreError) {
        guard run.isEmpty, !run.isEmptySaid, run.end == nil else { return }
        run.isEmptySaid = true
        try say(
            .runEmpty, application: run.application, token: nil, run: run.number,
            registration: run.registration)
    }

    func say(
        _ kind: Fact.Kind, application: String, token: String?, run: Int64?, registration: Int64
    ) throws(StoreError) {
        let fact = try ledger.addFact(
            kind, application: application, token: token, run: run, registration: registration)
        guard !memory.factNotes.hasMore, memory.factNotes.take(fact.number, max: limits.underWayMax) else {
            return
        }
        emit(.send(.fact(fact), to: .service(.ingest)))
    }

    /// Says that a message is complete, also once more.
    func sendTaken(_ message: Int64) {
        emit(.send(.taken(.command(message: message)), to: .service(.ingest)))
    }

    /// Says that a message is complete to whoever has not heard it, and how it ended if it has.
    ///
    /// Who sends a message that is complete here may have forgotten that, as a journal that is a copy of former days.
    func sayAgain(_ message: MessageRecord) {
        sendTaken(message.number)
        guard message.settledAt != nil, !message.isSettledUnnoted else { return }
        message.isSettledUnnoted = true
        sendSettled(message)
    }

    private func sendSettled(_ message: MessageRecord) {
        guard !memory.settledNotes.hasMore,
            memory.settledNotes.take(message.number, max: limits.underWayMax),
            let settled = Settled(message.fields)
        else { return }
        emit(.send(.settled(settled), to: .service(.ingest)))
    }
}

extension Settled {
    /// What ingest is told of a message; nil while it is not settled.
    init?(_ message: MessageFields) {
        guard let settledAt = message.settledAt else { return nil }
        self.init(
            message: message.number, revision: message.revision, counts: message.counts,
            settledAtMilliseconds: settledAt)
    }
}
