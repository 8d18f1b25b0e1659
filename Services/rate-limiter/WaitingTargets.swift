import Contracts

/// The targets that wait: for their slot, then for room at their gateway.
struct WaitingTargets {
    struct Entry {
        var target: Target
        var content: Content
        var slotMilliseconds: Int64
        /// Tells a held entry from stale marks of former ones in the heaps.
        var mark: Int64
        var isReady = false
    }

    private struct Mark: Comparable {
        var at: Int64
        var mark: Int64
        var id: PushID
        static func < (left: Mark, right: Mark) -> Bool { (left.at, left.mark) < (right.at, right.mark) }
    }

    /// How many marks of targets that wait no more are kept, beside four times as many as wait.
    static let marksOverMax = 4_096

    private(set) var entries: [PushID: Entry] = [:]
    private var byParticipant: [Int64: PushID] = [:]
    private var slots = Heap<Mark>()
    private var deadlines = Heap<Mark>()
    private var nextMark: Int64 = 0

    var count: Int { entries.count }

    /// How many marks are kept, those too of targets that wait no more.
    var markCount: Int { slots.count + deadlines.count }

    /// The targets whose slot has opened, in the order of their slots.
    var opened: [PushID] {
        entries.values.filter(\.isReady)
            .sorted { ($0.slotMilliseconds, $0.mark) < ($1.slotMilliseconds, $1.mark) }.map(\.target.id)
    }

    subscript(id: PushID) -> Entry? { entries[id] }

    /// The target that waits for a participant.
    func entry(ofParticipant participant: Int64) -> Entry? {
        participant == 0 ? nil : byParticipant[participant].flatMap { entries[$0] }
    }

    mutating func add(_ target: Target, _ content: Content, slotMilliseconds: Int64) {
        nextMark += 1
        entries[target.id] = Entry(
            target: target, content: content, slotMilliseconds: slotMilliseconds, mark: nextMark)
        if target.participant != 0 { byParticipant[target.participant] = target.id }
        slots.push(Mark(at: slotMilliseconds, mark: nextMark, id: target.id))
        deadlines.push(Mark(at: deadline(target, content), mark: nextMark, id: target.id))
        if markCount > entries.count * 4 + WaitingTargets.marksOverMax { forgetMarks() }
    }

    /// Forgets the marks of targets that wait no more.
    private mutating func forgetMarks() {
        let entries = entries
        slots.removeAll { entries[$0.id]?.mark != $0.mark }
        deadlines.removeAll { entries[$0.id]?.mark != $0.mark }
    }

    private func deadline(_ target: Target, _ content: Content) -> Int64 {
        let expiration = content.notification.expirationSeconds
        return expiration == 0
            ? target.sendBeforeMilliseconds : min(target.sendBeforeMilliseconds, expiration * 1000)
    }

    @discardableResult
    mutating func remove(_ id: PushID) -> Entry? {
        guard let entry = entries.removeValue(forKey: id) else { return nil }
        if byParticipant[entry.target.participant] == id { byParticipant[entry.target.participant] = nil }
        return entry
    }

    mutating func retarget(_ retarget: Retarget) {
        guard entries[retarget.id]?.target.attempt == retarget.attempt else { return }
        entries[retarget.id]?.target.token = retarget.token
    }

    /// The targets whose slot has opened since the last call, in the order of their slots.
    mutating func takeOpened(at now: Int64) -> [PushID] {
        var opened: [PushID] = []
        while let first = slots.first, first.at <= now {
            slots.removeFirst()
            guard entries[first.id]?.mark == first.mark else { continue }
            entries[first.id]?.isReady = true
            opened.append(first.id)
        }
        return opened
    }

    /// Removes and returns what may not go any more: its send-before or its expiration has passed.
    mutating func takeOverdue(at now: Int64) -> [Entry] {
        var overdue: [Entry] = []
        while let first = deadlines.first, first.at <= now {
            deadlines.removeFirst()
            guard entries[first.id]?.mark == first.mark, let entry = remove(first.id) else { continue }
            overdue.append(entry)
        }
        return overdue
    }

    /// When the next slot opens or the next deadline passes, milliseconds since 1970.
    var nextMilliseconds: Int64? {
        guard !entries.isEmpty else { return nil }
        let next = [slots.first?.at, deadlines.first?.at].compactMap { $0 }
        return next.min()
    }
}
