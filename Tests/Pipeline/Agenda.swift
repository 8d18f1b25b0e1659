/// What happens when, in the order of time; what is due at the same instant happens in the order of entry.
struct Agenda<Event> {
    private var entries: [(at: Int64, number: Int, event: Event)] = []
    private var nextNumber = 0

    var nextAt: Int64? { entries.first?.at }
    var count: Int { entries.count }

    mutating func add(_ event: Event, at: Int64) {
        nextNumber += 1
        var low = 0
        var high = entries.count
        while low < high {
            let middle = (low + high) / 2
            if entries[middle].at <= at { low = middle + 1 } else { high = middle }
        }
        entries.insert((at, nextNumber, event), at: low)
    }

    mutating func takeDue(at now: Int64) -> [Event] {
        let due = entries.prefix { $0.at <= now }.map(\.event)
        entries.removeFirst(due.count)
        return due
    }
}
