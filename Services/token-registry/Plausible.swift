import Contracts

/// Bounds of what a peer may say, so that no sum of times overflows: a socket is an input like any other.
enum Plausible {
    /// Milliseconds since 1970: until the year 37,000.
    static let milliseconds: ClosedRange<Int64> = 0...(1 << 50)
    /// Seconds since 1970: until the same.
    static let seconds: ClosedRange<Int64> = 0...(1 << 40)
}

extension Registration {
    /// The registration with a time that can be reckoned with.
    func bounded() -> Registration {
        var bounded = self
        bounded.acceptedAtMilliseconds = acceptedAtMilliseconds.bounded(to: Plausible.milliseconds)
        switch change {
        case .startToken(var token):
            token.registeredAtSeconds = token.registeredAtSeconds?.bounded(to: Plausible.seconds)
            bounded.change = .startToken(token)
        case .activityToken(var token):
            token.registeredAtSeconds = token.registeredAtSeconds?.bounded(to: Plausible.seconds)
            bounded.change = .activityToken(token)
        case .profile, .tags, .user, .unregister: break
        }
        return bounded
    }
}

extension Batch {
    /// Whether its numbers and times can be reckoned with.
    var isPlausible: Bool {
        command.sequence > 0 && command.run >= 0 && index >= 0
            && Plausible.milliseconds.contains(command.acceptedAtMilliseconds)
            && Plausible.seconds.contains(command.notification?.expirationSeconds ?? 0)
    }
}

extension Report {
    /// The report with times that can be reckoned with.
    func bounded() -> Report {
        var bounded = self
        bounded.retryAtMilliseconds = retryAtMilliseconds?.bounded(to: Plausible.milliseconds)
        bounded.sentAtMilliseconds = sentAtMilliseconds?.bounded(to: Plausible.milliseconds)
        bounded.wireTimestampSeconds = wireTimestampSeconds?.bounded(to: Plausible.seconds)
        return bounded
    }
}

extension Int64 {
    fileprivate func bounded(to range: ClosedRange<Int64>) -> Int64 {
        Swift.min(Swift.max(self, range.lowerBound), range.upperBound)
    }
}
