internal import Glibc

/// Something that does input and output inside one outer poll loop.
///
/// It belongs to the thread of that loop and never blocks.
public protocol Pollable {
    /// The descriptor that becomes readable when there is something to do; negative when there is none (any more).
    var descriptor: CInt { get }

    /// Does what can be done without waiting.
    ///
    /// - Parameter nowMilliseconds: The monotonic clock, as `MonotonicClock` reads it.
    func process(nowMilliseconds: Int64)

    /// The moment at which `process` must be called even if the descriptor is silent, on the monotonic clock.
    var nextDeadlineMilliseconds: Int64? { get }
}

/// The clock for waiting: it never jumps.
public enum MonotonicClock {
    /// Reads the milliseconds since an arbitrary point of this boot.
    public static func nowMilliseconds() -> Int64 {
        var time = timespec()
        let result = unsafe clock_gettime(CLOCK_MONOTONIC, &time)
        precondition(result == 0, "clock_gettime")
        return Int64(time.tv_sec) * 1_000 + Int64(time.tv_nsec) / 1_000_000
    }
}
