internal import CNghttp2
internal import Glibc
internal import Synchronization

/// Resolves host names on threads of their own, so that no loop ever waits for a name server.
///
/// Nothing is kept: each call asks anew, as Apple wants it for each connection to APNs (Apple, Sending notification
/// requests to APNs). A look-up that outlives its deadline is reported as such; its thread ends when `getaddrinfo`
/// returns.
@safe public final class Resolver {
    /// What became of a look-up.
    public enum Outcome: Sendable, Equatable {
        /// Numeric addresses in the order the system prefers.
        case addresses([String])
        /// The resolver's text.
        case failed(String)
        /// No answer in time.
        case deadline
    }

    /// The end of one look-up.
    public struct Answer: Sendable, Equatable {
        /// The number given to `resolve`.
        public var token: Int
        /// What became of it.
        public var outcome: Outcome

        /// Describes an answer.
        public init(token: Int, outcome: Outcome) {
            self.token = token
            self.outcome = outcome
        }
    }

    /// The way from a name to its addresses; blocks.
    public typealias LookUp = @Sendable (_ host: String) -> Outcome

    private struct Waiting {
        var number: Int
        var token: Int
        var host: String
        var deadline: Int64
        var isStarted: Bool
    }

    /// How many threads may be busy at once; further look-ups wait for one.
    public static let threadsMax = 8

    private let lookUp: LookUp
    private let mailbox = Mailbox()
    private var waiting: [Waiting] = []
    private var answers: [Answer] = []
    private var busyThreads = 0
    private var nextNumber = 0

    /// Makes a resolver that asks the system.
    public convenience init() {
        self.init(lookUp: AddressLookUp.run)
    }

    /// Makes a resolver that asks `lookUp`, on a thread for each call.
    public init(lookUp: @escaping LookUp) {
        self.lookUp = lookUp
    }

    /// Becomes readable when an answer is there.
    public var descriptor: CInt { mailbox.descriptor }

    /// When `process` must be called even if the descriptor is not readable.
    public var nextDeadlineMilliseconds: Int64? { waiting.map(\.deadline).min() }

    /// Begins a look-up; exactly one answer with `token` follows.
    public func resolve(token: Int, host: String, nowMilliseconds: Int64, timeoutMilliseconds: Int64) {
        nextNumber += 1
        waiting.append(
            Waiting(
                number: nextNumber, token: token, host: host,
                deadline: nowMilliseconds + timeoutMilliseconds, isStarted: false))
        startThreads()
    }

    /// Collects what has come and what is over time; never blocks.
    public func process(nowMilliseconds: Int64) {
        for (number, outcome) in mailbox.take() {
            busyThreads -= 1
            finish(outcome) { $0.number == number }
        }
        while let late = waiting.first(where: { $0.deadline <= nowMilliseconds }) {
            finish(.deadline) { $0.number == late.number }
        }
        startThreads()
    }

    /// Takes the answers since the last call.
    public func drainAnswers() -> [Answer] {
        var taken: [Answer] = []
        swap(&taken, &answers)
        return taken
    }

    private func finish(_ outcome: Outcome, where isIt: (Waiting) -> Bool) {
        guard let index = waiting.firstIndex(where: isIt) else { return }
        answers.append(Answer(token: waiting.remove(at: index).token, outcome: outcome))
    }

    private func startThreads() {
        for index in waiting.indices where !waiting[index].isStarted && busyThreads < Self.threadsMax {
            let (number, host) = (waiting[index].number, waiting[index].host)
            let (lookUp, mailbox) = (lookUp, mailbox)
            waiting[index].isStarted = true
            busyThreads += 1
            let hasStarted = DetachedThread.start { mailbox.put(number, lookUp(host)) }
            if !hasStarted { mailbox.put(number, .failed("no thread could be started")) }
        }
    }
}

/// Where look-up threads leave their results.
@safe private final class Mailbox: Sendable {
    let descriptor: CInt
    private let results = Mutex<[(Int, Resolver.Outcome)]>([])

    init() {
        descriptor = eventfd(0, CInt(EFD_CLOEXEC | EFD_NONBLOCK))
        precondition(descriptor >= 0, "eventfd: \(Sockets.text(errno))")
    }

    deinit { Glibc.close(descriptor) }

    func put(_ number: Int, _ outcome: Resolver.Outcome) {
        results.withLock { $0.append((number, outcome)) }
        eventfd_write(descriptor, 1)
    }

    func take() -> [(Int, Resolver.Outcome)] {
        var count: eventfd_t = 0
        unsafe eventfd_read(descriptor, &count)
        return results.withLock { list in
            defer { list = [] }
            return list
        }
    }
}
