import Contracts

/// The pushes whose outcome was noted, in the order of the notes.
///
/// Adding, finding and forgetting one take constant time, on average. Each takes 92 bytes: a place in a ring, and the
/// head of a chain of those that hash alike. The ring doubles when it is full and shrinks as it empties.
struct NotedPushes {
    /// How many are remembered: 4,000 a second for 60 s, in 22 MB.
    ///
    /// Beyond it the oldest are forgotten early, and a repeat of one of those is taken for a push that has not come.
    /// APNs sees it twice only if it came before its `sendBefore`, 30 s after the hand-over unless that is set
    /// otherwise: at more than 8,000 notes a second, and from a limiter that has not had its copy of the report. One
    /// that comes later is given back unsent, and the registry, which has noted that hand-over, ignores that. It hands
    /// over anew only what was not delivered, and that is to be sent.
    static let countMax = 240_000
    private static let placesMin = 64
    /// No place.
    private static let none: Int32 = -1

    /// A place of the ring.
    struct Slot {
        var push: NotedPush
        /// The place of the next one in its chain.
        var behind: Int32
    }

    private let countMax: Int
    // The number of a push since the last change of size, modulo the size, is its place.
    private var slots: [Slot?] = []
    private var heads: [Int32] = []
    private var first = 0
    private var end = 0
    private var reasons = Reasons()
    /// How many there are.
    private(set) var count = 0

    /// Remembers nothing yet.
    ///
    /// - Parameter countMax: how many it remembers; at least 1.
    init(countMax: Int = countMax) {
        self.countMax = countMax
        resize(to: Self.placesMin)
    }

    /// When the one that was noted first was noted.
    var oldestMilliseconds: Int64? { oldest?.notedAtMilliseconds }

    /// How many there is room for in the memory taken.
    var places: Int { slots.count }

    /// Never taken out without those behind it that are gone already, so that there is one if there is any.
    private var oldest: NotedPush? { first < end ? slots[first % slots.count]?.push : nil }

    /// Adds a push that is not in it; `nowMilliseconds` is never less than before.
    mutating func append(
        _ id: PushID, _ push: KnownPush, _ outcome: KnownPush.Outcome, at nowMilliseconds: Int64
    ) {
        if end - first == slots.count {
            if slots.count < countMax {
                resize(to: slots.count * 2)
            } else if let oldest {
                remove(oldest.id)
            }
        }
        let reason = reasons.code(of: outcome.reason)
        place(NotedPush(id, push, outcome, reason: reason, at: nowMilliseconds))
    }

    /// The push as it was, with what a repeat brings; nil if it is not remembered.
    func recall(_ id: PushID, _ arrived: KnownPush) -> KnownPush? {
        var place = heads[bucket(id)]
        while place != Self.none, let slot = slots[Int(place)] {
            if slot.push.id == id { return slot.push.known(with: arrived, reasons) }
            place = slot.behind
        }
        return nil
    }

    /// Forgets a push.
    mutating func remove(_ id: PushID) {
        let bucket = bucket(id)
        var (before, place) = (Self.none, heads[bucket])
        while place != Self.none, let slot = slots[Int(place)], slot.push.id != id {
            (before, place) = (place, slot.behind)
        }
        guard place != Self.none, let slot = slots[Int(place)] else { return }
        if before == Self.none {
            heads[bucket] = slot.behind
        } else {
            slots[Int(before)]?.behind = slot.behind
        }
        slots[Int(place)] = nil
        count -= 1
        while first < end, slots[first % slots.count] == nil { first += 1 }
    }

    /// Forgets what was noted at an instant or earlier.
    mutating func forget(through milliseconds: Int64) {
        while let oldest, oldest.notedAtMilliseconds <= milliseconds { remove(oldest.id) }
        if slots.count > Self.placesMin, count < slots.count / 4 { resize(to: count * 2) }
    }

    private func bucket(_ id: PushID) -> Int {
        Int(UInt(bitPattern: id.hashValue) % UInt(heads.count))
    }

    private mutating func place(_ push: NotedPush) {
        let (place, bucket) = (end % slots.count, bucket(push.id))
        slots[place] = Slot(push: push, behind: heads[bucket])
        heads[bucket] = Int32(place)
        end += 1
        count += 1
    }

    /// Moves all into a ring of another size, which must have room for them.
    private mutating func resize(to wanted: Int) {
        let (former, numbers) = (slots, first..<end)
        let places = min(max(wanted, Self.placesMin), countMax)
        slots = Array(repeating: nil, count: places)
        heads = Array(repeating: Self.none, count: places)
        (first, end, count) = (0, 0, 0)
        for number in numbers {
            if let slot = former[number % former.count] { place(slot.push) }
        }
    }
}
