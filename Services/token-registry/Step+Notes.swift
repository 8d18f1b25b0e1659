import Contracts
import Service
import Store

/// The beginning of a life, and what ingest has still to note.
extension Step {
    /// Reads from the ledger what goes on.
    func resume() throws(StoreError) {
        try followClockOfFormerLife()
        for gate in try ledger.gates() { memory.gates[gate.pause] = Gate(saved: gate) }
        for application in try ledger.applications() {
            memory.applications[application.code] = application.number
            memory.applicationCodes[application.number] = application.code
        }
        for load in try ledger.load() {
            memory.addLoad(load.application, rows: load.rows, bytes: load.bytes)
        }
        try readExpanding(\.expanding)
        try readExpanding(\.expandingFanOuts)
        memory.nextParticipant = try ledger.lastParticipant() + 1
        memory.sweepAt = try ledger.nextSweep()?.at
        memory.removalAt = try ledger.nextRemoval()?.at
        var place = Int64.min
        while let next = try ledger.nextPlace(after: place) {
            place = next.place
            try openQueue(place, at: next.at)
        }
        memory.resendAfter = (.min, PushID(message: .min, device: .min))
        memory.resendThrough = now.wall + memory.sendBeforeLongestMilliseconds
        try sayMore()
    }

    /// Sends what the ledger holds for ingest, as far as it has noted enough of the former.
    func sayMore() throws(StoreError) {
        if memory.takenNotes.hasMore { try sayMoreTaken() }
        if memory.settledNotes.hasMore { try sayMoreSettled() }
        if memory.factNotes.hasMore { try sayMoreFacts() }
    }

    private func room(_ notes: UnderWay) -> Int {
        let room = limits.underWayMax - notes.keys.count
        // By halves, or each noted answer would ask the ledger for one more.
        return room * 2 >= limits.underWayMax ? room : 0
    }

    private func sayMoreTaken() throws(StoreError) {
        let room = room(memory.takenNotes)
        guard room > 0 else { return }
        let messages = try ledger.takenUnnoted(after: 0, limit: limits.underWayMax + room)
        memory.takenNotes.hasMore = messages.count == limits.underWayMax + room
        for message in messages where !memory.takenNotes.keys.contains(message) {
            guard memory.takenNotes.take(message, max: limits.underWayMax) else { return }
            sendTaken(message)
        }
    }

    private func sayMoreSettled() throws(StoreError) {
        let room = room(memory.settledNotes)
        guard room > 0 else { return }
        let messages = try ledger.settledUnnoted(after: 0, limit: limits.underWayMax + room)
        memory.settledNotes.hasMore = messages.count == limits.underWayMax + room
        for number in messages where !memory.settledNotes.keys.contains(number) {
            guard let message = try message(number), let settled = Settled(message.fields) else { continue }
            guard memory.settledNotes.take(number, max: limits.underWayMax) else { return }
            emit(.send(.settled(settled), to: .service(.ingest)))
        }
    }

    private func sayMoreFacts() throws(StoreError) {
        let room = room(memory.factNotes)
        guard room > 0 else { return }
        let facts = try ledger.facts(after: memory.factNotes.last, limit: room)
        memory.factNotes.hasMore = facts.count == room
        for fact in facts {
            guard memory.factNotes.take(fact.number, max: limits.underWayMax) else { return }
            emit(.send(.fact(fact), to: .service(.ingest)))
        }
    }

    /// Ingest has committed some of what it was told.
    func take(_ noted: Noted) throws(StoreError) {
        for key in noted.keys {
            switch key {
            case .taken(let number):
                memory.takenNotes.noted(number)
                if let message = try message(number) {
                    message.isTakenUnnoted = false
                } else {
                    try ledger.removeControl(number)
                }
            case .settled(let number, let revision):
                memory.settledNotes.noted(number)
                guard let message = try message(number), message.settledAt != nil else { continue }
                if message.revision == revision { message.isSettledUnnoted = false }
            case .fact(let number):
                memory.factNotes.noted(number)
                try ledger.removeFact(number)
            case .registered: break
            default: ignore(.noted)
            }
        }
    }
}
