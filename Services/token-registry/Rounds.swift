import Contracts

/// Whose rows go next: in rounds, the single recipients of each application first, then one batch of each fan-out.
struct Rounds {
    /// One queue of rows that wait for their time.
    struct Queue {
        /// Whose rows they are.
        var pause: Pause
        /// When its first row is due, milliseconds since 1970; never too late, maybe too early.
        var nextDue: Int64
        /// Why it is passed over until the next turn.
        var block: Block?
    }

    /// What a queue may wait for beside time.
    enum Block {
        /// A limiter takes no more.
        case room
        /// Its application is held back.
        case pause
        /// It belongs to a fan-out, and those rest.
        case rest
    }

    private(set) var queues: [Int64: Queue] = [:]
    /// Those whose turn is still to come in this round, the next one last.
    private var round: [Int64] = []
    private var taken = 0

    /// Notes that a row lies in a queue; false if the queue is not known.
    mutating func place(_ place: Int64, at: Int64) -> Bool {
        guard let known = queues[place] else { return false }
        if at < known.nextDue { queues[place]?.nextDue = at }
        return true
    }

    /// Adds a queue whose first row is due at an instant.
    mutating func open(_ place: Int64, _ pause: Pause, at: Int64) {
        queues[place] = Queue(pause: pause, nextDue: at)
    }

    /// Notes when the first row of a queue is due now; nil if it holds none.
    mutating func set(_ place: Int64, nextDue: Int64?) {
        guard let nextDue else {
            queues[place] = nil
            return
        }
        queues[place]?.nextDue = nextDue
    }

    /// Passes over a queue until the next turn.
    mutating func block(_ place: Int64, _ block: Block) { queues[place]?.block = block }

    /// Forgets a queue that holds no row any more.
    mutating func close(_ place: Int64) { queues[place] = nil }

    /// Looks at every queue again, save those of fan-outs while they rest, and those that are held back.
    ///
    /// What is passed over here takes nothing of a turn, however many queues it is.
    mutating func unblock(fanOutsRest: Bool, held: Set<Pause>) {
        for (place, queue) in queues {
            let isHeld = !held.isEmpty && held.contains(queue.pause)
            let block: Block? = fanOutsRest && Place.isFanOut(place) ? .rest : isHeld ? .pause : nil
            if queue.block != block { queues[place]?.block = block }
        }
    }

    /// The queue whose turn it is, and how many rows may go from it; nil if none is due.
    mutating func next(at now: Int64, rowsPerRound: Int) -> (place: Int64, rows: Int)? {
        while true {
            if round.isEmpty {
                round = queues.filter { $0.value.nextDue <= now && $0.value.block == nil }.keys
                    .sorted(by: >)
                taken = 0
            }
            guard let place = round.last else { return nil }
            guard taken < rowsPerRound, let queue = queues[place], queue.nextDue <= now, queue.block == nil
            else {
                round.removeLast()
                taken = 0
                continue
            }
            return (place, rowsPerRound - taken)
        }
    }

    /// Counts rows that went from the queue whose turn it is.
    mutating func count(_ rows: Int) { taken += rows }

    /// When the first row is due that waits for time alone.
    ///
    /// `opening` says when the application of a queue may go: nil if time does not change that. Fan-outs go from
    /// `rested` on.
    func nextDue(restedAt rested: Int64, opening: (Pause) -> Int64?) -> Int64? {
        var next: Int64?
        for (place, queue) in queues where queue.block != .room {
            guard let opens = opening(queue.pause) else { continue }
            next = min(next ?? .max, max(queue.nextDue, opens, Place.isFanOut(place) ? rested : .min))
        }
        return next
    }
}
