import Collections
import Contracts
import Service

/// What may go now, sorted by where it goes and whose it is; applications take turns.
///
/// Groups of registrations, which are a bulk import's, come behind what is single: one group of each application when
/// no single can go any more, or 500 of them have gone.
struct ReadyWork {
    /// Where work goes.
    private enum Destination: CaseIterable {
        // Registrations before commands: others wait for them.
        case profiles, tokens, commands

        init(_ work: Release.Work) {
            switch work {
            case .command: self = .commands
            case .registration(_, .segmenter), .group(_, .segmenter): self = .profiles
            case .registration, .group: self = .tokens
            }
        }

        var service: ServiceName { self == .tokens ? .tokenRegistry : .segmenter }
        var window: WindowKind { self == .commands ? .commands : .registrations }
    }

    /// The most that goes to one destination in one turn, so that a turn stays within its 5 ms.
    static let perTurnMax = 64
    /// How many singles go at most before groups have their turn.
    static let singlesPerRoundMax = 500
    /// What of a window groups leave free to their own application's singles.
    static let singlesReserve = 64

    private var queues: [Destination: [String: FIFO<Release.Work>]] = [:]
    private var groups: [Destination: [String: FIFO<(work: Release.Work, size: Int)>]] = [:]
    private var lastServed: [Destination: String] = [:]
    private var lastGroup: [Destination: String] = [:]
    private var singlesInRound: [Destination: Int] = [:]

    /// Adds what may go, and takes so much of a window.
    mutating func append(_ work: Release.Work, application: String, size: Int = 1) {
        let destination = Destination(work)
        if case .group = work {
            groups[destination, default: [:]][application, default: FIFO()].append((work, size))
        } else {
            queues[destination, default: [:]][application, default: FIFO()].append(work)
        }
    }

    /// Takes what there is room for, one piece of each application in a round, and then a group of each.
    ///
    /// - Parameter room: counted down.
    /// - Returns: the work, and whether there was room for more.
    mutating func take(_ room: inout Room) -> (work: [(Release.Work, ServiceName)], isMore: Bool) {
        var taken: [(Release.Work, ServiceName)] = []
        var isMore = false
        for destination in Destination.allCases {
            let singles = takeSingles(destination, &room)
            taken += singles.work.map { ($0, destination.service) }
            isMore = isMore || singles.isMore
            singlesInRound[destination, default: 0] += singles.work.count
            guard !singles.isMore || singlesInRound[destination, default: 0] >= ReadyWork.singlesPerRoundMax
            else { continue }
            singlesInRound[destination] = 0
            let bulk = takeGroups(destination, &room)
            taken += bulk.work.map { ($0, destination.service) }
            isMore = isMore || bulk.isMore
        }
        return (taken, isMore)
    }

    private mutating func takeSingles(_ destination: Destination, _ room: inout Room)
        -> (work: [Release.Work], isMore: Bool)
    {
        guard let waiting = queues[destination], !waiting.isEmpty else { return ([], false) }
        var taken: [Release.Work] = []
        var names = rotated(waiting.keys.sorted(), behind: lastServed[destination])
        while !names.isEmpty, taken.count < ReadyWork.perTurnMax {
            var open: [String] = []
            for name in names where taken.count < ReadyWork.perTurnMax {
                guard let work = pop(destination, name, &room) else { continue }
                taken.append(work)
                lastServed[destination] = name
                open.append(name)
            }
            names = open
        }
        return (taken, taken.count == ReadyWork.perTurnMax)
    }

    private mutating func takeGroups(_ destination: Destination, _ room: inout Room)
        -> (work: [Release.Work], isMore: Bool)
    {
        var taken: [Release.Work] = []
        var isMore = false
        guard let waiting = groups[destination], !waiting.isEmpty else { return ([], false) }
        for name in rotated(waiting.keys.sorted(), behind: lastGroup[destination]) {
            guard let work = popGroup(destination, name, &room) else { continue }
            taken.append(work)
            lastGroup[destination] = name
            isMore = isMore || groups[destination]?[name] != nil
        }
        return (taken, isMore)
    }

    private mutating func pop(_ destination: Destination, _ application: String, _ room: inout Room)
        -> Release.Work?
    {
        guard queues[destination]?[application]?.isEmpty == false,
            let instance = room.roomiest(destination.window, of: destination.service, account: application)
        else { return nil }
        room.take(1, destination.window, at: instance, account: application)
        let work = queues[destination]?[application]?.popFirst()
        if queues[destination]?[application]?.isEmpty == true { queues[destination]?[application] = nil }
        return work
    }

    /// A group goes where it fits, or where nothing is under way: it may be larger than the window.
    private mutating func popGroup(_ destination: Destination, _ application: String, _ room: inout Room)
        -> Release.Work?
    {
        let kind = destination.window
        guard let size = groups[destination]?[application]?.first?.size,
            let instance = room.roomiest(kind, of: destination.service, account: application),
            room.free(kind, at: instance, account: application) >= size + ReadyWork.singlesReserve
                || room.isUnused(kind, at: instance)
        else { return nil }
        room.take(size, kind, at: instance, account: application)
        let work = groups[destination]?[application]?.popFirst()?.work
        if groups[destination]?[application]?.isEmpty == true { groups[destination]?[application] = nil }
        return work
    }

    private func rotated(_ names: [String], behind last: String?) -> [String] {
        guard let last, let start = names.firstIndex(where: { $0 > last }) else { return names }
        return Array(names[start...] + names[..<start])
    }
}
