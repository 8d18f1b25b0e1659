/// Bounds of what a peer may say, so that no sum or product of times overflows.
///
/// A local socket is an input like any other.
public enum Plausible {
    /// Milliseconds since 1970: until the year 37,000.
    public static let milliseconds: ClosedRange<Int64> = 0...(1 << 50)
    /// Seconds since 1970: until the same.
    public static let seconds: ClosedRange<Int64> = 0...(1 << 40)
    /// How often and how many: 1,048,576 at most.
    public static let counts = 0...(1 << 20)
}

extension Registration {
    /// The registration with a time that can be reckoned with: a phone's clock may say anything.
    public func bounded() -> Registration {
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

extension Message {
    /// Whether the numbers and times of work can be reckoned with; a receiver drops what is not so.
    public var isPlausible: Bool {
        switch self {
        case .command(let command): command.isPlausible
        case .batch(let batch): batch.index >= 0 && batch.command.isPlausible
        case .targets(let targets):
            targets.notification.isPlausible && targets.targets.allSatisfy(\.isPlausible)
        case .registrations(let group): !group.entries.isEmpty
        case .pushes(let pushes): pushes.notification.isPlausible && pushes.pushes.allSatisfy(\.isPlausible)
        default: true
        }
    }
}

extension Command {
    fileprivate var isPlausible: Bool {
        sequence > 0 && run >= 0 && Plausible.milliseconds.contains(acceptedAtMilliseconds)
            && order.isPlausible && notification?.isPlausible ?? true
    }
}

extension Order {
    fileprivate var isPlausible: Bool { Plausible.seconds.contains(seconds) && sequence >= 0 }
}

extension Notification {
    fileprivate var isPlausible: Bool {
        [expirationSeconds, timestampSeconds ?? 0, staleDateSeconds ?? 0, dismissalDateSeconds ?? 0]
            .allSatisfy(Plausible.seconds.contains)
    }
}

extension Pace {
    fileprivate var isPlausible: Bool {
        Plausible.milliseconds.contains(fullAtMilliseconds)
            && Plausible.milliseconds.contains(fiveNotBeforeMilliseconds)
            && Plausible.seconds.contains(lastWireSeconds) && lastOrder?.isPlausible ?? true
    }
}

extension Target {
    fileprivate var isPlausible: Bool {
        order.isPlausible && pace.isPlausible && Plausible.counts.contains(burst)
            && Plausible.counts.contains(attempt) && (0...(1 << 30)).contains(intervalMilliseconds)
            && Plausible.milliseconds.contains(notBeforeMilliseconds)
            && Plausible.milliseconds.contains(sendBeforeMilliseconds)
            && Plausible.seconds.contains(wireTimestampSeconds ?? 0)
    }
}

extension Push {
    fileprivate var isPlausible: Bool {
        Plausible.counts.contains(attempt) && Plausible.seconds.contains(timestampSeconds)
            && Plausible.milliseconds.contains(sendBeforeMilliseconds)
    }
}

extension Report {
    /// The report with times that can be reckoned with.
    public func bounded() -> Report {
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
