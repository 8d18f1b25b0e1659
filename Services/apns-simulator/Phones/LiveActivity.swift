/// One activity on one phone, or a free slot for one.
struct LiveActivity: Sendable {
    enum State: UInt8, Sendable {
        case free, active, ended, dismissed
    }

    var state = State.free
    var phone: UInt32 = 0
    /// The phone's activity before this one, or -1.
    var next: Int32 = -1
    /// The id by which the app registers it.
    var id = ""
    var attributesType = ""
    /// The broadcast channel that it listens to; empty for none.
    var channel = ""
    /// The newest content state as it came.
    var shown: [UInt8] = []
    /// `timestamp` of what is shown, in UNIX seconds.
    var timestampSeconds: Int64 = 0
    var staleAtSeconds: Int64?
    var startedAtMilliseconds: Int64 = 0
    var endedAtMilliseconds: Int64 = 0
    /// When it leaves the Lock Screen.
    var removedAtMilliseconds: Int64 = 0

    /// Counts the update tokens of this slot, those of its former activities too.
    var generation: UInt32 = 0
    var hasToken = false
    /// When the token before the present one died, and until when that is still taken.
    var changedAtMilliseconds: Int64 = 0
    var formerTokenUntilMilliseconds: Int64 = 0
    var isRegistering = false
    var updates = Allowance()
    var requests = SecondCounter()

    /// Whether it takes updates.
    var isActive: Bool { state == .active }

    /// Ends it.
    ///
    /// It may stay on the Lock Screen for four hours more, or until an earlier `dismissal-date` (Apple, Displaying
    /// live data with Live Activities).
    mutating func end(atMilliseconds now: Int64, dismissalSeconds: Int64?) {
        let latest = now + Self.stayMilliseconds
        state = .ended
        endedAtMilliseconds = now
        removedAtMilliseconds = dismissalSeconds.map { min(latest, max(now, $0.milliseconds)) } ?? latest
    }

    /// Ends it as the system does, if its time is over.
    mutating func expire(nowMilliseconds: Int64, lifetimeMilliseconds: Int64) {
        let over = startedAtMilliseconds + lifetimeMilliseconds
        if state == .active, nowMilliseconds >= over { end(atMilliseconds: over, dismissalSeconds: nil) }
    }

    /// Takes it away as the person does.
    mutating func dismiss(atMilliseconds now: Int64) {
        if state == .active { endedAtMilliseconds = now }
        state = .dismissed
        removedAtMilliseconds = now
    }

    /// Frees the slot; tokens given out for it are dead from then on.
    mutating func free(atMilliseconds now: Int64) {
        let died = hasToken ? (endedAtMilliseconds > 0 ? endedAtMilliseconds : now) : changedAtMilliseconds
        self = LiveActivity(generation: generation &+ 1 & 0x3FF_FFFF, changedAtMilliseconds: died)
    }

    static let stayMilliseconds: Int64 = 4 * 3_600_000
}

extension Int64 {
    /// Seconds as milliseconds, held at the ends of the range.
    var milliseconds: Int64 {
        let (product, overflow) = multipliedReportingOverflow(by: 1000)
        return overflow ? (self < 0 ? .min : .max) : product
    }
}
