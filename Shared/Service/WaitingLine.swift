import Contracts

/// Entries that wait for the same place, the oldest first.
struct WaitingLine {
    private var numbers: [Int64] = []
    private var head = 0
    private var isSorted = true

    var isEmpty: Bool { head == numbers.count }

    /// The oldest, after `sort`.
    var first: Int64? { head < numbers.count ? numbers[head] : nil }

    /// Adds an entry that is newer than all.
    mutating func append(_ number: Int64) { numbers.append(number) }

    /// Adds an entry that may be older than others; `sort` then brings it to its place.
    mutating func putBack(_ number: Int64) {
        if let last = numbers.last, head < numbers.count, last >= number { isSorted = false }
        numbers.append(number)
    }

    mutating func removeFirst() {
        head += 1
        guard head == numbers.count || head > 1_024 && head * 2 > numbers.count else { return }
        numbers.removeSubrange(..<head)
        head = 0
    }

    /// Brings entries that were put back to their places, all at once.
    mutating func sort() {
        guard !isSorted else { return }
        isSorted = true
        numbers = numbers[head...].sorted()
        head = 0
    }
}

/// How much of its windows is unanswered at each instance.
struct Usage {
    private var kinds: [InstanceName: [WindowKind: Int]] = [:]
    private var accounts: [InstanceName: [WindowKind: [String: Int]]] = [:]

    func count(_ kind: WindowKind, at instance: InstanceName) -> Int { kinds[instance]?[kind] ?? 0 }

    func byKind(at instance: InstanceName) -> [WindowKind: Int] { kinds[instance] ?? [:] }

    func byAccount(at instance: InstanceName) -> [WindowKind: [String: Int]] { accounts[instance] ?? [:] }

    mutating func add(_ change: Int, _ kind: WindowKind, at instance: InstanceName, _ account: String) {
        kinds[instance, default: [:]][kind, default: 0] += change
        let left = (accounts[instance]?[kind]?[account] ?? 0) + change
        accounts[instance, default: [:]][kind, default: [:]][account] = left > 0 ? left : nil
    }
}
