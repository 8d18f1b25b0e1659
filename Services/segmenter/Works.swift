import Contracts
import Store

/// The commands at work, served by turns of their applications.
struct Works {
    private var works: [Int64: Work] = [:]
    /// For each application, its commands that still have batches to write, in order of arrival.
    private var queues: [String: [Int64]] = [:]
    /// For each application, its commands for filters that nobody has begun to read.
    private var unread: [String: [Int64]] = [:]
    /// The commands whose audiences are being read, the next one first.
    private var reading: [Int64] = []
    private var lastServed = ""
    private var lastBegun = ""

    var count: Int { works.count }

    subscript(message: Int64) -> Work? { works[message] }

    func contains(_ message: Int64) -> Bool { works[message] != nil }

    mutating func add(_ work: Work) {
        let message = work.command.sequence
        works[message] = work
        queues[work.command.application, default: []].append(message)
        if work.filter != nil { unread[work.command.application, default: []].append(message) }
    }

    /// Forgets a command whose pass is over; with a pass given, only if it is at that one.
    @discardableResult
    mutating func drop(_ message: Int64, _ pass: Pass?) -> Bool {
        guard let work = works[message], pass == nil || work.pass == pass else { return false }
        works[message] = nil
        reading.removeAll { $0 == message }
        remove(work, from: \.unread)
        remove(work, from: \.queues)
        return true
    }

    private mutating func remove(_ work: Work, from lines: WritableKeyPath<Works, [String: [Int64]]>) {
        let application = work.command.application
        self[keyPath: lines][application]?.removeAll { $0 == work.command.sequence }
        if self[keyPath: lines][application]?.isEmpty == true { self[keyPath: lines][application] = nil }
    }

    /// Counts an answer; a pass whose every batch is taken is over.
    mutating func taken(_ message: Int64, _ pass: Pass, _ index: Int) {
        guard works[message]?.pass == pass else { return }
        works[message]?.unanswered.remove(index)
        if let work = works[message], work.isWritten, work.unanswered.isEmpty { works[message] = nil }
    }

    // MARK: Writing

    /// The command to write a batch of next: the applications take turns, and so do the commands of each.
    mutating func next(where hasRoom: (String) -> Bool) -> Int64? {
        for application in queues.keys.inTurn(after: lastServed) where hasRoom(application) {
            guard let message = queues[application]?.first(where: { works[$0]?.canWrite == true }) else {
                continue
            }
            lastServed = application
            queues[application]?.removeAll { $0 == message }
            queues[application]?.append(message)
            return message
        }
        return nil
    }

    /// Writes the next batch of a command.
    mutating func write(_ message: Int64, in store: Profiles) throws(StoreError) -> Batch {
        // Taken out, so that the audience is changed in place.
        guard var work = works.removeValue(forKey: message) else { preconditionFailure("no such work") }
        let batch = try work.write(in: store)
        works[message] = work
        if work.isWritten { remove(work, from: \.queues) }
        return batch
    }

    // MARK: Reading

    /// Whether there is something to read now.
    var hasReading: Bool { !reading.isEmpty || nextToBegin != nil }

    /// Reads on in the audiences of filters, each in its turn, about so many rows.
    mutating func read(rowsMax: Int, in store: Profiles) throws(StoreError) {
        var left = rowsMax
        while left > 0 {
            if let message = nextToBegin { try begin(message, in: store) }
            guard let message = reading.first else { return }
            reading.removeFirst()
            left -= try read(message, rowsMax: min(left, Segmenter.rowsAtATime), in: store)
        }
    }

    private mutating func begin(_ message: Int64, in store: Profiles) throws(StoreError) {
        guard var work = works[message], let filter = work.filter else { return }
        work.audience = .matching(
            try AudienceReading(
                filter, application: work.command.application, joinedMax: message,
                nowMilliseconds: work.command.acceptedAtMilliseconds, in: store))
        works[message] = work
        lastBegun = work.command.application
        remove(work, from: \.unread)
        reading.append(message)
    }

    private mutating func read(_ message: Int64, rowsMax: Int, in store: Profiles) throws(StoreError) -> Int {
        guard var work = works.removeValue(forKey: message), case .matching(var audience)? = work.audience
        else { return 0 }
        work.audience = nil
        let cost = try audience.advance(rowsMax: rowsMax)
        if audience.isComplete { try audience.end(in: store) } else { reading.append(message) }
        work.audience = .matching(audience)
        works[message] = work
        return cost
    }

    /// The command whose audience is to be read next.
    ///
    /// No application holds more of the audiences than are still free, so that one whose batches nobody takes always
    /// leaves room.
    private var nextToBegin: Int64? {
        guard !unread.isEmpty else { return nil }
        var held: [String: Int] = [:]
        for work in works.values where work.audience != nil && work.filter != nil {
            held[work.command.application, default: 0] += 1
        }
        let free = Segmenter.audiencesMax - held.values.reduce(0, +)
        guard free > 0 else { return nil }
        let application = unread.keys.inTurn(after: lastBegun).first { held[$0, default: 0] < free }
        return application.flatMap { unread[$0]?.first }
    }
}

extension Sequence<String> {
    /// The names in order, from the one behind that which was served last.
    fileprivate func inTurn(after last: String) -> [String] {
        let names = sorted()
        let start = names.firstIndex { last < $0 } ?? 0
        return Array(names[start...] + names[..<start])
    }
}
