import Contracts
import Service
import Store

/// What a turn does: hand over, make rows of activities, end rows by time, forget what is over.
extension Step {
    /// Treats at most `rowsPerTurn` rows for each duty.
    func turn(_ room: Room) throws(StoreError) {
        var room = room
        let mayFanOut = memory.rest.begin(at: now)
        memory.rounds.unblock(fanOutsRest: !mayFanOut, held: memory.held(at: now.wall))
        try tryPausedAtOnce()
        try resend(&room, limits.rowsPerTurn)
        try expandActivities(limits.rowsPerTurn, \.expanding)
        if mayFanOut { try takeFanOuts(limits.rowsPerTurn) }
        try handOver(&room, limits.rowsPerTurn)
        try sweep(limits.rowsPerTurn)
        try remove(limits.rowsPerTurn)
        try keepClock()
        try sayMore()
    }

    /// Makes rows of fan-outs, those of their batches and those of activities.
    private func takeFanOuts(_ limit: Int) throws(StoreError) {
        guard !memory.arriving.isEmpty || !memory.expandingFanOuts.isEmpty else { return }
        memory.rest.work(at: now)
        try takeArriving(limit)
        try expandActivities(limit, \.expandingFanOuts)
    }

    /// Makes the rows of messages that are for an activity, a page of each in turn.
    private func expandActivities(_ limit: Int, _ messages: ReferenceWritableKeyPath<Memory, Expanding>)
        throws(StoreError)
    {
        try readExpanding(messages)
        var budget = limit
        while budget > 0, let number = memory[keyPath: messages].next() {
            guard let message = try message(number), let cursor = message.cursor else { continue }
            let limit = min(budget, Batch.recipientsMax)
            let hasChannel = try run(message.run)?.channel != nil
            // Who listens may differ from what the ledger holds; what the other query looks at never changes.
            if hasChannel { try flush() }
            // An update is heard by all the others; an end ends them too.
            let page = try ledger.participants(
                run: message.run, after: cursor, through: message.participantMax, limit: limit,
                besidesChannel: hasChannel && message.kind == .update)
            for (fields, deviceFields) in page {
                let participant = adopt(fields)
                let device = adopt(deviceFields)
                guard participant.state != .ended, !participant.place.isChannel else { continue }
                if participant.listens == true {
                    if message.kind == .end { try endListener(participant, message) }
                    continue
                }
                if try endedByUnregistering(participant, device) { continue }
                try offer(message, to: participant, device)
            }
            budget -= max(page.count, 1)
            message.cursor = page.count < limit ? nil : page.last?.participant.device
            if message.cursor != nil { memory[keyPath: messages].add(number) }
        }
    }

    /// Reads from the ledger which messages are to be gone through, once few are at hand.
    func readExpanding(_ messages: ReferenceWritableKeyPath<Memory, Expanding>) throws(StoreError) {
        guard let wanted = memory[keyPath: messages].wanted else { return }
        try flush()
        let found = try ledger.expanding(fanOuts: messages == \Memory.expandingFanOuts, limit: wanted)
        memory[keyPath: messages].read(found, of: wanted)
    }

    /// Ends a participant whose device wants no pushes, as far as that was left until now.
    private func endedByUnregistering(_ participant: Participant, _ device: Device) throws(StoreError) -> Bool
    {
        guard device.isUnregistered, participant.state == .starting, participant.handed == nil else {
            return false
        }
        try end(participant, Cause.unregistered)
        return true
    }

    /// Ends rows whose time is over, or whose message was taken back.
    private func sweep(_ limit: Int) throws(StoreError) {
        var budget = limit
        guard let due = memory.sweepAt, due <= now.wall else { return }
        while budget > 0 {
            try flush()
            let next = try ledger.nextSweep()
            memory.sweepAt = next?.at
            guard let next, next.at <= now.wall, let message = try message(next.message) else { return }
            let limit = message.unsettled == 0 ? 0 : budget
            let page =
                limit == 0
                ? []
                : try ledger.deliveries(message: message.number, after: message.sweepCursor, limit: limit)
            for fields in page { try endIfOver(adopt(fields), message) }
            budget -= max(page.count, 1)
            if page.count < limit || page.isEmpty {
                message.sweepCursor = 0
                message.sweepAt = message.nextSweep(after: now.wall, memory.settings(message.application))
            } else {
                message.sweepCursor = page.last?.id.device ?? 0
            }
        }
    }

    private func endIfOver(_ row: Delivery, _ message: MessageRecord) throws(StoreError) {
        guard row.isOpen, !row.isOut else { return }
        if message.isCancelled { return try finish(row, .cancelled) }
        if message.isExpired(at: now.wall) { return try finish(row, .expired) }
        let wait = memory.settings(message.application).tokenWaitSeconds * 1000
        if row.state == .held, now.wall >= message.acceptedAt + wait {
            try finish(row, .unreachable, Cause.noToken)
        }
    }
}

extension Memory {
    /// In how many milliseconds something is due although nothing arrives.
    func nextTurnMilliseconds(after now: Moment) -> Int64? {
        guard expanding.isEmpty, !rest.isMeasuring, !isResending else { return 0 }
        let rested = now.wall + rest.milliseconds(after: now)
        let due = rounds.nextDue(restedAt: rested) { pause in
            guard let gate = gates[pause] else { return .min }
            return gate.opensAt
        }
        let taking = arriving.isEmpty && expandingFanOuts.isEmpty ? nil : rested
        let next = [due, taking, sweepAt, removalAt, orphans.map(\.at).min()].compactMap { $0 }.min()
        return next.map { max(0, $0 - now.wall) }
    }
}
