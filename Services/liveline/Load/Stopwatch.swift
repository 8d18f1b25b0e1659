import FoundationEssentials

/// The two clocks of a load run.
enum Stopwatch {
    private static let origin = ContinuousClock.now

    /// Microseconds since an arbitrary moment, for schedules: it never jumps.
    static func microseconds() -> Int64 {
        let (seconds, attoseconds) = (ContinuousClock.now - origin).components
        return seconds * 1_000_000 + attoseconds / 1_000_000_000_000
    }

    /// The wall clock in UNIX microseconds, which the simulator's arrivals are stamped with.
    static func wallMicroseconds() -> Int64 { Int64(Date().timeIntervalSince1970 * 1_000_000) }
}
