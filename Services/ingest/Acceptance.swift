import Contracts
import Service
import Store

/// A message that was accepted, now or before.
struct Accepted {
    /// Its sequence.
    var sequence: Int64
    /// What stands in line for it; nil if it was accepted before.
    var head: MessageHead?
    /// What it counts for in the backlog.
    var bytes = 0
}

extension Ingest {
    /// Journals the pushes of one call: all, or none with the reason.
    mutating func accept(
        _ drafts: [Draft], _ application: Configuration.Application, _ door: Door, at now: Moment,
        in journal: Journal
    ) throws(StoreError) -> Result<[Accepted], Refusal> {
        var accepted: [Accepted] = []
        var refusal: Refusal?
        // One by one, since each changes what may be said of the next: two starts of one id, for example.
        try journal.together(undoable: drafts.count > 1) { () throws(StoreError) in
            for draft in drafts {
                switch try accept(draft, door, at: now, in: journal) {
                case .success(let one): accepted.append(one)
                case .failure(let why):
                    refusal = why
                    return false
                }
            }
            return true
        }
        if let refusal { return .failure(refusal) }
        for one in accepted {
            if let head = one.head { admit(head, bytes: one.bytes) }
        }
        return .success(accepted)
    }

    /// Says whether a push would be accepted, and changes nothing.
    func refusal(of draft: Draft, at now: Moment, in journal: Journal) throws(StoreError) -> Refusal? {
        if case .failure(let refusal) = try audience(of: draft, at: now, in: journal) { return refusal }
        guard case .refused(let refusal) = try decide(draft, at: now, in: journal) else { return nil }
        return refusal
    }

    private mutating func accept(_ draft: Draft, _ door: Door, at now: Moment, in journal: Journal)
        throws(StoreError)
        -> Result<Accepted, Refusal>
    {
        let decision = try decide(draft, at: now, in: journal)
        switch decision {
        case .refused(let refusal): return .failure(refusal)
        case .same(let sequence): return .success(Accepted(sequence: sequence))
        case .run, .begins: break
        }
        if let refusal = backlog.refusal(commandOf: draft.activity.application) { return .failure(refusal) }
        switch try audience(of: draft, at: now, in: journal) {
        case .failure(let refusal): return .failure(refusal)
        case .success(let audience):
            return .success(try keep(draft, decision, audience, door, at: now, in: journal))
        }
    }

    /// Whom a push is for, with a filter's expression in the place of its name.
    private func audience(of draft: Draft, at now: Moment, in journal: Journal) throws(StoreError)
        -> Result<Audience, Refusal>
    {
        let application = draft.activity.application
        let today = CalendarDay.text(ofSeconds: now.wallSeconds)
        let filter: Filter?
        switch draft.target {
        case .audience(let audience): return .success(audience)
        case .filterName(let name):
            filter = try journal.filter(name: name, application: application, today: today)
        case .filterCode(let code):
            filter = try journal.filter(code: code, application: application, today: today)
        }
        guard let filter else {
            return .failure(Refusal(draft.fields.target.text, "there is no such filter", label: "filter"))
        }
        return .success(.filter(filter))
    }

    private mutating func keep(
        _ draft: Draft, _ decision: RunDecision, _ audience: Audience, _ door: Door, at now: Moment,
        in journal: Journal
    ) throws(StoreError) -> Accepted {
        let sequence = try journal.nextSequence()
        var run = sequence
        if case .run(let number) = decision { run = number }
        let head = MessageHead(
            sequence: sequence, application: draft.activity.application, kind: draft.notification.event.kind,
            activity: draft.activity, run: run,
            order: Order(seconds: try orderSeconds(of: draft, at: now, in: journal), sequence: sequence),
            acceptedAtMilliseconds: now.wall)
        if run == sequence { try begin(draft, run, at: now, in: journal) }
        if head.kind == .end { try end(draft, run, by: sequence, in: journal) }
        let bytes = try journal.insert(head, draft, audience: audience, door: door)
        return Accepted(sequence: sequence, head: head, bytes: bytes)
    }

    /// The second that says how new a state is: the caller's, or that of its acceptance.
    private mutating func orderSeconds(of draft: Draft, at now: Moment, in journal: Journal)
        throws(StoreError)
        -> Int64
    {
        let seconds = try acceptanceSeconds(at: now, in: journal)
        return draft.notification.timestampSeconds ?? seconds
    }

    /// The second of an acceptance, as far as it says what is newer.
    ///
    /// It never goes back, also when the clock is set back: the states of the next hour would be taken for older ones.
    /// The next life goes on from the last message, whatever that was, so that each has the second kept.
    mutating func acceptanceSeconds(at now: Moment, in journal: Journal) throws(StoreError) -> Int64 {
        let seconds = now.wallSeconds
        guard seconds < latestOrderSeconds else {
            latestOrderSeconds = seconds
            return seconds
        }
        try journal.keep(orderSeconds: latestOrderSeconds)
        return latestOrderSeconds
    }

    private func begin(_ draft: Draft, _ run: Int64, at now: Moment, in journal: Journal) throws(StoreError) {
        let isStart = draft.notification.event == .start
        try journal.insert(
            Run(
                number: run, activity: draft.activity, beganAtMilliseconds: now.wall, isStart: isStart,
                digest: isStart ? draft.digest : nil, channel: try channel(of: draft, in: journal),
                attributesBytes: isStart ? Int64(draft.payload.attributes.count) : nil))
        guard draft.activity.space == .token else { return }
        try journal.use(
            draft.activity.name, application: draft.activity.application, run: run, atMilliseconds: now.wall)
    }

    /// An end at the Firebase door ends its token's part; the whole run only if the token is all there is of it.
    private func end(_ draft: Draft, _ run: Int64, by sequence: Int64, in journal: Journal) throws(StoreError)
    {
        if draft.activity.space == .token {
            try journal.markEnded(draft.activity.name, application: draft.activity.application)
            guard try journal.run(run)?.activity == draft.activity else { return }
        }
        try journal.markEnded(run, by: sequence)
    }
}

extension ActivityEvent {
    /// The command that asks for it.
    var kind: Command.Kind {
        switch self {
        case .start: .start
        case .update: .update
        case .end: .end
        }
    }
}
