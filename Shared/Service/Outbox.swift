import Contracts

/// What an instance keeps until it is answered, and where it was sent.
///
/// One entry is one message; a message of many targets or pushes is answered piece by piece and sent again without
/// the answered ones. Entries are sent, and sent again, in the order in which they were added.
struct Outbox {
    /// One kept message.
    struct Entry {
        var message: Message
        var route: Route
        var keys: [CustodyKey]
        var unanswered: Int
        var sentTo: Sender?
        var resendAtMilliseconds: Int64 = 0
        var resendAfterMilliseconds: Int64 = Outbox.resendAfterMillisecondsMin
        let account: String
    }

    /// How long something is unanswered between two living instances before it is sent again.
    ///
    /// Then at doubling times. A net under our own mistakes: nothing that works as it should comes to it.
    static let resendAfterMillisecondsMin: Int64 = 60_000
    /// The longest of the doubling times.
    static let resendAfterMillisecondsMax: Int64 = 3_600_000

    private var entries: [Int64: Entry] = [:]
    private var index: [CustodyKey: Int64] = [:]
    private var unsent: [Int64] = []
    private var resends: [(at: Int64, entry: Int64)] = []
    private var nextEntry: Int64 = 0
    private(set) var used: [InstanceName: [WindowKind: Int]] = [:]
    private(set) var usedByAccount: [InstanceName: [WindowKind: [String: Int]]] = [:]

    /// How many pieces are kept.
    var count: Int { index.count }

    /// Whether something waits for an instance to be sent to.
    var hasUnsent: Bool { !unsent.isEmpty }

    /// Keeps a message; what is kept already under the same key is not kept twice.
    mutating func add(_ message: Message, _ route: Route, receiver: ServiceName) {
        let known = message.keptKeys(receiver: receiver).contains { index[$0] != nil }
        guard let fresh = known ? withoutKept(message, receiver: receiver) : message else { return }
        let keys = fresh.keptKeys(receiver: receiver)
        let number = nextEntry
        nextEntry += 1
        entries[number] = Entry(
            message: fresh, route: route, keys: keys, unanswered: keys.count, account: fresh.account)
        for key in keys { index[key] = number }
        unsent.append(number)
    }

    private func withoutKept(_ message: Message, receiver: ServiceName) -> Message? {
        switch message {
        case .targets, .pushes:
            let attempts = Dictionary(
                message.keptKeys(receiver: receiver).compactMap { key -> (PushID, Bool)? in
                    guard case .push(let id, _) = key else { return nil }
                    return (id, index[key] == nil)
                }, uniquingKeysWith: { first, _ in first })
            return message.restricted { attempts[$0] ?? false }
        default: return nil
        }
    }

