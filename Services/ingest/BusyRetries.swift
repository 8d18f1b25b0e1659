import Collections

/// Commands that were answered `busy`, each in the queue of its delay; a queue is sorted by itself.
struct BusyRetries {
    /// How long they wait: after each refusal, and from the last one on always, in milliseconds.
    static let delaysMilliseconds: [Int64] = [1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 60_000]

    private var queues = [FIFO<(at: Int64, command: Int64)>](
        repeating: FIFO(), count: BusyRetries.delaysMilliseconds.count)
    private var waiting: Set<Int64> = []

    /// Lets a command wait; false if it does already.
    mutating func add(_ command: Int64, refusals: Int, nowMilliseconds: Int64) -> Bool {
        guard waiting.insert(command).inserted else { return false }
        let queue = min(refusals, queues.count - 1)
        queues[queue].append((nowMilliseconds + BusyRetries.delaysMilliseconds[queue], command))
        return true
    }

    /// The commands whose time has come, which wait no more.
    mutating func due(nowMilliseconds: Int64) -> [Int64] {
        var due: [Int64] = []
        for queue in queues.indices {
            while let first = queues[queue].first, first.at <= nowMilliseconds {
                _ = queues[queue].popFirst()
                waiting.remove(first.command)
                due.append(first.command)
            }
        }
        return due
    }

    /// When the next is due.
    var nextMilliseconds: Int64? { queues.compactMap { $0.first?.at }.min() }
}
