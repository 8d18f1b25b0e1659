import Contracts

/// What an instance keeps until it is answered, and where it was sent.
///
/// One entry is one message; a message of many targets or pushes is answered piece by piece and sent again without
/// the answered ones. What goes to the same place is sent, and sent again, in the order in which it was added. Adding,
/// sending and answering cost the same however much is kept.
struct Outbox {
    /// One kept message.
    struct Entry {
        var message: Message
        var route: Route
        let keys: [CustodyKey]
        var unanswered: Int
        /// How much of the window each key takes: a group of registrations is answered as one.
        let weight: Int
        var sentTo: Sender?
        var resendAtMilliseconds: Int64 = 0
        var resendAfterMilliseconds: Int64 = Outbox.resendAfterMillisecondsMin
        let kind: WindowKind?
        let account: String

        /// How much of the window what is unanswered takes.
        var size: Int { unanswered * weight }
    }

    /// What waits together: where it goes, and the window it needs room in.
    struct Line: Hashable {
        var route: Route
        var kind: WindowKind?
    }

    /// How long something is unanswered between two living instances before it is sent again.
    ///
    /// Then at doubling times. A net under our own mistakes: nothing that works as it should comes to it.
    static let resendAfterMillisecondsMin: Int64 = 60_000
    /// The longest of the doubling times.
    static let resendAfterMillisecondsMax: Int64 = 3_600_000
    /// How long nothing more is sent to an instance whose socket took no more.
    static let blockedMilliseconds: Int64 = 20

    private var entries: [Int64: Entry] = [:]
    private var index: [CustodyKey: Int64] = [:]
    private var lines: [Line: WaitingLine] = [:]
    private var nextEntry: Int64 = 0
    private var usage = Usage()
    private var blockedUntil: [InstanceName: Int64] = [:]
    private var lastDispatchMilliseconds = Int64.min
    private var nextSweepMilliseconds = Int64.min

    /// How many pieces are kept.
    var count: Int { index.count }

    /// Whether something waits for an instance to be sent to.
    var hasUnsent: Bool { !lines.isEmpty }

    /// What is unanswered at an instance, by kind.
    func used(at instance: InstanceName) -> [WindowKind: Int] { usage.byKind(at: instance) }

    /// What is unanswered at an instance, by kind and account.
    func usedByAccount(at instance: InstanceName) -> [WindowKind: [String: Int]] {
        usage.byAccount(at: instance)
    }

    /// Keeps a message; what is kept already under the same key is not kept twice.
    mutating func add(_ message: Message, _ route: Route, receiver: ServiceName) {
        var fresh = message
        var keys = message.keptKeys(receiver: receiver)
        if keys.contains(where: { index[$0] != nil }) {
            guard let rest = withoutKept(message, keys) else { return }
            fresh = rest
            keys = rest.keptKeys(receiver: receiver)
        }
        let number = nextEntry
        nextEntry += 1
        let window = fresh.window
        let kind = window?.kind
        entries[number] = Entry(
            message: fresh, route: route, keys: keys, unanswered: keys.count,
            weight: window.map { $0.count / keys.count } ?? 1, kind: kind,
            account: kind == nil ? "" : fresh.account)
        for key in keys { index[key] = number }
        lines[Line(route: route, kind: kind), default: WaitingLine()].append(number)
    }

    private func withoutKept(_ message: Message, _ keys: [CustodyKey]) -> Message? {
        switch message {
        case .targets, .pushes:
            var fresh: Set<PushID> = []
            for case .push(let id, let attempt) in keys where index[.push(id, attempt: attempt)] == nil {
                fresh.insert(id)
            }
            return message.restricted { fresh.contains($0) }
        default: return nil
        }
    }

    /// Forgets what was answered.
    mutating func answered(_ keys: [CustodyKey]) {
        // Answers to one message come together, so that its entry is touched once for many keys.
        var current: Int64?
        var count = 0
        for key in keys {
            guard let number = index.removeValue(forKey: key) else { continue }
            if number != current, let done = current {
                answered(count, of: done)
                count = 0
            }
            current = number
            count += 1
        }
        if let current { answered(count, of: current) }
    }

