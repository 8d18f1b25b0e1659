import Contracts
import Service
import Store

extension Ingest {
    /// Takes what another service says; each answer to it is sent once this is committed.
    mutating func take(_ message: Message, from sender: Sender, at now: Moment, in journal: Journal)
        throws(StoreError) -> [Effect<IngestOutput>]
    {
        switch message {
        case .taken(.command(let number)):
            let isNew = try commandTaken(number, at: now, in: journal)
            return noted(.taken(message: number), sender) + (isNew ? [] : ignored("taken"))
        case .taken(.registration(let sequence, let service)):
            let isNew = try registrationTaken(sequence, by: service, in: journal)
            return noted(.registered(sequence: sequence, by: service), sender)
                + (isNew ? [] : ignored("taken"))
        case .busy(let busy):
            let isNew = release.busy(busy.message, nowMilliseconds: now.monotonic)
            return isNew ? [.count(Count("busy"))] : ignored("busy")
        case .settled(let settled):
            let effects = try settle(settled, at: now, in: journal)
            return effects + noted(.settled(message: settled.message, revision: settled.revision), sender)
        case .fact(let fact):
            try note(fact, at: now, in: journal)
            return noted(.fact(number: fact.number), sender)
        case .answer(let answer): return try take(answer, at: now, in: journal)
        case .hello, .noted: return []
        case .registration, .registrations, .command, .taken(.batch), .batch, .targets, .retarget, .pushes,
            .report, .query:
            return ignored(message.type.rawValue)
        }
    }

    private func noted(_ key: CustodyKey, _ sender: Sender) -> [Effect<IngestOutput>] {
        [.send(.noted(Noted([key])), to: .instance(sender.instance))]
    }

    /// Counts what changes nothing.
    func ignored(_ type: String) -> [Effect<IngestOutput>] {
        [.count(Count("ignored", [("type", type)]))]
    }

    private mutating func commandTaken(_ message: Int64, at now: Moment, in journal: Journal)
        throws(StoreError)
        -> Bool
    {
        guard let taken = try journal.markTaken(message, atMilliseconds: now.wall) else { return false }
        release.taken(.command(message))
        backlog.remove(commandOfBytes: taken.bytes, application: taken.application)
        atHand.taken(message, AtHand.Flow(taken.kind), of: taken.application)
        return true
    }

    private mutating func registrationTaken(_ sequence: Int64, by service: ServiceName, in journal: Journal)
        throws(StoreError) -> Bool
    {
        let group = Release.Work.group(sequence, by: service)
        if !release.contains(group), let left = try journal.markTaken(registration: sequence, by: service) {
            release.taken(.registration(sequence, by: service))
            if left.isTakenByAll { remove(registrations: 1, sequence, of: left.application) }
            return true
        }
        guard let left = try journal.markTaken(group: sequence, by: service) else { return false }
        release.taken(group)
        if left.isTakenByAll { remove(registrations: left.count, sequence, of: left.application) }
        return true
    }

    private mutating func remove(registrations count: Int, _ sequence: Int64, of application: String) {
        backlog.remove(registrations: count, application: application)
        atHand.taken(sequence, .registrations, of: application, count: count)
    }

    /// Keeps how a message ended, if this is the newest word about it.
    private mutating func settle(_ settled: Settled, at now: Moment, in journal: Journal) throws(StoreError)
        -> [Effect<IngestOutput>]
    {
        guard let status = try journal.status(settled.message), settled.revision > status.revision ?? .min
        else {
            return ignored("settled")
        }
        // What is settled is complete, also if the word that it is taken comes later.
        _ = try commandTaken(settled.message, at: now, in: journal)
        try journal.settle(settled)
        if status.head.kind == .end { try journal.markEndSettled(status.head.run, by: settled.message) }
        return Outcome.allCases.compactMap { outcome in
            let more = settled.counts[outcome] - status.counts[outcome]
            return more > 0 ? .count(Count("settled", [("outcome", outcome.rawValue)], by: more)) : nil
        }
    }

    private func note(_ fact: Fact, at now: Moment, in journal: Journal) throws(StoreError) {
        if fact.kind == .runEmpty {
            guard let run = fact.run else { return }
            return try journal.markEmpty(run, byFact: fact.number, restingOn: fact.registrationSequence)
        }
        guard let token = fact.token else { return }
        if fact.kind == .tokenDied, let run = fact.run {
            let known = try journal.token(token, application: fact.application)
            // What is told once more changes nothing, and who dismissed the activity comes with no other token.
            if fact.number > known?.fact ?? 0, known?.mark != .dismissed {
                try journal.markTokenDied(run, atMilliseconds: now.wall)
            }
        }
        let mark: TokenRecord.Mark? =
            switch fact.kind {
            case .tokenDied: .died
            case .participantEnded: .ended
            case .tokenLives, .runEmpty: nil
            }
        try journal.note(
            mark, token, application: fact.application, fact: fact.number,
            restingOn: fact.registrationSequence, atMilliseconds: now.wall)
    }
}
