import Contracts
import Service
import Store

/// One step of the registry: the rows it works on, each once, and what is to be done after the commit.
final class Step {
    let ledger: Ledger
    let memory: Memory
    let now: Moment
    private(set) var effects: [Effect<Never>] = []
    private var deliveries: [PushID: Delivery] = [:]
    private var participants: [Int64: Participant] = [:]
    private var devices: [Int64: Device] = [:]
    private var usedDeliveries: [Delivery] = []
    private var usedParticipants: [Participant] = []
    private var usedDevices: [Device] = []
    private var usedMessages: [MessageRecord] = []
    private var usedRuns: [RunRecord] = []
    private var outcomes: [Outcome: Int] = [:]

    init(ledger: Ledger, memory: Memory, now: Moment) {
        self.ledger = ledger
        self.memory = memory
        self.now = now
    }

    var limits: Limits { memory.limits }

    func emit(_ effect: Effect<Never>) { effects.append(effect) }

    func tally(_ outcome: Outcome) { outcomes[outcome, default: 0] += 1 }

    /// Counts something inconsistent that a peer sent.
    func ignore(_ type: MessageType) { emit(.count(Count("ignored", [("type", type.rawValue)]))) }

    func take(_ input: Input<Never>) throws(StoreError) {
        try followClock()
        switch input {
        case .started: try resume()
        case .message(let message, let sender): try take(message, from: sender)
        case .lost(let keys, _, let reason): try lose(keys, reason)
        case .turn(let room): try turn(room)
        }
    }

    private func take(_ message: Message, from sender: Sender) throws(StoreError) {
        switch message {
        case .registration(let registration):
            try write(registration.bounded())
            answer(registration.sequence)
        case .registrations(let group): try register(group)
        case .batch(let batch): try take(batch, from: sender)
        case .report(let report): try take(report.bounded(), from: sender)
        case .noted(let noted): try take(noted)
        case .query(let query): try answer(query, sender)
        case .hello: break
        default: ignore(message.type)
        }
    }
}

// MARK: Rows, each once

extension Step {
    /// Takes a row that a query found; what this step has already made of it holds.
    func adopt(_ fields: DeliveryFields) -> Delivery {
        if let known = deliveries[fields.id] { return known }
        return use(Delivery(saved: fields))
    }

    func adopt(_ fields: ParticipantFields) -> Participant {
        if let known = participants[fields.number] { return known }
        let participant = Participant(saved: fields)
        participants[fields.number] = participant
        usedParticipants.append(participant)
        return participant
    }

    @discardableResult
    func adopt(_ fields: DeviceFields) -> Device {
        if let known = devices[fields.number] { return known }
        let device = Device(saved: fields)
        devices[fields.number] = device
        usedDevices.append(device)
        return device
    }

    private func use(_ delivery: Delivery) -> Delivery {
        deliveries[delivery.id] = delivery
        usedDeliveries.append(delivery)
        return delivery
    }

    func delivery(_ id: PushID) throws(StoreError) -> Delivery? {
        if let known = deliveries[id] { return known }
        return try ledger.delivery(id).map { use(Delivery(saved: $0)) }
    }

    /// The device that was asked for last.
    var lastDevice: Device? { usedDevices.last }

    /// Whether this step has made or met a row.
    func isAtHand(_ id: PushID) -> Bool { deliveries[id] != nil }

    func hasDelivery(_ id: PushID) throws(StoreError) -> Bool {
        if isAtHand(id) { return true }
        return try ledger.hasDelivery(id)
    }

    func participant(_ number: Int64) throws(StoreError) -> Participant? {
        if let known = participants[number] { return known }
        return try ledger.participant(number).map(adopt)
    }

    /// Those of a run's participants that this step has made or met.
    func participantsAtHand(run: Int64) -> [Participant] { usedParticipants.filter { $0.run == run } }

    func participant(run: Int64, device: Int64) throws(StoreError) -> Participant? {
        try ledger.participant(run: run, device: device).map(adopt)
    }

    func device(_ number: Int64) throws(StoreError) -> Device? {
        if let known = devices[number] { return known }
        return try ledger.device(number).map(adopt)
    }

    func message(_ number: Int64) throws(StoreError) -> MessageRecord? {
        if let known = memory.messages[number] {
            use(known)
            return known
        }
        guard let fields = try ledger.message(number) else { return nil }
        let message = MessageRecord(saved: fields)
        memory.messages[number] = message
        use(message)
        return message
    }

    func run(_ number: Int64) throws(StoreError) -> RunRecord? {
        if let known = memory.runs[number] {
            use(known)
            return known
        }
        guard let fields = try ledger.run(number) else { return nil }
        return add(RunRecord(saved: fields))
    }

    @discardableResult
    func add(_ run: RunRecord) -> RunRecord {
        memory.runs[run.number] = run
        use(run)
        return run
    }

