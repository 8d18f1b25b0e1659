/// Moments as people read them.
enum ClockText {
    /// The time of day in UTC, to the millisecond.
    static func day(_ milliseconds: Int64) -> String {
        let seconds = milliseconds / 1_000 % 86_400
        let parts = [seconds / 3_600, seconds / 60 % 60, seconds % 60].map { $0 < 10 ? "0\($0)" : "\($0)" }
        let rest = String(milliseconds % 1_000 + 1_000).dropFirst()
        return "\(parts.joined(separator: ":")).\(rest)"
    }
}
