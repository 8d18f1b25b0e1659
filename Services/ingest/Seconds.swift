import JSON

/// Instants as callers give them: whole seconds since 1970.
enum Seconds {
    /// What is not below is taken for milliseconds: as seconds it would lie in the year 5138.
    static let secondsEnd: Int64 = 100_000_000_000
    /// How far ahead of the clock a caller's own time may be, in seconds.
    static let aheadMax: Int64 = 300

    /// How long after its end iOS shows an activity at most, in seconds; what lies later is cut to that.
    static let dismissalMax: Int64 = 4 * 3_600

    /// Whole seconds of any time.
    static func any(_ value: JSONValue) throws(Refusal) -> Int64 {
        guard value.kind == .number else { throw ObjectReader.wrong(value, "must be a number of seconds") }
        guard let seconds = value.int64, seconds >= 0 else {
            throw ObjectReader.wrong(value, "must be whole seconds since 1970", label: "value")
        }
        guard seconds < secondsEnd else {
            throw ObjectReader.wrong(value, "must be seconds since 1970, not milliseconds", label: "value")
        }
        return seconds
    }

    /// Whole seconds of a time that lies at most five minutes ahead.
    static func notAhead(_ value: JSONValue, nowSeconds: Int64) throws(Refusal) -> Int64 {
        let seconds = try any(value)
        guard seconds <= nowSeconds + aheadMax else {
            throw ObjectReader.wrong(value, "must not lie more than 5 minutes ahead", label: "value")
        }
        return seconds
    }

    /// When an activity that ends now leaves the Lock Screen.
    ///
    /// Apple, Starting and updating Live Activities with ActivityKit push notifications: a later date is not kept.
    static func dismissal(_ value: JSONValue, sentSeconds: Int64) throws(Refusal) -> Int64 {
        let seconds = try any(value)
        guard seconds <= sentSeconds + dismissalMax else {
            throw ObjectReader.wrong(value, "must not lie more than 4 hours ahead", label: "value")
        }
        return seconds
    }
}
