/// Says how much waits, when that has changed, but not more than once a second.
struct WaitingWord {
    static let everyMilliseconds: Int64 = 1_000

    private var said: Backlog.Held?
    private var notBeforeMilliseconds = Int64.min
    /// When there is something to say, on the monotonic clock; nil while nothing has changed.
    private(set) var nextMilliseconds: Int64?

    /// What is to be said now.
    mutating func say(_ held: Backlog.Held, nowMilliseconds now: Int64) -> Backlog.Held? {
        guard held != said else {
            nextMilliseconds = nil
            return nil
        }
        guard now >= notBeforeMilliseconds else {
            nextMilliseconds = notBeforeMilliseconds
            return nil
        }
        said = held
        notBeforeMilliseconds = now + WaitingWord.everyMilliseconds
        nextMilliseconds = nil
        return held
    }
}
