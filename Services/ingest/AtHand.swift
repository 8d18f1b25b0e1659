import Contracts

/// How much of the accepted work stands in memory, in `Release`, and how much waits in the journal alone.
///
/// An application's work comes in three flows: registrations; commands that never wait for room, so that nothing may
/// hold them up (ends, cancels, pauses, resumes); starts and updates. Of each flow the oldest part is at hand, up to a
/// limit; the rest is read in pages as the former is taken. The rules of release join no two applications, and a
/// command waits only for what was accepted before it. So a command is at hand only if all earlier registrations of its
/// application are, and a start or update only if all earlier ends are too.
///
/// No application has more of the room than is still free, so that one whose work nobody takes leaves room for others.
struct AtHand {
    /// What follows one order.
    enum Flow: Int, CaseIterable {
        case registrations
        case free
        case bound

        init(_ kind: Command.Kind) {
            switch kind {
            case .start, .update: self = .bound
            case .end, .cancel, .pause, .resume: self = .free
            }
        }
    }

    private struct State {
        /// Everything up to this sequence is at hand.
        var through: Int64 = 0
        var held = 0
        /// How much is in the journal alone.
        var stored = 0
    }

    /// What is to be read from the journal.
    struct Page: Equatable {
        var application: String
        var flow: Flow
        var behind: Int64
        /// The last sequence that may be at hand; `Int64.max` where nothing bounds it.
        var through: Int64
        var countMax: Int
    }

    private struct Key: Hashable {
        var application: String
        var flow: Flow
    }

    private let heldMax: Int
    private let pageMax: Int
    private var states: [Key: State] = [:]
    private var held = [Int](repeating: 0, count: Flow.allCases.count)
    /// How much is in the journal alone.
    private(set) var storedCount = 0
    /// Whose pages were read last.
    private var lastRead = ""

    init(_ limits: IngestLimits) {
        heldMax = limits.atHandMax
        pageMax = limits.pageMax
    }

    /// How much is at hand.
    var count: Int { held.reduce(0, +) }

    private subscript(application: String, flow: Flow) -> State {
        states[Key(application: application, flow: flow)] ?? State()
    }

    private mutating func change(_ application: String, _ flow: Flow, _ body: (inout State) -> Void) {
        let key = Key(application: application, flow: flow)
        let before = states[key] ?? State()
        var state = before
        body(&state)
        states[key] = state
        held[flow.rawValue] += state.held - before.held
        storedCount += state.stored - before.stored
    }

    /// How much of a flow an application may have at hand.
    private func share(_ application: String, _ flow: Flow) -> Int {
        let others = held[flow.rawValue] - self[application, flow].held
        return max(1, (heldMax - others) / 2)
    }

    /// The last sequence that the order among the flows lets be at hand.
    private func bound(_ application: String, _ flow: Flow) -> Int64 {
        Flow.allCases.prefix(flow.rawValue).map {
            let earlier = self[application, $0]
            return earlier.stored == 0 ? .max : earlier.through
        }.min() ?? .max
    }

    /// Notes what a former life has left in the journal.
    mutating func found(_ count: Int, _ flow: Flow, of application: String) {
        change(application, flow) { $0.stored += count }
    }

    /// Notes that something was accepted, behind all that was before.
    ///
    /// - Returns: whether it is at hand.
    mutating func accepted(_ sequence: Int64, _ flow: Flow, of application: String, count: Int = 1) -> Bool {
        let state = self[application, flow]
        guard state.stored == 0, state.held < share(application, flow), bound(application, flow) == .max
        else {
            change(application, flow) { $0.stored += count }
            return false
        }
        change(application, flow) {
            $0.through = sequence
            $0.held += count
        }
        return true
    }

    /// Notes that something has gone for good.
    mutating func taken(_ sequence: Int64, _ flow: Flow, of application: String, count: Int = 1) {
        change(application, flow) {
            if sequence <= $0.through { $0.held -= count } else { $0.stored -= count }
        }
    }

    /// What is to be read next; nil while there is no room or nothing to read.
    func nextPage() -> Page? {
        guard storedCount > 0 else { return nil }
        let names = Set(states.lazy.filter { $0.value.stored > 0 }.map(\.key.application)).sorted()
        let start = names.firstIndex { $0 > lastRead } ?? 0
        for name in names[start...] + names[..<start] {
            for flow in Flow.allCases {
                if let page = page(name, flow) { return page }
            }
        }
        return nil
    }

    private func page(_ application: String, _ flow: Flow) -> Page? {
        let state = self[application, flow]
        guard state.stored > 0 else { return nil }
        let (share, bound) = (share(application, flow), bound(application, flow))
        // Half of the room at a time, so that it is not read in single rows.
        guard state.held <= share / 2, state.through < bound else { return nil }
        return Page(
            application: application, flow: flow, behind: state.through, through: bound,
            countMax: min(pageMax, share - state.held))
    }

    /// Notes that a page was read.
    ///
    /// - Parameters:
    ///   - page: which one.
    ///   - count: how much it brought.
    ///   - last: the sequence of its last piece; nil if it has none.
    ///   - isAll: whether nothing more lies within the page's bounds.
    mutating func read(_ page: Page, count: Int, last: Int64?, isAll: Bool) {
        lastRead = page.application
        change(page.application, page.flow) {
            $0.held += count
            $0.stored = isAll && page.through == .max ? 0 : $0.stored - count
            $0.through = isAll && page.through < .max ? page.through : last ?? page.behind
        }
    }
}