    func content(_ message: Int64) throws(StoreError) -> Content? {
        if let known = memory.contents[message] { return known }
        guard let content = try ledger.content(message) else { return nil }
        if memory.contents.count >= limits.cachedContentsMax { memory.contents.removeAll() }
        memory.contents[message] = content
        return content
    }

    // A record is often asked for many times in a row; the list may hold it more than once.
    private func use(_ message: MessageRecord) {
        if usedMessages.last !== message { usedMessages.append(message) }
    }

    private func use(_ run: RunRecord) {
        if usedRuns.last !== run { usedRuns.append(run) }
    }

    /// Adds a row without an outcome.
    func add(_ message: MessageRecord, device: Int64, participant: Int64) -> Delivery {
        message.unsettled += 1
        return use(
            Delivery(
                new: DeliveryFields(
                    id: PushID(message: message.number, device: device), participant: participant,
                    priority: message.priority, alert: message.alertBytes > 0 ? message.number : nil,
                    changedAt: now.wall)))
    }

    /// Adds a participant, numbered after all others.
    func addParticipant(
        _ run: RunRecord, device: Int64, state: ParticipantState, place: TokenPlace = TokenPlace(),
        listens: Bool = false
    ) throws(StoreError) -> Participant {
        var fields = ParticipantFields(
            number: memory.nextParticipant, run: run.number, device: device, state: state, place: place)
        fields.listens = run.channel == nil && !listens ? nil : listens
        memory.nextParticipant += 1
        try ledger.add(fields)
        run.participants += 1
        if state != .ended {
            run.open += 1
            if listens { run.channel?.members += 1 }
            run.isEmptySaid = false
        }
        return adopt(fields)
    }

    /// Forgets a message that the ledger has forgotten.
    func drop(message: Int64) {
        memory.messages[message] = nil
        memory.contents[message] = nil
        usedMessages.removeAll { $0.number == message }
    }

    func drop(run: Int64) {
        memory.runs[run] = nil
        usedRuns.removeAll { $0.number == run }
    }
}

// MARK: Writing

extension Step {
    /// Writes what has changed; messages that are settled by it say so.
    func flush() throws(StoreError) {
        for device in usedDevices where device.isChanged {
            try ledger.save(device.fields)
            device.markSaved()
        }
        for participant in usedParticipants where participant.isChanged {
            try ledger.save(participant.fields, tokenToo: participant.saved?.place != participant.place)
            participant.markSaved()
        }
        for delivery in usedDeliveries where delivery.isChanged { try save(delivery) }
        for message in usedMessages { try settleIfDone(message) }
        for message in usedMessages where message.isChanged { try save(message) }
        for run in usedRuns { try sayIfEmpty(run) }
        for run in usedRuns where run.isChanged {
            try ledger.save(run.fields)
            run.markSaved()
            memory.removalAt = min(memory.removalAt ?? .max, run.removesAt)
        }
        for outcome in Outcome.stored {
            guard let count = outcomes.removeValue(forKey: outcome) else { continue }
            emit(.count(Count("deliveries", [("outcome", outcome.rawValue)], by: count)))
        }
    }

    private func save(_ delivery: Delivery) throws(StoreError) {
        if delivery.saved == nil {
            try ledger.add(delivery.fields)
        } else {
            try ledger.save(delivery.fields)
        }
        delivery.markSaved()
        guard let place = delivery.place, !delivery.isOut else { return }
        if !memory.rounds.place(place, at: delivery.at) { try openQueue(place, at: delivery.at) }
    }

    /// Lets a queue take part in the rounds.
    func openQueue(_ place: Int64, at: Int64) throws(StoreError) {
        switch Place(place) {
        case .single(let number, let environment):
            guard let application = memory.applicationCodes[number] else { return }
            memory.rounds.open(place, Pause(application: application, environment: environment), at: at)
        case .fanOut(let number, let environment):
            guard let application = try message(number)?.application else { return }
            memory.rounds.open(place, Pause(application: application, environment: environment), at: at)
        case nil: break
        }
    }

    private func save(_ message: MessageRecord) throws(StoreError) {
        try ledger.save(message.fields)
        let former = message.saved
        let bytes = MessageFields.openBytes(message.fields) - (former.map(MessageFields.openBytes) ?? 0)
        memory.addLoad(
            message.application, rows: message.unsettled - (former?.unsettled ?? 0), bytes: bytes)
        message.markSaved()
        if let sweepAt = message.sweepAt { memory.sweepAt = min(memory.sweepAt ?? .max, sweepAt) }
    }
}

extension MessageFields {
    /// The bytes that count as waiting.
    fileprivate static func openBytes(_ message: MessageFields) -> Int {
        message.settledAt == nil ? message.bytes : 0
    }
}
