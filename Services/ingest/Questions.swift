import Contracts

/// What callers wait for while another service is asked.
///
/// Nothing of it is kept over a restart: who asks again loses nothing. The numbers of a life begin where the clock stands,
/// so that the late answer to a former life's question is nobody's.
struct Questions {
    /// How long an answer may take unless the question says otherwise, in milliseconds.
    static let deadlineMilliseconds: Int64 = 2_000
    /// How many callers may wait at once.
    static let waitingMax = 1_000

    /// Makes a reply of an answer, and of what the journal knows of the channels in it; nil if the answer is of another
    /// kind.
    typealias Reply = @Sendable (HTTPCall, Answer.Content, [String: KnownChannel]) -> HTTPReply?

    /// Makes the reply for who has waited for too long.
    typealias LateReply = @Sendable (HTTPCall) -> HTTPReply

    /// A caller that waits.
    struct Waiting {
        /// The call, without its body.
        var call: HTTPCall
        /// The application that it is for.
        var application: String
        var dueMilliseconds: Int64
        var reply: Reply
        var late: LateReply
        /// What a repetition of the call is known by, if its answer is to be kept.
        var repeatable: RepeatableCall?
    }

    private var waiting: [Int64: Waiting] = [:]
    private var next: Int64 = 1

    /// Begins a life.
    mutating func start(at now: Int64) { next = max(now, 0) * 1_000 + 1 }

    var isFull: Bool { waiting.count >= Questions.waitingMax }

    /// The number of a question for which no caller waits.
    mutating func nextNumber() -> Int64 {
        defer { next += 1 }
        return next
    }

    /// Lets a caller wait.
    ///
    /// - Returns: the number of the question.
    mutating func add(_ caller: Waiting) -> Int64 {
        let number = nextNumber()
        waiting[number] = caller
        waiting[number]?.call.body = []
        return number
    }

    /// Has the answer to a call that waits kept for its repetitions.
    mutating func keepReply(toCall call: Int64, for repeatable: RepeatableCall) {
        guard let number = waiting.first(where: { $0.value.call.id == call })?.key else { return }
        waiting[number]?.repeatable = repeatable
    }

    /// Whether the same call waits already.
    func isWaiting(_ repeatable: RepeatableCall) -> Bool {
        waiting.values.contains { $0.repeatable == repeatable }
    }

    /// The caller that a number belongs to; it waits no longer.
    mutating func take(_ number: Int64) -> Waiting? { waiting.removeValue(forKey: number) }

    /// Those who have waited for too long, in the order of their questions.
    mutating func due(nowMilliseconds now: Int64) -> [Waiting] {
        guard let next = nextMilliseconds, next <= now else { return [] }
        let late = waiting.filter { $0.value.dueMilliseconds <= now }.keys.sorted()
        return late.compactMap { waiting.removeValue(forKey: $0) }
    }

    /// When the next one will have waited for too long, on the monotonic clock.
    var nextMilliseconds: Int64? { waiting.isEmpty ? nil : waiting.values.map(\.dueMilliseconds).min() }
}