    private mutating func answered(_ count: Int, of number: Int64) {
        guard let place = entries.index(forKey: number) else { return }
        entries.values[place].unanswered -= count
        let entry = entries.values[place]
        if let kind = entry.kind, let life = entry.sentTo {
            usage.add(-count * entry.weight, kind, at: life.instance, entry.account)
        }
        if entry.unanswered == 0 { entries.remove(at: place) }
    }

    /// Gives a kept target its new token, so that it goes to that one if it is sent again.
    mutating func retarget(_ retarget: Retarget) {
        guard let number = index[.push(retarget.id, attempt: retarget.attempt)],
            case .targets(var targets)? = entries[number]?.message,
            let place = targets.targets.firstIndex(where: { $0.id == retarget.id })
        else { return }
        targets.targets[place].token = retarget.token
        entries[number]?.message = .targets(targets)
    }

    /// Has what is kept go by a clock that was set by so many milliseconds, if it is sent again.
    mutating func moveInstants(byMilliseconds step: Int64) {
        for place in entries.values.indices {
            entries.values[place].message.moveInstants(byMilliseconds: step)
        }
    }
}

// MARK: - Sending

extension Outbox {
    /// Sends what waits, as far as living instances have room.
    ///
    /// - Parameters:
    ///   - peers: the living instances.
    ///   - now: the monotonic clock, in milliseconds.
    /// - Returns: what goes to which life, in the order in which it was added.
    mutating func dispatch(_ peers: Peers, nowMilliseconds now: Int64) -> [(Sender, Message)] {
        lastDispatchMilliseconds = now
        guard !lines.isEmpty else { return [] }
        blockedUntil = blockedUntil.filter { $0.value > now }
        var sent: [(number: Int64, life: Sender, message: Message)] = []
        for line in sortedLines() {
            guard var waiting = lines.removeValue(forKey: line) else { continue }
            while let number = waiting.first {
                guard let entry = entries[number], let message = remaining(entry, number) else {
                    entries[number] = nil
                    waiting.removeFirst()
                    continue
                }
                guard let life = choose(entry, message, peers) else { break }
                waiting.removeFirst()
                note(number, sentTo: life, now)
                sent.append((number, life, message))
            }
            if !waiting.isEmpty { lines[line] = waiting }
        }
        return sent.sorted { $0.number < $1.number }.map { ($0.life, $0.message) }
    }

    /// The lines in the order of their oldest entries, for those that share a window.
    private mutating func sortedLines() -> [Line] {
        for line in lines.values.indices { lines.values[line].sort() }
        return lines.sorted { ($0.value.first ?? .max) < ($1.value.first ?? .max) }.map(\.key)
    }

    private mutating func note(_ number: Int64, sentTo life: Sender, _ now: Int64) {
        guard let place = entries.index(forKey: number) else { return }
        entries.values[place].sentTo = life
        let entry = entries.values[place]
        let resendAt = now + entry.resendAfterMilliseconds
        entries.values[place].resendAtMilliseconds = resendAt
        if let kind = entry.kind { usage.add(entry.size, kind, at: life.instance, entry.account) }
        nextSweepMilliseconds =
            nextSweepMilliseconds == .min ? resendAt : min(nextSweepMilliseconds, resendAt)
    }

    private func remaining(_ entry: Entry, _ number: Int64) -> Message? {
        guard entry.unanswered < entry.keys.count else { return entry.message }
        var kept: Set<PushID> = []
        for case .push(let id, let attempt) in entry.keys
        where index[.push(id, attempt: attempt)] == number {
            kept.insert(id)
        }
        return entry.message.restricted { kept.contains($0) }
    }

    private func choose(_ entry: Entry, _ message: Message, _ peers: Peers) -> Sender? {
        switch entry.route {
        case .instance(let instance):
            return blockedUntil[instance] == nil ? peers.life(of: instance) : nil
        case .service(let service):
            let lives = peers.living(service).filter { blockedUntil[$0.instance] == nil }
            guard let kind = entry.kind else { return lives.first }
            var best: (life: Sender, free: Int)?
            for life in lives {
                let used = usage.count(kind, at: life.instance)
                let free = (peers.windows(of: life.instance)?[kind] ?? 0) - used
                // What is larger than the whole window goes when nothing else is there.
                let fits = free >= entry.size || used == 0
                if fits, best.map({ free > $0.free }) ?? true { best = (life, free) }
            }
            return best?.life
        }
    }

