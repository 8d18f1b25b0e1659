import Contracts
import Store

/// One command at work: its audience, and how far its pass is.
struct Work {
    let command: Command
    let pass: Pass
    /// The audience, once it has been read.
    var audience: Snapshot?
    var nextIndex = 0
    var unanswered: Set<Int> = []
    var isWritten = false

    /// An audience as it was at one moment.
    enum Snapshot {
        /// Numbers of devices whose names are looked up batch by batch.
        case numbers([Int64], next: Int)
        /// Hardware ids.
        case names([String], next: Int)
        /// The registry knows whom it means.
        case none
    }

    init(command: Command, pass: Pass) {
        self.command = command
        self.pass = pass
    }
}

/// The commands at work, served by turns of their applications.
struct Works {
    private var works: [Int64: Work] = [:]
    /// For each application, its commands that still have batches to write, in order of arrival.
    private var queues: [String: [Int64]] = [:]
    private var lastServed = ""

    var count: Int { works.count }

    subscript(message: Int64) -> Work? { works[message] }

    func contains(_ message: Int64) -> Bool { works[message] != nil }

    mutating func add(_ work: Work) {
        works[work.command.sequence] = work
        queues[work.command.application, default: []].append(work.command.sequence)
    }

    /// Forgets a command whose pass is over; with a pass given, only if it is at that one.
    @discardableResult
    mutating func drop(_ message: Int64, _ pass: Pass?) -> Bool {
        guard let work = works[message], pass == nil || work.pass == pass else { return false }
        works[message] = nil
        dequeue(work)
        return true
    }

    private mutating func dequeue(_ work: Work) {
        let application = work.command.application
        queues[application]?.removeAll { $0 == work.command.sequence }
        if queues[application]?.isEmpty == true { queues[application] = nil }
    }

    /// Counts an answer; a pass whose every batch is taken is over.
    mutating func taken(_ message: Int64, _ pass: Pass, _ index: Int) {
        guard works[message]?.pass == pass else { return }
        works[message]?.unanswered.remove(index)
        if let work = works[message], work.isWritten, work.unanswered.isEmpty { works[message] = nil }
    }

    /// The command to write a batch of next: the applications take turns, and so do the commands of each.
    mutating func next(where hasRoom: (String) -> Bool) -> Int64? {
        let applications = queues.keys.sorted()
        let start = applications.firstIndex { lastServed < $0 } ?? 0
        for application in applications[start...] + applications[..<start] where hasRoom(application) {
            guard let message = queues[application]?.first(where: mayGoOn) else { continue }
            lastServed = application
            queues[application]?.removeAll { $0 == message }
            queues[application]?.append(message)
            return message
        }
        return nil
    }

    private func mayGoOn(_ message: Int64) -> Bool {
        guard let work = works[message], work.audience == nil, needsSnapshot(work.command) else {
            return true
        }
        return works.values.filter { $0.audience != nil && !$0.isWritten }.count < Segmenter.snapshotsMax
    }

    private func needsSnapshot(_ command: Command) -> Bool {
        switch command.audience {
        case .filter, .users: command.kind == .start || command.kind == .update || command.kind == .end
        case .devices, .activity, .token: false
        }
    }

    /// Writes the next batch of a command.
    mutating func write(_ message: Int64, in store: Profiles) throws(StoreError) -> Batch {
        guard var work = works[message] else { preconditionFailure("no such work") }
        var audience = try snapshot(of: work, in: store)
        let recipients = try store.nextRecipients(&audience)
        let batch = Batch(
            pass: work.pass, index: work.nextIndex, last: audience.isAtEnd, recipients: recipients,
            command: work.command)
        work.audience = audience
        work.unanswered.insert(work.nextIndex)
        work.nextIndex += 1
        work.isWritten = batch.last
        if batch.last {
            work.audience = nil
            dequeue(work)
        }
        works[message] = work
        return batch
    }
}

/// The audience of a work, read now if it has not been.
private func snapshot(of work: Work, in store: Profiles) throws(StoreError) -> Work.Snapshot {
    if let audience = work.audience { return audience }
    return try store.snapshot(work.command)
}

extension Work.Snapshot {
    /// Whether every recipient has been written.
    var isAtEnd: Bool {
        switch self {
        case .numbers(let devices, let next): next >= devices.count
        case .names(let names, let next): next >= names.count
        case .none: true
        }
    }
}

extension Profiles {
    /// Reads a command's audience.
    func snapshot(_ command: Command) throws(StoreError) -> Work.Snapshot {
        switch command.audience {
        case .filter(let filter):
            return .numbers(try devices(matching: filter, application: command.application), next: 0)
        case .users(let users):
            return .numbers(try devices(ofUsers: users, application: command.application), next: 0)
        case .devices(let names):
            var seen: Set<String> = []
            var hwids: [String] = []
            for name in names {
                let hwid = try hwid(ofDeviceNamed: name, application: command.application)
                if seen.insert(hwid).inserted { hwids.append(hwid) }
            }
            return .names(hwids, next: 0)
        case .activity, .token: return .none
        }
    }

    /// The recipients of the next batch.
    func nextRecipients(_ audience: inout Work.Snapshot) throws(StoreError) -> [String] {
        switch audience {
        case .numbers(let devices, let next):
            let end = min(next + Batch.recipientsMax, devices.count)
            audience = .numbers(devices, next: end)
            return try hwids(of: devices[next..<end])
        case .names(let names, let next):
            let end = min(next + Batch.recipientsMax, names.count)
            audience = .names(names, next: end)
            return Array(names[next..<end])
        case .none: return []
        }
    }
}
