import Contracts
import Service
import Store

/// What the door makes of an activity's token.
enum TokenPlace {
    /// It changes nothing; the reason is for the log.
    case ignored(String)
    /// It belongs to a run of an activity, under a sequence of its own.
    case run((sequence: Int64, run: Int64), activity: String)
}

extension Ingest {
    /// Decides which run an activity's token belongs to, and notes it.
    ///
    /// A token for an id that does not run begins a run: the app started the activity. While an end is not settled, tokens
    /// of the id belong to the run that it ends, and so does the new token of a phone whose former one has died in that
    /// run, also after that. A token of a run that is over is ignored, however often it comes again.
    /// An empty one goes on to the registry, which knows whether it may be meant for the device's former activity.
    func place(_ token: ActivityToken, _ registration: Registration, at now: Moment, in journal: Journal)
        throws(StoreError) -> TokenPlace
    {
        let application = registration.application
        // Apps that use the SDK's old calls give no id: their activities are named by the token.
        let activity =
            token.activity.isEmpty
            ? ActivityName(application: application, space: .token, name: token.token)
            : ActivityName(application: application, space: .id, name: token.activity)
        guard !activity.name.isEmpty else { return .ignored("no-activity") }
        let newest = try journal.newestRun(activity)
        let run: Int64?
        switch try choose(token.token, of: registration.device, newest, activity, at: now, in: journal) {
        case .failure(let why): return .ignored(why.text)
        case .success(let number): run = number
        }
        let sequence = try journal.nextSequence()
        if run == nil {
            try journal.insert(
                Run(number: sequence, activity: activity, beganAtMilliseconds: now.wall, isStart: false))
        }
        let number = run ?? sequence
        try journal.markRegistered(
            number, by: sequence, hasToken: !token.token.isEmpty, atMilliseconds: now.wall)
        if token.token.isEmpty {
            try journal.awaitNoMore(registration.device, in: number)
        } else {
            try journal.register(
                token.token, application: application, run: number, device: registration.device,
                sequence: sequence, atMilliseconds: now.wall)
        }
        return .run((sequence, number), activity: activity.name)
    }

    private struct Why: Error {
        var text: String
        init(_ text: String) { self.text = text }
    }

    /// The run that a token is for; nil if it begins one.
    private func choose(
        _ token: String, of device: String, _ newest: Run?, _ activity: ActivityName, at now: Moment,
        in journal: Journal
    ) throws(StoreError) -> Result<Int64?, Why> {
        let state = newest?.state(access, nowMilliseconds: now.wall)
        if let newest, let state, state.takesChanges || state == .ended && !newest.isEndSettled {
            let known = try knownRun(token, activity, in: journal)
            return known ?? newest.number == newest.number
                ? .success(newest.number) : .failure(Why("token-of-a-former-run"))
        }
        guard !token.isEmpty else {
            // Nor does who dismisses an activity come for its end.
            if let newest, state == .ended { try journal.awaitNoMore(device, in: newest.number) }
            return .failure(Why("not-running"))
        }
        guard let known = try knownRun(token, activity, in: journal) else {
            return .success(try runThatAwaits(device, newest, state, at: now, in: journal))
        }
        // Who registers again after everybody was thought gone is still there.
        guard let newest, known == newest.number, state == .empty else {
            return .failure(Why("token-of-a-former-run"))
        }
        return .success(known)
    }

    /// The ended run in which a device's token has died lately, so that a new one is for the same activity and gets its end.
    ///
    /// What became of its token may be heard a moment later than that the end is settled.
    private func runThatAwaits(
        _ device: String, _ newest: Run?, _ state: RunState?, at now: Moment, in journal: Journal
    ) throws(StoreError) -> Int64? {
        guard let newest, newest.channel == nil, state == .ended, let end = newest.endedBy,
            let token = try journal.newestToken(newest.number, device: device)
        else { return nil }
        switch token.mark {
        case .ended, .dismissed: return nil
        case .died:
            let instant = Run.awaitedAfter(newest.delivery(access), nowMilliseconds: now.wall)
            return token.at > instant ? newest.number : nil
        case nil:
            let settledAt = try journal.status(end)?.settledAtMilliseconds ?? .min
            return settledAt > now.wall - limits.factsMilliseconds ? newest.number : nil
        }
    }

    /// The run of the same activity that a token was registered for before.
    private func knownRun(_ token: String, _ activity: ActivityName, in journal: Journal) throws(StoreError)
        -> Int64?
    {
        guard !token.isEmpty,
            let number = try journal.token(token, application: activity.application)?.run,
            try journal.run(number)?.activity == activity
        else { return nil }
        return number
    }
}
