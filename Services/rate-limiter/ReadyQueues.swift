import Contracts

/// Targets whose slot is open, in queues by account and gateway, served by turns.
struct ReadyQueues {
    /// One queue: what may fill up independently of the others.
    struct Key: Hashable, Comparable {
        var account: String
        var gateway: InstanceName

        static func < (left: Key, right: Key) -> Bool {
            (left.account, left.gateway) < (right.account, right.gateway)
        }
    }

    /// How many targets that have gone another way may stand here, beside twice as many as wait.
    static let goneMax = 1_024

    private var queues: [Key: (ids: [PushID], next: Int)] = [:]
    private var lastServed: Key?

    /// Empty queues.
    init() {}

    /// Empty queues whose turns go on behind those of others.
    init(after other: ReadyQueues) { lastServed = other.lastServed }

    /// How many stand in the queues, those too that have been given back or replaced since.
    var count: Int { queues.values.reduce(0) { $0 + $1.ids.count - $1.next } }

    mutating func add(_ id: PushID, _ key: Key) {
        queues[key, default: ([], 0)].ids.append(id)
    }

    /// The queues that hold something, beginning after the one served last.
    mutating func keysInTurn() -> [Key] {
        queues = queues.filter { $0.value.next < $0.value.ids.count }
        let keys = queues.keys.sorted()
        guard let lastServed, let start = keys.firstIndex(where: { lastServed < $0 }) else { return keys }
        return Array(keys[start...] + keys[..<start])
    }

    /// Takes up to `count` from one queue, in order.
    mutating func take(_ count: Int, from key: Key) -> [PushID] {
        guard var queue = queues[key] else { return [] }
        let end = min(queue.next + count, queue.ids.count)
        let ids = Array(queue.ids[queue.next..<end])
        queue.next = end
        if queue.next > 1_024, queue.next * 2 > queue.ids.count {
            queue.ids.removeFirst(queue.next)
            queue.next = 0
        }
        queues[key] = queue
        lastServed = key
        return ids
    }
}
