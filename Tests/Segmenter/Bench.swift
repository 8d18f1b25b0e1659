import Contracts
import Service
import Store

@testable import segmenter

/// A segmenter over an in-memory store, with a registry that takes what it is told to.
struct Bench {
    var segmenter = Segmenter(epoch: 7)
    var profiles: Profiles
    var now = Moment(monotonic: 0, wall: 1_700_000_000_000)
    var sequence: Int64 = 0
    let ingest = Sender(InstanceName(.ingest), epoch: 1)
    let registry = Sender(InstanceName(.tokenRegistry), epoch: 2)

    init() throws { profiles = try Profiles(.memory) }

    mutating func tell(_ message: Message, from sender: Sender? = nil) throws -> [Message] {
        messages(try segmenter.step(.message(message, from: sender ?? ingest), at: now, in: &profiles))
    }

    mutating func turn(windows: Windows = Windows()) throws -> [Batch] {
        let room = Room(
            places: [.init(instance: registry.instance, windows: windows)], settledServices: [.tokenRegistry])
        return messages(try segmenter.step(.turn(room), at: now, in: &profiles)).compactMap { message in
            guard case .batch(let batch) = message else { return nil }
            return batch
        }
    }

    /// Takes every batch of a command until no more come.
    mutating func drain() throws -> [Batch] {
        var all: [Batch] = []
        while true {
            let batches = try turn()
            guard !batches.isEmpty else { return all }
            all += batches
            for batch in batches { try take(batch) }
        }
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
