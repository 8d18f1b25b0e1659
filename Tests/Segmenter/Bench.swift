import Contracts
import Foundation
import Service
import Store

@testable import segmenter

/// A segmenter over a store in memory or in a file, with a registry that takes what it is told to.
struct Bench {
    var segmenter = Segmenter(epoch: 7)
    var profiles: Profiles
    var now = Moment(monotonic: 0, wall: 1_700_000_000_000)
    var sequence: Int64 = 0
    let ingest = Sender(InstanceName(.ingest), epoch: 1)
    let registry = Sender(InstanceName(.tokenRegistry), epoch: 2)

    init(_ location: Database.Location = .memory) throws { profiles = try Profiles(location) }

    mutating func tell(_ message: Message, from sender: Sender? = nil) throws -> [Message] {
        messages(try segmenter.step(.message(message, from: sender ?? ingest), at: now, in: &profiles))
    }

    mutating func turn(windows: Windows = Windows()) throws -> [Batch] {
        try turnMessages(windows: windows).compactMap { message in
            guard case .batch(let batch) = message else { return nil }
            return batch
        }
    }

    /// A turn in a transaction of its own, as the loop makes it.
    mutating func turnMessages(windows: Windows = Windows()) throws -> [Message] {
        let room = Room(
            places: [.init(instance: registry.instance, windows: windows)], settledServices: [.tokenRegistry])
        try profiles.begin()
        let effects = try segmenter.step(.turn(room), at: now, in: &profiles)
        try profiles.commit()
        return messages(effects)
    }

    /// Whether it wants a turn although nothing arrives.
    var isReading: Bool { segmenter.nextTurnMilliseconds(after: now) == 0 }

    /// Takes every batch of a command until no more come.
    mutating func drain() throws -> [Batch] {
        var all: [Batch] = []
        while true {
            let batches = try turn()
            guard !batches.isEmpty || isReading else { return all }
            all += batches
            for batch in batches { try take(batch) }
        }
    }

    /// What a question is answered, after as many turns as that takes.
    mutating func ask(_ kind: Query.Kind, id: Int64 = 1, application: String = "A") throws -> [Message] {
        var said = try tell(.query(Query(id: id, application: application, kind: kind)))
        while isReading { said += try turnMessages() }
        return said
    }

    mutating func take(_ batch: Batch) throws {
        let taken = Taken.batch(message: batch.command.sequence, pass: batch.pass, index: batch.index)
        _ = try tell(.taken(taken), from: registry)
    }

    @discardableResult
    mutating func register(
        _ device: String, _ change: Registration.Change, application: String = "A",
        sequence given: Int64? = nil
    ) throws -> [Message] {
        sequence += 1
        return try tell(
            .registration(
                Registration(
                    sequence: given ?? sequence, application: application, device: device, change: change,
                    acceptedAtMilliseconds: now.wall)))
    }

    /// Several registrations in one transaction.
    mutating func together(_ body: (inout Bench) throws -> Void) throws {
        try profiles.begin()
        try body(&self)
        try profiles.commit()
    }

    mutating func command(_ audience: Audience, application: String = "A") -> Command {
        sequence += 1
        return Command(
            sequence: sequence, application: application, kind: .start, run: sequence, activity: "x",
            order: Order(seconds: now.wallSeconds, sequence: sequence), acceptedAtMilliseconds: now.wall,
            audience: audience, notification: Notification(event: .start, expirationSeconds: 1),
            payload: Payload(contentState: Array("{}".utf8)))
    }

    /// The devices that a filter matches.
    mutating func matched(_ filter: Filter) throws -> [String] {
        _ = try tell(.command(command(.filter(filter))))
        return try drain().flatMap(\.recipients)
    }

    private func messages(_ effects: [Effect<Never>]) -> [Message] {
        effects.compactMap { effect in
            guard case .send(let message, _) = effect else { return nil }
            return message
        }
    }
}

/// Runs a body with a store's file in a fresh directory that is gone afterwards.
func withStore(_ body: (Database.Location) throws -> Void) throws {
    let path = "/tmp/seg-" + UUID().uuidString.prefix(8)
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
    defer { try? FileManager.default.removeItem(atPath: path) }
    try body(.file(path + "/profiles"))
}
