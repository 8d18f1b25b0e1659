import Contracts
import JSON
import Store

@testable import Service

/// A store of numbers that fails when it is told to.
final class ToyStore: TransactionalStore {
    /// What is committed.
    private(set) var rows: [Int64] = []
    private var uncommitted: [Int64] = []
    private(set) var isOpen = false
    /// Called before each call with its name; what it returns is thrown.
    var fault: (String) -> StoreError? = { _ in nil }

    static let full = StoreError(call: "step", extendedCode: 13, message: "database or disk is full")
    static let damaged = StoreError(
        call: "step", extendedCode: 11, message: "database disk image is malformed")
    static let constraint = StoreError(call: "step", extendedCode: 2067, message: "UNIQUE")

    private func meet(_ call: String) throws(StoreError) {
        if let error = fault(call) { throw error }
    }

    func begin() throws(StoreError) {
        try meet("begin")
        precondition(!isOpen, "begin in a transaction")
        isOpen = true
        uncommitted = rows
    }

    func commit() throws(StoreError) {
        precondition(isOpen, "commit without a transaction")
        try meet("commit")
        isOpen = false
        rows = uncommitted
    }

    func rollback() throws(StoreError) {
        isOpen = false
    }

    func insert(_ row: Int64) throws(StoreError) {
        precondition(isOpen, "a write outside of a transaction")
        try meet("insert \(row)")
        if !uncommitted.contains(row) { uncommitted.append(row) }
    }
}

/// A segmenter of few words: each command becomes a row and one batch, each event a row and an output.
struct ToySegmenter: Core, Reloadable, Drainable {
    typealias External = Toy
    typealias Output = Toy

    static let service = ServiceName.segmenter
    var windows = Windows()
    var isDrained = true
    /// All that it was told, but turns.
    private(set) var told: [String] = []
    private(set) var turns = 0
    /// The reports that it was told.
    private(set) var reports: [Report] = []
    private var commands: [Command] = []
    var waiting: Int { commands.count }
    private var started = false
    private var dueAt: Int64?

    mutating func step(
        _ input: Input<Toy>, at now: Moment, in store: inout ToyStore
    ) throws(StoreError) -> [Effect<Toy>] {
        switch input {
        case .started:
            precondition(!started, "started once in each life")
            started = true
            told.append("started")
            return []
        case .message(.command(let command), _):
            told.append("command \(command.sequence)")
            try store.insert(command.sequence)
            commands.append(command)
            return [.count(Count("commands", [("kind", command.kind.rawValue)]))]
        case .message(let message, let sender):
            if case .report(let report) = message { reports.append(report) }
            told.append("\(message.type.rawValue) of \(sender.instance)")
            return []
        case .external(let text): return try external(text.text, now, store)
        case .lost(let keys, let instance, let reason):
            told.append("lost \(keys.count) at \(instance): \(reason)")
            return []
        case .turn(let room): return turn(room, now)
        }
    }

    private mutating func external(
        _ text: String, _ now: Moment, _ store: ToyStore
    ) throws(StoreError) -> [Effect<Toy>] {
        told.append(text)
        if text.hasPrefix("read") { return [.perform("answer to \(text)")] }
        if text.hasPrefix("in ") { dueAt = now.monotonic + (Int64(text.dropFirst(3)) ?? 0) }
        try store.insert(Int64(text.utf8.count))
        return [.perform("done \(text)"), .log(LogLine(.info, "did", [("what", text)]))]
    }

    private mutating func turn(_ room: Room, _ now: Moment) -> [Effect<Toy>] {
        turns += 1
        var room = room
        var effects: [Effect<Toy>] = []
        if let due = dueAt, due <= now.monotonic {
            dueAt = nil
            effects.append(.perform("due at \(now.monotonic)"))
        }
        while let command = commands.first,
            let place = room.roomiest(.batches, of: .tokenRegistry, account: command.application)
        {
            commands.removeFirst()
            room.take(1, .batches, at: place, account: command.application)
            let batch = Batch(
                pass: Pass(epoch: 1, number: command.sequence), index: 0, last: true, recipients: [],
                command: command)
            effects.append(.send(.batch(batch), to: .instance(place)))
        }
        return effects
    }

    func nextTurnMilliseconds(after now: Moment) -> Int64? { dueAt.map { max(0, $0 - now.monotonic) } }

    mutating func reload(_ configuration: Configuration) {
        told.append("reload \(configuration.delivery.intervalSeconds)")
    }
}

/// A registry that takes each batch at once.
struct ToyRegistry: Core {
    static let service = ServiceName.tokenRegistry
    var windows = Windows()
    private(set) var batches: [Batch] = []

    mutating func step(
        _ input: Input<Never>, at now: Moment, in store: inout NoStore
    ) throws(StoreError) -> [Effect<Never>] {
        guard case .message(.batch(let batch), let sender) = input else { return [] }
        batches.append(batch)
        let taken = Taken.batch(message: batch.command.sequence, pass: batch.pass, index: batch.index)
        return [.send(.taken(taken), to: .instance(sender.instance))]
    }

    func nextTurnMilliseconds(after now: Moment) -> Int64? { nil }
}

/// An adapter whose events a test makes, and whose outputs it reads.
final class ToyAdapter: Adapter {
    var events: [Toy] = []
    var outputs: [Toy] = []
    var refused: [Toy] = []
    var problems: Set<String> = []
    var missing: [String] = []
    var drained = true
    var isDraining = false
    var reloads: [Int64] = []
    var reloadError: LineError?

    var nextDeadlineMilliseconds: Int64? { events.isEmpty ? nil : 0 }

    func process(nowMilliseconds: Int64) -> [Toy] {
        defer { events = [] }
        return events
    }

    func perform(_ outputs: [Toy], nowMilliseconds: Int64) { self.outputs += outputs }

    func failed(_ events: [Toy], problem: String, nowMilliseconds: Int64) {
        refused += events
        problems.insert(problem)
    }

    func onlyReads(_ event: Toy) -> Bool { event.text.hasPrefix("read") }

    func reload(_ context: ServiceContext) throws {
        if let reloadError { throw reloadError }
        reloads.append(context.configuration.delivery.intervalSeconds)
    }

    func drain() { isDraining = true }
}

/// A word, as a toy's event and output.
struct Toy: Sendable, Equatable, Hashable, ExpressibleByStringInterpolation {
    var text: String

    init(stringLiteral text: String) {
        self.text = text
    }
}

extension Toy: LineReadable, LineWritable {
    static var lineTypes: [String] { ["event"] }

    init(lineType: String, body: JSONValue) throws {
        guard let text = body.string else { throw LineError("must be a string") }
        self.text = text
    }

    var lineType: String { "output" }

    func lineBody() throws -> [UInt8] { Array(JSONText.quote(text).utf8) }
}
