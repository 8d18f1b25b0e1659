import Collections

/// The messages whose activity is still gone through, a page of each in turn: some are at hand, the rest stays in the
/// ledger until there is room.
struct Expanding {
    /// How many are at hand at most.
    private let countMax: Int
    private var numbers = FIFO<Int64>()
    private var known: Set<Int64> = []
    /// Whether the ledger may hold others.
    private var hasMore = true

    /// None is at hand yet.
    init(countMax: Int) { self.countMax = countMax }

    /// Whether none is left, here or in the ledger.
    var isEmpty: Bool { numbers.isEmpty && !hasMore }

    /// How many are at hand.
    var count: Int { numbers.count }

    /// How many of the ledger's are to be read, with those at hand among them; nil while there are enough.
    var wanted: Int? { hasMore && count <= countMax / 2 ? countMax + count : nil }

    /// Takes in what was found in the ledger, the oldest first; there are no more if it is not as many as wanted.
    mutating func read(_ found: [Int64], of wanted: Int) {
        hasMore = found.count == wanted
        for number in found { add(number) }
    }

    /// Adds a message, or leaves it to the ledger.
    mutating func add(_ number: Int64) {
        guard !known.contains(number) else { return }
        guard count < countMax else { return hasMore = true }
        numbers.append(number)
        known.insert(number)
    }

    /// Takes out the message whose turn it is.
    mutating func next() -> Int64? {
        guard let number = numbers.popFirst() else { return nil }
        known.remove(number)
        return number
    }
}
