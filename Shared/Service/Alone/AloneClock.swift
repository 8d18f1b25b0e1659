import Contracts

/// The clock of a service that runs alone: the computer's, or one that lines of input move.
struct AloneClock {
    /// Whether only lines of input move it.
    let isManual: Bool
    private var moment: Moment

    init(_ choice: Options.ClockChoice, now: Moment = Moment.now()) {
        switch choice {
        case .real:
            isManual = false
            moment = now
        case .manual(let start):
            isManual = true
            moment = Moment(monotonic: 0, wall: start ?? now.wall)
        }
    }

    var now: Moment { isManual ? moment : Moment.now() }

    /// Moves a manual clock.
    mutating func advance(byMilliseconds milliseconds: Int64) {
        moment = moment.advanced(byMilliseconds: milliseconds)
    }
}
