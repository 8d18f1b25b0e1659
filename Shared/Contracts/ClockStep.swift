/// Notices that the wall clock was set: it is known by how far it is from the monotonic one.
public struct ClockStep: Sendable {
    /// From how many milliseconds on a difference counts; what a time server corrects little by little does not.
    public static let millisecondsMin: Int64 = 1_000

    private var offset: Int64?
    private var last: (milliseconds: Int64, formerWall: Int64)?

    /// Knows no former instant.
    public init() {}

    /// Takes note of the time.
    ///
    /// - Returns: by how many milliseconds the wall clock was set since the last call; nil if it was not, or at the first.
    public mutating func notice(_ now: Moment) -> Int64? {
        let former = offset
        let offset = now.wall - now.monotonic
        self.offset = offset
        guard let former, abs(offset - former) >= ClockStep.millisecondsMin else { return nil }
        last = (offset - former, now.wall - (offset - former))
        return offset - former
    }

    /// By how much the instants in a message are to be moved, if a neighbour on this host has sent it before the clock was
    /// last set.
    ///
    /// - Parameters:
    ///   - sentAt: what the neighbour's wall clock showed then, milliseconds since 1970.
    ///   - now: the instant of receiving it.
    /// - Returns: milliseconds; nil if it was sent since, as nearly all are.
    public func lag(ofSentAt sentAt: Int64, at now: Moment) -> Int64? {
        guard let last else { return nil }
        let isOfBefore =
            last.milliseconds > 0
            ? sentAt <= last.formerWall : sentAt - now.wall > -last.milliseconds / 2
        return isOfBefore ? last.milliseconds : nil
    }
}

extension Message {
    /// Moves the instants that its sender has reckoned by its wall clock, after that clock was set.
    ///
    /// What callers, phones and APNs have said stays as it is, and so does what stood on the wire.
    ///
    /// - Parameter step: milliseconds, negative if the clock was set back.
    public mutating func moveInstants(byMilliseconds step: Int64) {
        switch self {
        case .targets(var targets):
            for index in targets.targets.indices {
                targets.targets[index].moveInstants(byMilliseconds: step)
            }
            self = .targets(targets)
        case .pushes(var pushes):
            for index in pushes.pushes.indices {
                pushes.pushes[index].sendBeforeMilliseconds.moveInstant(by: step)
            }
            self = .pushes(pushes)
        case .report(var report):
            report.moveInstants(byMilliseconds: step)
            self = .report(report)
        case .hello, .registration, .registrations, .command, .batch, .retarget: break
        case .taken, .settled, .fact, .noted, .busy, .query, .answer: break
        }
    }
}

extension Report {
    /// Goes by a wall clock that was set by so many milliseconds.
    public mutating func moveInstants(byMilliseconds step: Int64) {
        retryAtMilliseconds?.moveInstant(by: step)
        sentAtMilliseconds?.moveInstant(by: step)
    }
}

extension Pace {
    /// Goes by a wall clock that was set by so many milliseconds.
    public mutating func moveInstants(byMilliseconds step: Int64) {
        fullAtMilliseconds.moveInstant(by: step)
        fiveNotBeforeMilliseconds.moveInstant(by: step)
    }
}

extension Target {
    fileprivate mutating func moveInstants(byMilliseconds step: Int64) {
        pace.moveInstants(byMilliseconds: step)
        notBeforeMilliseconds.moveInstant(by: step)
        sendBeforeMilliseconds.moveInstant(by: step)
    }
}

extension Int64 {
    /// Moves an instant in milliseconds since 1970; 0 stands for none, and none lies before it.
    fileprivate mutating func moveInstant(by step: Int64) {
        if self > 0 { self = Swift.max(0, self + step) }
    }
}