    /// Takes back one message that the transport did not take, to be sent when the instance takes more again.
    mutating func unsend(_ message: Message, to instance: InstanceName) {
        blockedUntil[instance] = lastDispatchMilliseconds + Outbox.blockedMilliseconds
        guard let key = message.keptKeys(receiver: instance.service).first, let number = index[key] else {
            return
        }
        putBack(number)
    }

    /// When an instance that took no more is to be tried again, on the monotonic clock; nil if there is none.
    var nextTryMilliseconds: Int64? { hasUnsent ? blockedUntil.values.min() : nil }

    /// Has an entry wait again.
    ///
    /// - Returns: whether it had been sent.
    @discardableResult
    private mutating func putBack(_ number: Int64) -> Bool {
        guard let place = entries.index(forKey: number), let life = entries.values[place].sentTo else {
            return false
        }
        let entry = entries.values[place]
        if let kind = entry.kind { usage.add(-entry.size, kind, at: life.instance, entry.account) }
        entries.values[place].sentTo = nil
        lines[Line(route: entry.route, kind: entry.kind), default: WaitingLine()].putBack(number)
        return true
    }
}

// MARK: - Sending again

extension Outbox {
    /// Takes back what an instance has not answered: it goes again, or it is lost to the core.
    ///
    /// A target goes again to a new life of its limiter. A push never goes again by itself: the registry may have
    /// something newer. What was sent to an instance that is gone goes to another, except targets and pushes,
    /// which may still be on their way to APNs.
    ///
    /// - Returns: the keys that are no longer kept.
    mutating func takeBack(from instance: InstanceName, _ reason: LossReason) -> [CustodyKey] {
        blockedUntil[instance] = nil
        var lost: [CustodyKey] = []
        for number in entries.keys.sorted() {
            guard let entry = entries[number] else { continue }
            let waitsForIt = entry.sentTo == nil && entry.route == .instance(instance)
            guard entry.sentTo?.instance == instance || waitsForIt else { continue }
            putBack(number)
            entries[number]?.resendAfterMilliseconds = Outbox.resendAfterMillisecondsMin
            if isLost(entry.message, reason) {
                lost += entry.keys.filter { index[$0] == number }
                entries[number] = nil
            } else if reason == .gone, entry.route == .instance(instance) {
                entries[number]?.route = .service(instance.service)
                let line = Line(route: .service(instance.service), kind: entry.kind)
                lines[line, default: WaitingLine()].putBack(number)
            }
        }
        for key in lost { index[key] = nil }
        if reason == .gone {
            // All that waited here is lost or waits elsewhere now.
            lines = lines.filter { $0.key.route != .instance(instance) }
        }
        return lost
    }

    private func isLost(_ message: Message, _ reason: LossReason) -> Bool {
        switch message {
        case .pushes: true
        case .targets: reason == .gone
        default: false
        }
    }

    /// Has what living instances have left unanswered for too long wait to be sent again.
    ///
    /// - Returns: how many entries.
    mutating func overdue(nowMilliseconds now: Int64) -> Int {
        guard nextSweepMilliseconds != .min, now >= nextSweepMilliseconds else { return 0 }
        // Nearly all entries are answered long before, so that a look at the others each minute is cheap.
        var due: [Int64] = []
        var next: Int64?
        for (number, entry) in entries where entry.sentTo != nil {
            if entry.resendAtMilliseconds <= now {
                due.append(number)
            } else {
                next = min(next ?? .max, entry.resendAtMilliseconds)
            }
        }
        for number in due.sorted() {
            putBack(number)
            guard let after = entries[number]?.resendAfterMilliseconds else { continue }
            entries[number]?.resendAfterMilliseconds = min(after * 2, Outbox.resendAfterMillisecondsMax)
        }
        nextSweepMilliseconds = next ?? .min
        return due.count
    }
}
