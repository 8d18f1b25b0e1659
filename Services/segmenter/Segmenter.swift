public import Contracts
public import Service
public import Store

/// Turns an audience into batches of at most 500 recipients.
///
/// Takes `registration` (profiles, tags, users), `command` and `query` from ingest, and `taken` or `busy` for its
/// batches from the registry. Emits `batch` to the registry; `taken` (of registrations), `busy` and `answer` to
/// ingest.
///
/// Keeps profiles, not work: ingest keeps each command until the registry has taken all of it, and sends it again
/// to a new life, which then makes a new pass. A command that is at work already is ignored when it comes again.
///
/// An audience is that of one moment, when the command's turn comes: it is read a little at each turn, over a
/// connection of its own that sees the profiles as they were then. The reading waits for nobody, and the first batch
/// goes out as soon as it is full. Devices that unregister before their batch is written are left out; devices that
/// registered, or came back, after the message was accepted get none, also from a later pass. A tag that changed
/// between the acceptance and the moment of the pass counts as it is then. The devices of users are read batch by
/// batch, as they are then.
///
/// At most `audiencesMax` audiences of filters are held at a time, at one bit a device. A tag that is a list has a
/// row for each member: a turn that walks along such a column takes longer by so much.
public struct Segmenter: Core {
    /// `segmenter`.
    public static let service = ServiceName.segmenter
    /// How much each sender may have unanswered here.
    public let windows = Windows()

    private var works = Works()
    private var questions = Questions()
    private let epoch: Int64
    private var nextPass: Int64 = 0

    /// How many passes may begin in a millisecond, far more than do.
    private static let passesPerMillisecondMax: Int64 = 1_000
    /// How many audiences of filters are held in memory at a time.
    static let audiencesMax = 16
    /// How many batches one turn writes at most; together they take two milliseconds.
    static let batchesPerTurnMax = 8
    /// About how many rows one turn reads; together they take a millisecond, as does a stretch read to its end.
    static let rowsPerTurnMax = 3_000
    /// About how many rows are read for one audience before it is the turn of the next.
    static let rowsAtATime = 2_000

    /// Makes a segmenter with no work.
    ///
    /// - Parameter epoch: the life's random number; it names the passes.
    public init(epoch: Int64) { self.epoch = epoch }

    /// Takes one input and says what follows from it.
    public mutating func step(
        _ input: Input<Never>, at now: Moment, in store: inout Profiles
    ) throws(StoreError) -> [Effect<Never>] {
        switch input {
        case .started: begin(at: now)
        case .lost: []
        case .message(let message, let sender): try take(message, from: sender, at: now, in: store)
        case .turn(let room): try turn(room, at: now, in: store)
        }
    }

    /// Begins above the passes of a core that was given up in the same life, whose batches the registry may have.
    private mutating func begin(at now: Moment) -> [Effect<Never>] {
        nextPass = max(nextPass, now.monotonic * Segmenter.passesPerMillisecondMax)
        return []
    }

    private mutating func take(
        _ message: Message, from sender: Sender, at now: Moment, in store: Profiles
    ) throws(StoreError) -> [Effect<Never>] {
        switch message {
        case .registration(let registration): return try store.register(registration)
        case .registrations(let group): return try store.register(group)
        case .command(let command):
            begin(command)
            return []
        case .taken(.batch(let message, let pass, let index)):
            works.taken(message, pass, index)
            return []
        case .busy(let busy):
            guard let pass = busy.pass, works.drop(busy.message, pass) else { return [] }
            return [.send(.busy(Busy(message: busy.message)), to: .service(.ingest))]
        case .query(let query): return try answer(query, sender, at: now, in: store)
        case .hello, .noted: return []
        default: return [.count(Count("ignored", [("type", message.type.rawValue)]))]
        }
    }

    private mutating func begin(_ command: Command) {
        if command.kind == .cancel, let message = command.cancelledMessage { works.drop(message, nil) }
        guard !works.contains(command.sequence) else { return }
        nextPass += 1
        works.add(Work(command: command, pass: Pass(epoch: epoch, number: nextPass)))
    }

