import Contracts
import Service
import Store

/// Whether a run goes on, and if not, why.
enum RunState: Equatable {
    case running
    /// An end was accepted for it.
    case ended
    /// No participant is left, but the token of one has died lately: its phone may come with a new one.
    case awaiting
    /// No participant is left.
    case empty
    /// It has lasted as long as iOS lets an activity live.
    case over

    /// What callers are told of one that does not run.
    var problem: String {
        switch self {
        case .running: "an activity of this id is already running"
        case .ended: "the activity has ended"
        case .awaiting, .empty: "no device shows the activity any more"
        case .over: "the activity is over: it has lasted as long as an activity may take updates"
        }
    }

    /// Whether it takes updates and an end: what comes while a phone is awaited is for when it is back.
    var takesChanges: Bool { self == .running || self == .awaiting }
}

extension Run {
    /// Whether the run goes on.
    func state(_ delivery: DeliverySettings, nowMilliseconds now: Int64) -> RunState {
        if endedBy != nil { return .ended }
        let isOver = now >= beganAtMilliseconds + delivery.activeSeconds * 1_000
        guard emptyBy != nil else { return isOver ? .over : .running }
        let awaits = tokenDiedAtMilliseconds ?? .min > Run.awaitedAfter(delivery, nowMilliseconds: now)
        // A channel is free for another activity once nobody is left.
        return awaits && !isOver && channel == nil ? .awaiting : .empty
    }

    /// The same for an application's code.
    func state(_ access: Access, nowMilliseconds now: Int64) -> RunState {
        state(delivery(access), nowMilliseconds: now)
    }

    /// The times of its application; one that is not configured any more has the usual ones.
    func delivery(_ access: Access) -> DeliverySettings {
        access.application(activity.application)?.delivery ?? DeliverySettings()
    }

    /// A phone is waited for if its token died after this, milliseconds since 1970.
    ///
    /// An activity gets another token at any time (Apple, Starting and updating Live Activities with ActivityKit push
    /// notifications), and what is sent before the app has registered it meets the former one.
    static func awaitedAfter(_ delivery: DeliverySettings, nowMilliseconds now: Int64) -> Int64 {
        now - delivery.tokenWaitSeconds * 1_000
    }
}

/// What the running activities make of a start, update or end.
enum RunDecision {
    case refused(Refusal)
    /// It is answered with a message that was accepted before.
    case same(Int64)
    /// It belongs to this run.
    case run(Int64)
    /// It begins a run, which its own sequence names.
    case begins
}

extension Ingest {
    /// Decides which run a push belongs to.
    func decide(_ draft: Draft, at now: Moment, in journal: Journal) throws(StoreError) -> RunDecision {
        switch draft.activity.space {
        case .id where draft.notification.event == .start:
            return try decideStart(draft, at: now, in: journal)
        case .id: return try decideChange(draft, at: now, in: journal)
        case .startToken: return try decideTokenStart(draft, at: now, in: journal)
        case .token: return try decideTokenChange(draft, at: now, in: journal)
        case .channel: return try decideChannelChange(draft, at: now, in: journal)
        }
    }

    /// A start of a running id is refused, or answered as before if it is the same to the last byte.
    private func decideStart(_ draft: Draft, at now: Moment, in journal: Journal) throws(StoreError)
        -> RunDecision
    {
        let run = try journal.newestRun(draft.activity)
        let state = run?.state(access, nowMilliseconds: now.wall)
        if let run, let state, state.takesChanges, run.isStart, run.digest == draft.digest,
            try !journal.isCancelled(run.number)
        {
            return .same(run.number)
        }
        guard state == .running else {
            return try channelRefusal(of: draft, at: now, in: journal).map(RunDecision.refused) ?? .begins
        }
        return .refused(
            Refusal(draft.fields.activity.text, RunState.running.problem, label: "activity"))
    }

    private func decideChange(_ draft: Draft, at now: Moment, in journal: Journal) throws(StoreError)
        -> RunDecision
    {
        guard let run = try journal.newestRun(draft.activity) else {
            return .refused(
                Refusal(draft.fields.activity.text, "no activity of this id is running", label: "activity"))
        }
        let state = run.state(access, nowMilliseconds: now.wall)
        guard state.takesChanges else {
            return .refused(Refusal(draft.fields.activity.text, state.problem, label: "activity"))
        }
        return Ingest.sized(draft, run)
    }

    /// Every start at the Firebase door is an activity of its own, but not the same one twice within a minute.
    private func decideTokenStart(_ draft: Draft, at now: Moment, in journal: Journal) throws(StoreError)
        -> RunDecision
    {
        let known = try journal.token(draft.activity.name, application: draft.activity.application)
        if known?.mark == .died { return .refused(deadToken(draft, "APNs calls the token dead")) }
        let since = now.wall - limits.sameStartMilliseconds
        let same = try journal.sameStart(draft.activity, digest: draft.digest, afterMilliseconds: since)
        return same.map(RunDecision.same) ?? .begins
    }

    /// An update or end goes to whoever holds the token; one that nobody registered is an activity of its own.
    private func decideTokenChange(_ draft: Draft, at now: Moment, in journal: Journal) throws(StoreError)
        -> RunDecision
    {
        let known = try journal.token(draft.activity.name, application: draft.activity.application)
        guard let known else { return .begins }
        switch known.mark {
        case .died: return .refused(deadToken(draft, "APNs calls the token dead"))
        case .ended: return .refused(deadToken(draft, RunState.ended.problem))
        case .dismissed, nil: break
        }
        guard let number = known.run, let run = try journal.run(number) else { return .begins }
        let state = run.state(access, nowMilliseconds: now.wall)
        return state.takesChanges
            ? Ingest.sized(draft, run) : .refused(deadToken(draft, state.problem))
    }

    /// The run, unless its attributes leave no room for the state: a phone keeps 4 KB of both together.
    ///
    /// Apple, Displaying live data with Live Activities.
    static func sized(_ draft: Draft, _ run: Run) -> RunDecision {
        let size = draft.payload.contentState.count + Int(run.attributesBytes ?? 0)
        guard size > PayloadSize.bytesMax else { return .run(run.number) }
        return .refused(
            Refusal(
                draft.fields.state.text,
                "with the attributes of its start it would have \(size) bytes, more than \(PayloadSize.bytesMax)",
                label: "size"))
    }

    private func deadToken(_ draft: Draft, _ problem: String) -> Refusal {
        Refusal(.unregistered, draft.fields.activity.text, problem, label: "dead-token")
    }
}