    /// Forgets what was answered.
    mutating func answered(_ keys: [CustodyKey]) {
        for key in keys {
            guard let number = index.removeValue(forKey: key) else { continue }
            entries[number]?.unanswered -= 1
            guard let entry = entries[number] else { continue }
            if let kind = entry.message.window?.kind, let instance = entry.sentTo?.instance {
                account(-1, kind, instance, entry.account)
            }
            if entry.unanswered == 0 { entries[number] = nil }
        }
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

    /// Sends what waits, as far as living instances have room.
    ///
    /// - Parameters:
    ///   - peers: the living instances.
    ///   - now: the monotonic clock, in milliseconds.
    /// - Returns: what goes where, in order.
    mutating func dispatch(_ peers: Peers, nowMilliseconds now: Int64) -> [(InstanceName, Message)] {
        guard !unsent.isEmpty else { return [] }
        var sent: [(InstanceName, Message)] = []
        var waiting: [Int64] = []
        for number in unsent {
            guard var entry = entries[number], let message = remaining(entry) else {
                entries[number] = nil
                continue
            }
            guard let life = choose(entry.route, message, peers) else {
                waiting.append(number)
                continue
            }
            entry.sentTo = life
            entry.resendAtMilliseconds = now + entry.resendAfterMilliseconds
            resends.append((entry.resendAtMilliseconds, number))
            entries[number] = entry
            if let window = message.window {
                account(window.count, window.kind, life.instance, entry.account)
            }
            sent.append((life.instance, message))
        }
        unsent = waiting
        return sent
    }

    private func remaining(_ entry: Entry) -> Message? {
        guard entry.unanswered < entry.keys.count else { return entry.message }
        guard entry.unanswered > 0 else { return nil }
        var kept: Set<PushID> = []
        for case .push(let id, let attempt) in entry.keys where index[.push(id, attempt: attempt)] != nil {
            kept.insert(id)
        }
        return entry.message.restricted { kept.contains($0) }
    }

    private func choose(_ route: Route, _ message: Message, _ peers: Peers) -> Sender? {
        switch route {
        case .instance(let instance): return peers.life(of: instance)
        case .service(let service):
            let lives = peers.living(service)
            guard let window = message.window else { return lives.first }
            return lives.filter { free(window.kind, $0.instance, peers) >= window.count }
                .max { free(window.kind, $0.instance, peers) < free(window.kind, $1.instance, peers) }
        }
    }

    private func free(_ kind: WindowKind, _ instance: InstanceName, _ peers: Peers) -> Int {
        (peers.windows(of: instance)?[kind] ?? 0) - (used[instance]?[kind] ?? 0)
    }

    private mutating func account(
        _ change: Int, _ kind: WindowKind, _ instance: InstanceName, _ account: String
    ) {
        used[instance, default: [:]][kind, default: 0] += change
        let left = (usedByAccount[instance]?[kind]?[account] ?? 0) + change
        usedByAccount[instance, default: [:]][kind, default: [:]][account] = left > 0 ? left : nil
    }

    /// Takes back what an instance has not answered: it goes again, or it is lost to the core.
    ///
    /// A target goes again to a new life of its limiter. A push never goes again by itself: the registry may have
    /// something newer. What was sent to an instance that is gone goes to another, except targets and pushes,
    /// which may still be on their way to APNs.
    ///
    /// - Returns: the keys that are no longer kept.
    mutating func takeBack(from instance: InstanceName, _ reason: LossReason) -> [CustodyKey] {
        var lost: [CustodyKey] = []
        var again: [Int64] = []
        for number in entries.keys.sorted() {
            guard let entry = entries[number] else { continue }
            let waitsForIt = entry.sentTo == nil && entry.route == .instance(instance)
            guard entry.sentTo?.instance == instance || waitsForIt else { continue }
            release(entry)
            if isLost(entry.message, reason) {
                lost += entry.keys.filter { index.removeValue(forKey: $0) != nil }
                entries[number] = nil
            } else {
                entries[number]?.sentTo = nil
                entries[number]?.resendAfterMilliseconds = Outbox.resendAfterMillisecondsMin
                again.append(number)
            }
        }
        unsent = Set(again + unsent).sorted()
        return lost
    }

    private func isLost(_ message: Message, _ reason: LossReason) -> Bool {
        switch message {
        case .pushes: true
        case .targets: reason == .gone
        default: false
        }
    }

    private mutating func release(_ entry: Entry) {
        guard let kind = entry.message.window?.kind, let instance = entry.sentTo?.instance else { return }
        account(-entry.unanswered, kind, instance, entry.account)
    }

    /// Marks for sending again what living instances have left unanswered for too long.
    ///
    /// - Returns: how many entries.
    mutating func overdue(nowMilliseconds now: Int64) -> Int {
        guard resends.contains(where: { $0.at <= now }) else { return 0 }
        var due: [Int64] = []
        var later: [(at: Int64, entry: Int64)] = []
        for resend in resends {
            guard let entry = entries[resend.entry], entry.sentTo != nil,
                entry.resendAtMilliseconds == resend.at
            else { continue }
            if resend.at > now {
                later.append(resend)
            } else {
                due.append(resend.entry)
            }
        }
        for number in due {
            guard let entry = entries[number] else { continue }
            release(entry)
            entries[number]?.sentTo = nil
            entries[number]?.resendAfterMilliseconds = min(
                entry.resendAfterMilliseconds * 2, Outbox.resendAfterMillisecondsMax)
        }
        resends = later
        unsent = Set(due + unsent).sorted()
        return due.count
    }

    /// Takes back one message that the transport did not take, to be sent with the next dispatch.
    mutating func unsend(_ message: Message, receiver: ServiceName) {
        guard let key = message.keptKeys(receiver: receiver).first, let number = index[key],
            let entry = entries[number], entry.sentTo != nil
        else { return }
        release(entry)
        entries[number]?.sentTo = nil
        unsent = Set(unsent + [number]).sorted()
    }
}
