import Contracts

/// Keeps fan-outs from taking all of the machine while single messages are about.
///
/// A turn that treats rows of fan-outs is followed by a rest of so many times its own length, in which only single
/// rows are treated. A turn takes longer the busier the machine is, and so does the rest: what a fan-out sets off
/// behind the registry, pushes and the registrations that answer them, is held to the same part of the time. With no
/// single row for a while there is no rest.
struct FanOutRest: Equatable {
    private let factor: Int64
    private let rememberedMilliseconds: Int64
    private let longestMilliseconds: Int64
    /// When a single row went last, monotonic milliseconds.
    private var singleAt: Int64?
    /// When the last turn that treated fan-outs began, monotonic milliseconds; nil unless its length is to be known.
    private var workedAt: Int64?
    private var until = Int64.min

    init(_ limits: Limits) {
        factor = Int64(limits.fanOutRestFactor)
        rememberedMilliseconds = limits.fanOutRestRememberedMilliseconds
        longestMilliseconds = limits.fanOutRestLongestMilliseconds
    }

    /// Notes that a row went which is not of a fan-out.
    mutating func noteSingle(at now: Moment) { singleAt = now.monotonic }

    /// Begins a turn.
    ///
    /// - Returns: whether it may treat fan-outs.
    mutating func begin(at now: Moment) -> Bool {
        if let workedAt {
            until = now.monotonic + min(factor * (now.monotonic - workedAt), longestMilliseconds)
            self.workedAt = nil
        }
        return until <= now.monotonic
    }

    /// Notes that the turn which began now treats rows of fan-outs.
    mutating func work(at now: Moment) {
        guard let singleAt, now.monotonic - singleAt < rememberedMilliseconds else { return }
        workedAt = now.monotonic
    }

    /// In how many milliseconds a turn may treat fan-outs.
    func milliseconds(after now: Moment) -> Int64 { until > now.monotonic ? until - now.monotonic : 0 }

    /// Whether a turn is due that tells how long the one before took.
    var isMeasuring: Bool { workedAt != nil }
}
