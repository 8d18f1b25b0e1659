import Collections
import Contracts

/// A request that waits for a stream.
struct WaitingRequest {
    var request: APNsRequest
    /// Whether it came back with `ExpiredProviderToken` once.
    var metNewToken = false
}

/// The requests of one lane that wait, oldest first; what came back goes to the front.
struct RequestQueue {
    private var returned: [WaitingRequest] = []
    private var items = FIFO<WaitingRequest>()
    /// No request has an earlier one, on the monotonic clock.
    private(set) var earliestSendBefore = Int64.max

    /// How many wait.
    var count: Int { returned.count + items.count }

    /// Whether none waits.
    var isEmpty: Bool { count == 0 }

    mutating func append(_ request: APNsRequest) {
        earliestSendBefore = min(earliestSendBefore, request.sendBeforeMilliseconds)
        items.append(WaitingRequest(request: request))
    }

    mutating func putBack(_ waiting: WaitingRequest) {
        earliestSendBefore = min(earliestSendBefore, waiting.request.sendBeforeMilliseconds)
        returned.append(waiting)
    }

    mutating func popFirst() -> WaitingRequest? {
        let first = returned.popLast() ?? items.popFirst()
        if isEmpty { earliestSendBefore = .max }
        return first
    }

    /// Takes out all that are not to wait any more, oldest first.
    mutating func remove(where isOver: (APNsRequest) -> Bool) -> [APNsRequest] {
        var removed: [APNsRequest] = []
        var earliest = Int64.max
        func stays(_ waiting: WaitingRequest) -> Bool {
            guard !isOver(waiting.request) else {
                removed.append(waiting.request)
                return false
            }
            earliest = min(earliest, waiting.request.sendBeforeMilliseconds)
            return true
        }
        returned = returned.reversed().filter(stays).reversed()
        items.removeAll { !stays($0) }
        earliestSendBefore = earliest
        return removed
    }

    /// Takes out what was not sent in time.
    mutating func removeLate(at now: Int64) -> [APNsRequest] {
        guard earliestSendBefore <= now else { return [] }
        return remove { $0.sendBeforeMilliseconds <= now }
    }
}