    private mutating func answer(
        _ query: Query, _ sender: Sender, at now: Moment, in store: Profiles
    ) throws(StoreError) -> [Effect<Never>] {
        switch query.kind {
        case .tags(let hwid):
            let device = try store.find(hwid, application: try store.application(query.application))
            var tags: [String: TagValue] = [:]
            if let device { tags = try store.tags(of: device) }
            let answer = Answer(id: query.id, content: .tags(values: tags))
            return [.send(.answer(answer), to: .instance(sender.instance))]
        case .audience(let filter):
            guard questions.ask(query, filter, from: sender.instance, at: now) else { break }
            return []
        case .deliveries, .participants, .missing, .channel: break
        }
        return [.count(Count("ignored", [("type", "query")]))]
    }

    private mutating func turn(
        _ room: Room, at now: Moment, in store: Profiles
    ) throws(StoreError) -> [Effect<Never>] {
        let answer = try questions.read(rowsMax: Segmenter.rowsAtATime, at: now, in: store)
        try works.read(
            rowsMax: Segmenter.rowsPerTurnMax - (questions.isEmpty ? 0 : Segmenter.rowsAtATime), in: store)
        return try write(room, in: store) + [answer].compactMap { $0 }
    }

    private mutating func write(_ room: Room, in store: Profiles) throws(StoreError) -> [Effect<Never>] {
        var room = room
        var effects: [Effect<Never>] = []
        while effects.count < Segmenter.batchesPerTurnMax {
            let next = works.next { room.roomiest(.batches, of: .tokenRegistry, account: $0) != nil }
            guard let message = next, let application = works[message]?.command.application,
                let registry = room.roomiest(.batches, of: .tokenRegistry, account: application)
            else { break }
            let batch = try works.write(message, in: store)
            room.take(batch.weight, .batches, at: registry, account: application)
            effects.append(.send(.batch(batch), to: .instance(registry)))
        }
        return effects
    }

    /// Reading goes on at once; batches go on when answers arrive.
    public func nextTurnMilliseconds(after now: Moment) -> Int64? {
        works.hasReading || !questions.isEmpty ? 0 : nil
    }

    /// How many commands are at work, for the metrics.
    public var waiting: Int { works.count }
}

extension Profiles {
    /// Commits a registration; one that came before is answered the same way.
    func register(_ registration: Registration) throws(StoreError) -> [Effect<Never>] {
        let application = try self.application(registration.application)
        guard try write(registration, application: application) else {
            return [.count(Count("ignored", [("type", "registration")]))]
        }
        return taken(registration.sequence)
    }

    /// Commits registrations that were accepted together, and answers them as one.
    func register(_ group: RegistrationGroup) throws(StoreError) -> [Effect<Never>] {
        let application = try self.application(group.application)
        var ignored = 0
        for registration in group.registrations
        where try !write(registration, application: application) { ignored += 1 }
        let count = Count("ignored", [("type", "registration")], by: ignored)
        return taken(group.sequence) + (ignored > 0 ? [.count(count)] : [])
    }

    private func taken(_ sequence: Int64) -> [Effect<Never>] {
        [.send(.taken(.registration(sequence: sequence, by: .segmenter)), to: .service(.ingest))]
    }

    /// Writes what a registration tells of a device.
    ///
    /// - Returns: whether it is one for this service.
    private func write(_ registration: Registration, application: Int64) throws(StoreError) -> Bool {
        guard registration.receivers.contains(.segmenter) else { return false }
        if case .profile(let profile) = registration.change,
            try find(registration.device, application: application) == nil
        {
            try add(
                profile, registration.device, application: application, sequence: registration.sequence)
            return true
        }
        let device = try self.device(
            registration.device, application: application, sequence: registration.sequence)
        switch registration.change {
        case .profile(let profile):
            try write(profile, device: device, application: application, sequence: registration.sequence)
        case .tags(let tags):
            try change(tags, device: device, application: application, sequence: registration.sequence)
        case .user(let user): try setUser(user, device: device, sequence: registration.sequence)
        case .unregister: try unregister(device: device, sequence: registration.sequence)
        case .startToken, .activityToken: return false
        }
        return true
    }
}
