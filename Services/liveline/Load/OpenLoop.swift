/// A schedule of sends at a fixed rate, which never waits for answers.
///
/// Times are microseconds since the schedule's beginning.
struct OpenLoop: Sendable, Equatable {
    /// Sends a second.
    let rate: Int64
    /// All sends.
    let count: Int64

    private static let second: Int64 = 1_000_000

    /// When a send is due; the first has number 0 and is due at once.
    func dueMicroseconds(_ number: Int64) -> Int64 { number * Self.second / rate }

    /// How long all of them take.
    var durationMicroseconds: Int64 { dueMicroseconds(count) }
}
