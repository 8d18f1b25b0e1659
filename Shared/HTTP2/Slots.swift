/// What stands in a slot: one stream, with id 0 for none.
protocol SlotStream {
    init()
    var id: Int32 { get }
}

/// The open streams of a connection, in slots that are used again, so that a stream costs no dictionary entry.
struct Slots<Stream: SlotStream> {
    private(set) var all: [Stream] = []
    private var free: [Int] = []
    private(set) var openCount = 0

    mutating func take(_ stream: Stream) -> Int {
        openCount += 1
        if let slot = free.popLast() {
            all[slot] = stream
            return slot
        }
        all.append(stream)
        return all.count - 1
    }

    mutating func release(_ slot: Int) -> Stream {
        var stream = Stream()
        swap(&stream, &all[slot])
        free.append(slot)
        openCount -= 1
        return stream
    }

    subscript(slot: Int) -> Stream {
        _read { yield all[slot] }
        _modify { yield &all[slot] }
    }

    /// True when the slot still belongs to this stream.
    func holds(_ slot: Int, _ id: Int32) -> Bool { slot < all.count && all[slot].id == id }

    /// The slots of open streams, oldest first.
    var openSlots: [Int] {
        all.indices.filter { all[$0].id != 0 }.sorted { all[$0].id < all[$1].id }
    }
}
