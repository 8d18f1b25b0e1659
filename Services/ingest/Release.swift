import Collections
import Contracts

/// Which of the accepted work may go, and in which order.
///
/// Everything that waits stands in lines: of its application's registrations, of its device's, of its activity's commands,
/// and so on. The rules of release are two lists for each piece of work: the lines it stands in until it is taken, and the
/// lines it waits behind, until nothing accepted before it stands in them. It holds no content: that is in the journal.
struct Release {
    /// One thing to send: a command, or a registration, or a group of them, for one of its receivers.
    enum Work: Hashable, Sendable {
        case command(Int64)
        case registration(Int64, by: ServiceName)
        case group(Int64, by: ServiceName)

        var sequence: Int64 {
            switch self {
            case .command(let sequence), .registration(let sequence, _), .group(let sequence, _): sequence
            }
        }
    }

    /// What work stands in, or waits behind.
    enum Line: Hashable, Sendable {
        /// The registrations of an application.
        case registrations(application: String)
        /// The registrations of one device for one receiver.
        case device(application: String, device: String, by: ServiceName)
        /// The registrations that name an activity.
        case namingActivity(application: String, activity: String)
        /// The registrations that name a token.
        case namingToken(application: String, token: String)
        /// The commands of an activity.
        case commands(ActivityName)
        /// The start of a run.
        case start(run: Int64)
    }

    private struct Entry {
        var application: String
        var standsIn: [Line]
        var waits: Int
        /// How much of a window it takes.
        var size: Int
        /// How often it was answered `busy`.
        var refusals = 0
        var isReady = false
    }

    private struct LineState {
        var members = FIFO<Work>()
        var waiters = FIFO<Work>()
    }

    private var entries: [Work: Entry] = [:]
    private var lines: [Line: LineState] = [:]
    var ready = ReadyWork()
    private var retries = BusyRetries()
    /// Commands that are to be cancelled: they go no more, and stand in their lines until they are taken.
    private var withheld: Set<Int64> = []

    /// How many pieces wait or are under way.
    var count: Int { entries.count }

    /// Whether a piece waits or is under way.
    func contains(_ work: Work) -> Bool { entries[work] != nil }

    /// Whether a piece is still to be sent.
    func maySend(_ work: Work) -> Bool {
        if case .command(let sequence) = work, withheld.contains(sequence) { return false }
        return contains(work)
    }

    /// Sends a command no more.
    mutating func withhold(_ command: Int64) {
        if contains(.command(command)) { withheld.insert(command) }
    }

    /// Takes in a registration that was accepted.
    mutating func add(_ head: RegistrationHead) {
        for receiver in head.receivers {
            let device = Line.device(application: head.application, device: head.device, by: receiver)
            var standsIn: [Line] = [.registrations(application: head.application), device]
            if let activity = head.activity {
                standsIn.append(.namingActivity(application: head.application, activity: activity))
            }
            if let token = head.token {
                standsIn.append(.namingToken(application: head.application, token: token))
            }
            add(
                .registration(head.sequence, by: receiver), application: head.application, standsIn: standsIn,
                behind: [device])
        }
    }

    /// Takes in a group of registrations that was accepted.
    ///
    /// It goes when nothing accepted before it waits for any of its devices.
    mutating func add(_ head: GroupHead) {
        let application = head.application
        for receiver in head.receivers {
            let devices = receiver.devices.map {
                Line.device(application: application, device: $0, by: receiver.service)
            }
            var standsIn: [Line] = [.registrations(application: application)] + devices
            for (activity, token) in receiver.activities {
                standsIn.append(.namingActivity(application: application, activity: activity))
                if !token.isEmpty { standsIn.append(.namingToken(application: application, token: token)) }
            }
            add(
                .group(head.sequence, by: receiver.service), application: application, standsIn: standsIn,
                behind: devices, size: receiver.count)
        }
    }

    /// Takes in a command that was accepted.
    mutating func add(_ head: MessageHead) {
        let application = head.application
        let commands = Line.commands(head.activity)
        let naming: Line =
            head.activity.space == .id
            ? .namingActivity(application: application, activity: head.activity.name)
            : .namingToken(application: application, token: head.activity.name)
        switch head.kind {
        case .start:
            add(
                .command(head.sequence), application: application,
                standsIn: [commands, .start(run: head.sequence)],
                behind: [.registrations(application: application), commands])
        case .update:
            add(
                .command(head.sequence), application: application, standsIn: [commands],
                behind: [naming, .start(run: head.run)])
        case .end:
            add(.command(head.sequence), application: application, standsIn: [commands], behind: [naming])
        case .cancel, .pause, .resume:
            add(.command(head.sequence), application: application, standsIn: [], behind: [])
        }
    }

    /// Ends may come before updates that were accepted earlier; nothing comes before what it has to wait for.
    ///
    /// Nearly always work comes in the order of its sequence, and is the last of its lines.
    private mutating func add(
        _ work: Work, application: String, standsIn: [Line], behind: [Line], size: Int = 1
    ) {
        var waits = 0
        for line in behind {
            guard let first = lines[line]?.members.first, first.sequence < work.sequence else { continue }
            lines[line]?.waiters.insert(work) { $0.sequence <= work.sequence }
            waits += 1
        }
        for line in standsIn {
            lines[line, default: LineState()].members.insert(work) { $0.sequence <= work.sequence }
        }
        entries[work] = Entry(application: application, standsIn: standsIn, waits: waits, size: size)
        if waits == 0 { makeReady(work) }
    }

    private mutating func makeReady(_ work: Work) {
        guard let entry = entries[work], !entry.isReady else { return }
        entries[work]?.isReady = true
        ready.append(work, application: entry.application, size: entry.size)
    }

    /// Notes that work was sent.
    mutating func sent(_ work: Work) { entries[work]?.isReady = false }

    /// Lets go of work that was taken, and lets what waited behind it go on.
    ///
    /// - Returns: whether it was there.
    @discardableResult
    mutating func taken(_ work: Work) -> Bool {
        guard let entry = entries.removeValue(forKey: work) else { return false }
        if case .command(let sequence) = work { withheld.remove(sequence) }
        for line in entry.standsIn { advance(line) }
        return true
    }

    private mutating func advance(_ line: Line) {
        guard var state = lines.removeValue(forKey: line) else { return }
        while let first = state.members.first, entries[first] == nil { _ = state.members.popFirst() }
        let first = state.members.first?.sequence ?? .max
        while let waiter = state.waiters.first, waiter.sequence <= first {
            _ = state.waiters.popFirst()
            entries[waiter]?.waits -= 1
            if entries[waiter]?.waits == 0 { makeReady(waiter) }
        }
        if !state.members.isEmpty || !state.waiters.isEmpty { lines[line] = state }
    }

    /// Puts a command back that did not fit: it goes again after 1 s, then at doubling times up to 60 s.
    ///
    /// - Returns: whether it was under way.
    mutating func busy(_ command: Int64, nowMilliseconds: Int64) -> Bool {
        let work = Work.command(command)
        guard let entry = entries[work], entry.waits == 0, !entry.isReady,
            retries.add(command, refusals: entry.refusals, nowMilliseconds: nowMilliseconds)
        else { return false }
        entries[work]?.refusals += 1
        return true
    }

    /// Makes ready what has waited long enough after `busy`.
    mutating func wake(nowMilliseconds: Int64) {
        for command in retries.due(nowMilliseconds: nowMilliseconds) { makeReady(.command(command)) }
    }

    /// When something that was `busy` is due, on the monotonic clock.
    var nextRetryMilliseconds: Int64? { retries.nextMilliseconds }
}
