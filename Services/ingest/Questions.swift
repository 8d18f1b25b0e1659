import Collections
import Contracts

/// What callers wait for while another service is asked.
///
/// Nothing of it is kept over a restart: who asks again loses nothing. The numbers of a life begin where the clock stands,
/// so that the late answer to a former life's question is nobody's.
struct Questions {
    /// How long an answer may take, in milliseconds.
    static let deadlineMilliseconds: Int64 = 2_000
    /// How many callers may wait at once.
    static let waitingMax = 1_000

    /// Makes a reply of an answer; nil if the answer is of another kind.
    typealias Reply = @Sendable (HTTPCall, Answer.Content) -> HTTPReply?

    /// A caller that waits.
    struct Waiting {
        /// The call, without its body.
        var call: HTTPCall
        var dueMilliseconds: Int64
        var reply: Reply
    }

    private var waiting: [Int64: Waiting] = [:]
    private var order = FIFO<Int64>()
    private var next: Int64 = 1

    /// Begins a life.
    mutating func start(at now: Int64) { next = max(now, 0) * 1_000 + 1 }

    var isFull: Bool { waiting.count >= Questions.waitingMax }

    /// Lets a caller wait.
    ///
    /// - Returns: the number of the question.
    mutating func add(_ call: HTTPCall, nowMilliseconds: Int64, reply: @escaping Reply) -> Int64 {
        var call = call
        call.body = []
        let number = next
        next += 1
        waiting[number] = Waiting(
            call: call, dueMilliseconds: nowMilliseconds + Questions.deadlineMilliseconds, reply: reply)
        order.append(number)
        return number
    }

    /// The caller that a number belongs to; it waits no longer.
    mutating func take(_ number: Int64) -> Waiting? { waiting.removeValue(forKey: number) }

    /// The calls that have waited for too long.
    mutating func due(nowMilliseconds now: Int64) -> [HTTPCall] {
        var calls: [HTTPCall] = []
        while let number = order.first {
            guard let oldest = waiting[number] else {
                _ = order.popFirst()
                continue
            }
            guard oldest.dueMilliseconds <= now else { break }
            calls.append(oldest.call)
            waiting[number] = nil
        }
        return calls
    }

    /// When the next one will have waited for too long, on the monotonic clock.
    var nextMilliseconds: Int64? { waiting.isEmpty ? nil : waiting.values.map(\.dueMilliseconds).min() }
}
