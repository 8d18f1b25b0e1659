/// One request that has no answer yet.
struct ClientStream: SlotStream {
    var id: Int32 = 0
    var token = 0
    var deadline = Int64.max
    var body: [UInt8] = []
    var bodyOffset = 0
    var status = 0
    var headers = HTTP2Headers()
    var responseBody: [UInt8] = []
    /// The count of gathered bytes with which the request was complete.
    var completeAt = Int.max
}

/// A request whose last frame was gathered; its slot may be another's by now.
struct CompleteRequest {
    let slot: Int
    let id: Int32
    /// The count of gathered bytes then.
    let completeAt: Int
}

/// The open requests of a connection and the earliest of their deadlines.
struct ClientStreams {
    var slots = Slots<ClientStream>()
    /// No open request has an earlier deadline.
    private(set) var earliestDeadline = Int64.max

    mutating func take(_ stream: ClientStream) -> Int {
        earliestDeadline = min(earliestDeadline, stream.deadline)
        return slots.take(stream)
    }

    /// The caller's number for a request; nil if it is not open any more.
    func token(_ request: CompleteRequest) -> Int? {
        slots.holds(request.slot, request.id) ? slots[request.slot].token : nil
    }

    /// The open requests whose deadline has come, oldest first.
    ///
    /// All slots are looked at, but only when the earliest deadline has passed; with many requests a second that is
    /// once in the time that one request is given.
    mutating func expired(at now: Int64) -> [Int] {
        guard now >= earliestDeadline else { return [] }
        let due = slots.openSlots.filter { slots[$0].deadline <= now }
        earliestDeadline = slots.all.reduce(Int64.max) { least, stream in
            stream.id == 0 || stream.deadline <= now ? least : min(least, stream.deadline)
        }
        return due
    }
}
