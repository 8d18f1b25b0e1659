import FoundationEssentials

/// The one simulator that the listeners, the control port and the registrar work on, in turns, on one thread.
final class Stage {
    var simulator: Simulator

    init(_ simulator: Simulator) { self.simulator = simulator }

    /// The wall clock in UNIX microseconds.
    static func nowMicroseconds() -> Int64 { Int64(Date().timeIntervalSince1970 * 1_000_000) }

    /// The wall clock in UNIX milliseconds.
    static func nowMilliseconds() -> Int64 { nowMicroseconds() / 1000 }
}
