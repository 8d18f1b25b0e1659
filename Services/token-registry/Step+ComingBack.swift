import Contracts
import Store

/// Participants that have a token again, or have not ended after all: they get the newest state, or the end.
extension Step {
    /// Counts a participant that had ended as one that takes part, and gives it the newest state that it missed.
    ///
    /// What came for an activity while it had ended made no row for it.
    func comeBack(_ participant: Participant, _ run: RunRecord, _ device: Device) throws(StoreError) {
        participant.state = .starting
        run.open += 1
        run.isEmptySaid = false
        guard run.end == nil, let missed = try missedState(participant) else { return }
        guard missed.expirationSeconds != 0, !missed.isExpired(at: now.wall) else {
            // No older one goes in its place.
            return participant.newest = missed.number
        }
        if missed.settledAt != nil { openAgain(missed) }
        try offer(missed, to: participant, device)
    }

    /// The newest update of a participant's run, if the participant has no row of it and none will be made.
    private func missedState(_ participant: Participant) throws(StoreError) -> MessageRecord? {
        let number = try ledger.newestUpdate(run: participant.run, participant: participant.number)
        guard let number, number != participant.newest, let message = try message(number),
            !willReach(message, participant),
            try !hasDelivery(PushID(message: number, device: participant.device))
        else { return nil }
        if let newest = participant.newest, let known = try self.message(newest), known.order > message.order
        {
            return nil
        }
        return message
    }

    /// Whether a message for a whole activity has still to come to a participant.
    private func willReach(_ message: MessageRecord, _ participant: Participant) -> Bool {
        guard let cursor = message.cursor else { return false }
        return participant.number <= message.participantMax && participant.device > cursor
    }

    /// Whether a row ended only because there was no token that it could go to.
    func hadNoToken(_ row: Delivery) -> Bool {
        row.state == .unreachable || row.state == .failed && TokenFault.isFault(row.reason)
    }

    /// Lets what waited for a token go, or opens the newest state again.
    func goOn(_ participant: Participant, _ run: RunRecord, _ device: Device) throws(StoreError) {
        if let waiting = participant.waiting,
            let row = try delivery(PushID(message: waiting, device: participant.device))
        {
            return try schedule(row, participant, device)
        }
        if let end = try end(of: run) { return try giveEnd(end, to: participant, device) }
        guard let (row, message) = try newestForToken(of: participant) else { return }
        reopen(row, message)
        (row.notBefore, row.retryAt) = (0, 0)
        try setWaiting(participant, message.number)
        try schedule(row, participant, device)
    }

    /// The newest state of a participant if it has ended for want of a token, and goes to the next one.
    func newestForToken(of participant: Participant) throws(StoreError) -> (Delivery, MessageRecord)? {
        guard let newest = participant.newest, participant.handed != newest,
            let message = try message(newest),
            !message.isCancelled, message.expirationSeconds != 0, !message.isExpired(at: now.wall),
            let row = try delivery(PushID(message: newest, device: participant.device)), hadNoToken(row)
        else { return nil }
        return (row, message)
    }

    func end(of run: RunRecord) throws(StoreError) -> MessageRecord? {
        guard let end = run.end else { return nil }
        return try message(end)
    }

    /// Gives a participant with a new token the end of its run, unless it has that, or the end will come to it.
    func giveEnd(_ end: MessageRecord, to participant: Participant, _ device: Device)
        throws(StoreError)
    {
        if let row = try delivery(PushID(message: end.number, device: participant.device)) {
            guard hadNoToken(row), !end.isExpired(at: now.wall) else { return }
            reopen(row, end)
            (row.notBefore, row.retryAt) = (0, 0)
            participant.end = end.number
            try setWaiting(participant, end.number)
            return try schedule(row, participant, device)
        }
        guard !willReach(end, participant) else { return }
        if end.settledAt != nil { openAgain(end) }
        try offer(end, to: participant, device)
    }
}
