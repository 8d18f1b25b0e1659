import Contracts

/// Whose rows go next: in rounds, the single recipients of each application first, then one batch of each fan-out.
struct Rounds {
    /// One queue of rows that wait for their time.
    struct Queue {
        /// Whose rows they are.
        var pause: Pause
        /// When its first row is due, milliseconds since 1970; never too late, maybe too early.
        var nextDue: Int64
        /// Whether it waits for something else than time until the next turn.
        var isBlocked = false
    }

    private(set) var queues: [Int64: Queue] = [:]
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
    mutating func block(_ place: Int64) { queues[place]?.isBlocked = true }

    /// Looks at every queue again.
    mutating func unblock() {
        for place in queues.keys { queues[place]?.isBlocked = false }
    }

    /// The queue whose turn it is, and how many rows may go from it; nil if none is due.
    mutating func next(at now: Int64, rowsPerRound: Int) -> (place: Int64, rows: Int)? {
        while true {
            if round.isEmpty {
                round = queues.filter { $0.value.nextDue <= now && !$0.value.isBlocked }.keys.sorted()
                taken = 0
            }
            guard let place = round.first else { return nil }
            guard taken < rowsPerRound, let queue = queues[place], queue.nextDue <= now, !queue.isBlocked
            else {
                round.removeFirst()
                taken = 0
                continue
            }
            return (place, rowsPerRound - taken)
        }
    }

    /// Counts rows that went from the queue whose turn it is.
    mutating func count(_ rows: Int) { taken += rows }

    /// When the first row of all is due that waits for time alone.
    func nextDue(isOpen: (Pause) -> Bool) -> Int64? {
        queues.values.filter { !$0.isBlocked && isOpen($0.pause) }.map(\.nextDue).min()
    }

    /// Whether rows of an application wait in one environment.
    func hasRows(_ pause: Pause) -> Bool { queues.values.contains { $0.pause == pause && !$0.isBlocked } }
}
