/// An instant on both clocks, in milliseconds; handed in from outside, so that no core ever reads a clock.
public struct Moment: Sendable, Equatable {
    /// Milliseconds of the monotonic clock: for waiting inside one life of a process.
    public var monotonic: Int64
    /// Milliseconds since 1970: for what is stored or leaves the process.
    public var wall: Int64

    /// Joins two readings.
    public init(monotonic: Int64, wall: Int64) {
        self.monotonic = monotonic
        self.wall = wall
    }

    /// Whole seconds since 1970, as APNs counts.
    public var wallSeconds: Int64 { wall / 1000 }

    /// The instant so many milliseconds later on both clocks.
    public func advanced(byMilliseconds milliseconds: Int64) -> Moment {
        Moment(monotonic: monotonic + milliseconds, wall: wall + milliseconds)
    }
}
