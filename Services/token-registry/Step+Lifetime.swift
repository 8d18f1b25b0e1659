import Contracts
import Service
import Store

/// Runs that are over are forgotten in small steps, with their messages, participants and guests.
extension Step {
    /// How long the rest of a run waits for ingest to note what became of it, in milliseconds.
    private static let unnotedWaitMilliseconds: Int64 = 60_000

    func remove(_ limit: Int) throws(StoreError) {
        var budget = limit
        guard let due = memory.removalAt, due <= now.wall else { return }
        while budget > 0 {
            try flush()
            let next = try ledger.nextRemoval()
            memory.removalAt = next?.at
            guard let next, next.at <= now.wall, let run = try run(next.run) else { return }
            budget -= max(try removeSome(of: run, limit: budget), 1)
        }
    }

    /// Removes up to so many rows of a run.
    ///
    /// - Returns: how many.
    private func removeSome(of run: RunRecord, limit: Int) throws(StoreError) -> Int {
        if let number = try ledger.message(ofRun: run.number) {
            guard let message = try message(number) else { return 0 }
            return try removeSome(of: message, run, limit: limit)
        }
        let removed = try ledger.removeParticipants(run: run.number, limit: limit)
        if removed < limit {
            try ledger.removeRun(run.number)
            drop(run: run.number)
        }
        return removed
    }

    private func removeSome(of message: MessageRecord, _ run: RunRecord, limit: Int) throws(StoreError) -> Int
    {
        let page = try ledger.deliveries(message: message.number, after: 0, limit: limit)
        for fields in page {
            let row = adopt(fields)
            guard row.isOpen || row.isOut, let device = try device(row.id.device) else { continue }
            try release(row, row.participant == 0 ? nil : try participant(row.participant), device)
            if row.isOpen { try finish(row, .expired, Cause.activityOver) }
        }
        if page.isEmpty {
            message.cursor = nil
            message.isComplete = true
        }
        try flush()
        if let last = page.last?.id.device {
            try ledger.removeGuests(run: run.number, message: message.number, through: last)
            try ledger.removeDeliveries(message: message.number, through: last)
            return page.count
        }
        guard !message.isSettledUnnoted, !message.isTakenUnnoted else {
            run.removesAt = now.wall + Step.unnotedWaitMilliseconds
            return 0
        }
        try ledger.removeMessage(message.number)
        drop(message: message.number)
        return 1
    }
}
