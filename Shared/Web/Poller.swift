internal import Glibc

/// Runs a few I/O objects in one poll(2) loop, for command-line tools and tests.
public struct Poller {
    private let members: [any Pollable]

    /// Makes a loop over the given objects, which are processed in this order.
    public init(_ members: any Pollable...) {
        self.init(members)
    }

    /// Makes a loop over the given objects, which are processed in this order.
    public init(_ members: [any Pollable]) {
        self.members = members
    }

    /// Runs the loop until the condition holds or the time is over.
    ///
    /// The condition is looked at before each wait. A signal does not end the loop.
    ///
    /// - Parameters:
    ///   - timeoutMilliseconds: The longest time to run.
    ///   - condition: What is waited for.
    /// - Returns: Whether the condition holds.
    @discardableResult
    public func run(timeoutMilliseconds: Int64, until condition: () -> Bool) -> Bool {
        let endMilliseconds = MonotonicClock.nowMilliseconds() + timeoutMilliseconds
        while !condition() {
            let nowMilliseconds = MonotonicClock.nowMilliseconds()
            guard nowMilliseconds < endMilliseconds else { return false }
            turn(nowMilliseconds: nowMilliseconds, endMilliseconds: endMilliseconds)
        }
        return true
    }

    private func turn(nowMilliseconds: Int64, endMilliseconds: Int64) {
        var entries = members.map { pollfd(fd: $0.descriptor, events: Int16(POLLIN), revents: 0) }
        let wakeMilliseconds = members.compactMap(\.nextDeadlineMilliseconds).reduce(endMilliseconds, min)
        let wait = CInt(clamping: max(0, wakeMilliseconds - nowMilliseconds))
        let ready = unsafe poll(&entries, nfds_t(entries.count), wait)
        precondition(ready >= 0 || errno == EINTR, "poll")
        let afterMilliseconds = MonotonicClock.nowMilliseconds()
        for (member, entry) in zip(members, entries) {
            let isDue = member.nextDeadlineMilliseconds.map { $0 <= afterMilliseconds } ?? false
            if isDue || (ready > 0 && entry.revents != 0) {
                member.process(nowMilliseconds: afterMilliseconds)
            }
        }
    }
}
