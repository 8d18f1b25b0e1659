import Web

/// Sends updates by an open-loop schedule, as a member of a poll loop.
final class OpenLoopSender: Pollable {
    /// Calls that may be under way before the schedule is not kept any more.
    static let pendingMax = 50_000

    private let schedule: OpenLoop
    private let client: HTTPClient
    private let request: (_ number: Int, _ activity: Int) -> HTTPClientRequest
    private let activities: Int
    private let retryMilliseconds: Int64?
    private let beganMicroseconds: Int64
    private var retries:
        [(dueMilliseconds: Int64, number: Int, request: HTTPClientRequest, after: DoorAnswer)] = []
    var log = SendLog()

    /// Begins now.
    ///
    /// - Parameters:
    ///   - schedule: when sends are due.
    ///   - activities: how many activities are updated, one after the other.
    ///   - client: where calls are made.
    ///   - retryMilliseconds: after how long a call that was not accepted goes again, if nothing newer was sent for
    ///     its activity; nil for never.
    ///   - request: makes the call for a send.
    init(
        _ schedule: OpenLoop, activities: Int, client: HTTPClient, retryMilliseconds: Int64? = nil,
        request: @escaping (_ number: Int, _ activity: Int) -> HTTPClientRequest
    ) {
        self.schedule = schedule
        self.activities = activities
        self.client = client
        self.retryMilliseconds = retryMilliseconds
        self.request = request
        beganMicroseconds = Stopwatch.microseconds()
    }

    /// Whether every send has gone out and been answered.
    var isDone: Bool { Int64(log.count) == schedule.count && log.unanswered == 0 && retries.isEmpty }

    /// Whether every send has gone out.
    var hasSentAll: Bool { Int64(log.count) == schedule.count }

    /// How far the schedule is, 0 to 1.
    var progress: Double { Double(log.count) / Double(max(1, schedule.count)) }

    var descriptor: CInt { -1 }

    var nextDeadlineMilliseconds: Int64? {
        var deadlines = retries.map(\.dueMilliseconds)
        if !hasSentAll {
            let wait =
                schedule.dueMicroseconds(Int64(log.count)) - (Stopwatch.microseconds() - beganMicroseconds)
            deadlines.append(MonotonicClock.nowMilliseconds() + max(0, (wait + 999) / 1_000))
        }
        return deadlines.min()
    }

    func process(nowMilliseconds: Int64) {
        let now = Stopwatch.microseconds() - beganMicroseconds
        while !hasSentAll, schedule.dueMicroseconds(Int64(log.count)) <= now, log.unanswered < Self.pendingMax
        {
            let activity = log.count % activities
            let late = now - schedule.dueMicroseconds(Int64(log.count))
            let call = request(log.count, activity)
            let number = log.send(
                activity: activity, wallMicroseconds: Stopwatch.wallMicroseconds(), latenessMicroseconds: late
            )
            send(number, call)
        }
        let due = retries.filter { $0.dueMilliseconds <= nowMilliseconds }
        retries.removeAll { $0.dueMilliseconds <= nowMilliseconds }
        for retry in due where log.isNewest(retry.number) {
            log.retry(retry.number, after: retry.after)
            send(retry.number, retry.request)
        }
    }

    private func send(_ number: Int, _ call: HTTPClientRequest) {
        client.send(call) { [weak self] result in self?.answered(number, call, DoorAnswer(result)) }
    }

    private func answered(_ number: Int, _ call: HTTPClientRequest, _ answer: DoorAnswer) {
        let mayRetry = retryMilliseconds != nil && log.isNewest(number)
        log.answered(number, answer, wallMicroseconds: Stopwatch.wallMicroseconds())
        guard let retryMilliseconds, mayRetry else { return }
        switch answer {
        case .accepted, .refused: return
        case .busy, .unreachable, .unknown:
            let due = MonotonicClock.nowMilliseconds() + retryMilliseconds
            retries.append((due, number, call, answer))
        }
    }
}
