/// What stands out among many values: the middle, the slow ones, the slowest.
struct Spread: Sendable, Equatable {
    let count: Int
    let median: Int64
    let ninetieth: Int64
    let ninetyNinth: Int64
    let greatest: Int64

    /// Looks at values in any order; nil if there are none.
    init?(_ values: [Int64]) {
        let sorted = values.sorted()
        guard let last = sorted.last else { return nil }
        count = sorted.count
        median = Self.percentile(50, of: sorted)
        ninetieth = Self.percentile(90, of: sorted)
        ninetyNinth = Self.percentile(99, of: sorted)
        greatest = last
    }

    /// The smallest value that at least so many percent of all do not exceed (nearest rank).
    static func percentile(_ percent: Int, of sorted: [Int64]) -> Int64 {
        guard !sorted.isEmpty else { return 0 }
        let rank = (sorted.count * percent + 99) / 100
        return sorted[min(max(rank, 1), sorted.count) - 1]
    }
}
