import Collections
import Contracts
import Service

/// What may go now, sorted by where it goes and whose it is; applications take turns.
struct ReadyWork {
    /// Where work goes.
    private enum Destination: CaseIterable {
        // Registrations before commands: others wait for them.
        case profiles, tokens, commands

        init(_ work: Release.Work) {
            switch work {
            case .command: self = .commands
            case .registration(_, .segmenter): self = .profiles
            case .registration: self = .tokens
            }
        }

        var service: ServiceName { self == .tokens ? .tokenRegistry : .segmenter }
        var window: WindowKind { self == .commands ? .commands : .registrations }
    }

    /// The most that goes to one destination in one turn, so that a turn stays within its 5 ms.
    static let perTurnMax = 64

    private var queues: [Destination: [String: FIFO<Release.Work>]] = [:]
    private var lastServed: [Destination: String] = [:]

    mutating func append(_ work: Release.Work, application: String) {
        queues[Destination(work), default: [:]][application, default: FIFO()].append(work)
    }

    /// Takes what there is room for, one piece of each application in a round.
    ///
    /// - Parameter room: counted down.
    /// - Returns: the work, and whether there was room for more.
    mutating func take(_ room: inout Room) -> (work: [(Release.Work, ServiceName)], isMore: Bool) {
        var taken: [(Release.Work, ServiceName)] = []
        var isMore = false
        for destination in Destination.allCases {
            guard let waiting = queues[destination], !waiting.isEmpty else { continue }
            var names = rotated(waiting.keys.sorted(), behind: lastServed[destination])
            var count = 0
            while !names.isEmpty, count < ReadyWork.perTurnMax {
                var open: [String] = []
                for name in names where count < ReadyWork.perTurnMax {
                    guard let work = pop(destination, name, &room) else { continue }
                    taken.append((work, destination.service))
                    lastServed[destination] = name
                    count += 1
                    open.append(name)
                }
                names = open
            }
            isMore = isMore || count == ReadyWork.perTurnMax
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

    private func rotated(_ names: [String], behind last: String?) -> [String] {
        guard let last, let start = names.firstIndex(where: { $0 > last }) else { return names }
        return Array(names[start...] + names[..<start])
    }
}
