import Contracts

/// What was sent to participants lately, remembered until it no longer delays anything.
///
/// The registry's record travels with each target; this one covers what was sent since that record was read. That is at
/// most what the registry may have unanswered, so that no more is remembered.
struct RecentPaces {
    private struct Recent {
        var pace: Pace
        /// What became of the last push.
        var report: Report
        /// Until when it is remembered, milliseconds since 1970.
        var until: Int64
    }

    /// How long what was sent is remembered at least, in milliseconds: a repeat of it may be on its way.
    static let rememberMilliseconds: Int64 = 5_000

    /// How many participants are remembered; and twice as many pushes to them, of which the last to each counts.
    let countMax: Int

    private var recent: [Int64: Recent] = [:]
    private var forget: [(at: Int64, participant: Int64)] = []
    private var firstToForget = 0

    /// Remembers nobody yet.
    init(countMax: Int) { self.countMax = countMax }

    var count: Int { recent.count }

    /// How many pushes are remembered.
    var pushCount: Int { forget.count - firstToForget }

    /// The later of the two records in each respect.
    func pace(of target: Target) -> Pace {
        guard let recent = recent[target.participant]?.pace else { return target.pace }
        var pace = target.pace
        pace.fullAtMilliseconds = max(pace.fullAtMilliseconds, recent.fullAtMilliseconds)
        pace.fiveNotBeforeMilliseconds = max(pace.fiveNotBeforeMilliseconds, recent.fiveNotBeforeMilliseconds)
        pace.lastWireSeconds = max(pace.lastWireSeconds, recent.lastWireSeconds)
        if let order = recent.lastOrder { pace.lastOrder = max(pace.lastOrder ?? order, order) }
        return pace
    }

    /// What became of a target, if it was the last one delivered to its participant.
    func report(of target: Target) -> Report? {
        guard let report = recent[target.participant]?.report, report.id == target.id else { return nil }
        return report
    }

    /// Notes that a push to a target was delivered.
    mutating func sent(_ target: Target, _ report: Report, atMilliseconds sentAt: Int64) {
        guard target.participant != 0 else { return }
        var pace = pace(of: target)
        pace.sent(
            atMilliseconds: sentAt, priority: target.priority,
            intervalMilliseconds: target.intervalMilliseconds, order: target.order,
            wireSeconds: report.wireTimestampSeconds ?? 0)
        let until = max(
            pace.fullAtMilliseconds, pace.fiveNotBeforeMilliseconds, sentAt + RecentPaces.rememberMilliseconds
        )
        recent[target.participant] = Recent(pace: pace, report: report, until: until)
        forget.append((until, target.participant))
        while recent.count > countMax || pushCount > countMax * 2 { forgetFirst() }
        tidy()
    }

    /// Goes by a clock that was set by so many milliseconds.
    mutating func moveInstants(by step: Int64) {
        for participant in recent.keys {
            recent[participant]?.pace.moveInstants(byMilliseconds: step)
            recent[participant]?.report.moveInstants(byMilliseconds: step)
            recent[participant]?.until += step
        }
        for index in forget.indices { forget[index].at += step }
    }

    /// Forgets what delays nothing any more.
    mutating func prune(at now: Int64) {
        while firstToForget < forget.count, forget[firstToForget].at <= now { forgetFirst() }
        tidy()
    }

    /// Forgets a participant in its turn, unless something was sent to it since.
    private mutating func forgetFirst() {
        let (until, participant) = forget[firstToForget]
        firstToForget += 1
        if recent[participant]?.until == until { recent[participant] = nil }
    }

    private mutating func tidy() {
        guard firstToForget > 1_024, firstToForget * 2 > forget.count else { return }
        forget.removeFirst(firstToForget)
        firstToForget = 0
    }
}
