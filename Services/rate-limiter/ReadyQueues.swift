import Contracts

/// Targets whose slot is open, in queues by account and gateway, served by turns.
struct ReadyQueues {
    /// One queue: what may fill up independently of the others.
    struct Key: Hashable, Comparable {
        var account: String
        var gateway: InstanceName?

        static func < (left: Key, right: Key) -> Bool {
            guard left.account == right.account else { return left.account < right.account }
            guard let a = left.gateway, let b = right.gateway else { return left.gateway == nil }
            return a < b
        }
    }

    private var queues: [Key: (ids: [PushID], next: Int)] = [:]
    private var lastServed: Key?

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

    /// Empties every queue, in the order of their keys.
    mutating func takeAll() -> [PushID] {
        let ids = queues.keys.sorted().flatMap { key in queues[key].map { $0.ids[$0.next...] } ?? [] }
        queues = [:]
        return ids
    }
}
