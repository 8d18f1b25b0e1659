import Contracts
import Service
import Store

/// Rows whose time has nearly come go to the limiters, as far as those have room.
extension Step {
    /// Hands over in rounds until the budget or the room is used up.
    func handOver(_ room: inout Room, _ limit: Int) throws(StoreError) {
        var budget = limit
        var groups = TargetGroups()
        while budget > 0, let turn = memory.rounds.next(at: now.wall, rowsPerRound: limits.rowsPerRound) {
            let rows = try handOver(turn.place, min(turn.rows, budget), &room, &groups)
            memory.rounds.count(rows)
            budget -= max(rows, 1)
        }
        for (limiter, targets) in groups.messages {
            emit(.send(.targets(targets), to: .instance(limiter)))
        }
    }

    /// Goes through the due rows of one queue.
    ///
    /// - Returns: how many.
    private func handOver(_ place: Int64, _ limit: Int, _ room: inout Room, _ groups: inout TargetGroups)
        throws(StoreError) -> Int
    {
        guard let pause = memory.rounds.queues[place]?.pause else { return 0 }
        let gate = memory.gates[pause]
        let isTrial = gate?.isPaused == true
        if let gate, gate.opensAt ?? .max > now.wall {
            memory.rounds.block(place, .pause)
            return 0
        }
        try flush()
        let page = try ledger.due(place: place, through: now.wall, limit: isTrial ? 1 : limit)
        if !page.isEmpty {
            if Place.isFanOut(place) { memory.rest.work(at: now) } else { memory.rest.noteSingle(at: now) }
        }
        var full: Set<InstanceName> = []
        for due in page {
            let row = adopt(due.delivery)
            let device = adopt(due.device)
            let participant = due.participant.map(adopt)
            guard let limiter = room.owner(ofDevice: device.number, in: .rateLimiter),
                !full.contains(limiter),
                room.free(.targets, at: limiter, account: pause.account) > 0
            else {
                if let limiter = room.owner(ofDevice: device.number, in: .rateLimiter) {
                    full.insert(limiter)
                }
                memory.rounds.block(place, .room)
                continue
            }
            guard let target = try open(row, participant, device, place, limiter, isTrial: isTrial) else {
                continue
            }
            room.take(1, .targets, at: limiter, account: pause.account)
            try groups.add(target, row, participant, to: limiter, in: self)
            if isTrial { gate?.trial = row.id }
        }
        if let gate, gate.isChanged { try save(gate) }
        try flush()
        memory.rounds.set(place, nextDue: try ledger.nextDue(place: place))
        return page.count
    }

    func save(_ gate: Gate) throws(StoreError) {
        try ledger.save(gate.fields)
        gate.markSaved()
    }

    /// Marks a row as handed over, if it still has to go now.
    ///
    /// - Returns: its target; nil if the row has ended, or waits for something else.
    private func open(
        _ row: Delivery, _ participant: Participant?, _ device: Device, _ place: Int64,
        _ limiter: InstanceName,
        isTrial: Bool
    ) throws(StoreError) -> Target? {
        guard row.place == place, let message = try message(row.id.message) else { return nil }
        guard let target = try target(row, message, participant, device, place) else { return nil }
        row.state = .handedOver
        row.place = Place.handedOver
        row.attempt += 1
        row.sendBefore = now.wall + memory.settings(message.application).sendBeforeSeconds * 1000
        row.at = row.sendBefore
        row.limiter = limiter.number
        row.tokenSequence = message.kind == .start ? 0 : participant?.place.sequence ?? 0
        row.isTrial = isTrial
        row.changedAt = now.wall
        if let participant {
            try letGo(row, participant)
            participant.handed = message.number
            try countOut(message, participant)
        }
        if message.kind == .start, participant != nil { device.startHanded = message.number }
        return finished(target, row)
    }

    /// When a row was handed over last, milliseconds since 1970.
    func handedAt(_ row: Delivery) throws(StoreError) -> Int64 {
        guard let message = try message(row.id.message) else { return row.sendBefore }
        return row.sendBefore - memory.settings(message.application).sendBeforeSeconds * 1000
    }

    /// What of a target is known only once its row is marked.
    func finished(_ target: Target, _ row: Delivery) -> Target {
        var target = target
        target.attempt = row.attempt
        target.sendBeforeMilliseconds = row.sendBefore
        target.trial = row.isTrial
        return target
    }

    /// The target of a row that may go now; nil if the row has got another place, or its outcome.
    private func target(
        _ row: Delivery, _ message: MessageRecord, _ participant: Participant?, _ device: Device,
        _ place: Int64
    ) throws(StoreError) -> Target? {
        guard let participant else {
            try placeAlert(row, message, device)
            guard stays(row, place) else { return nil }
            if let target = try alertTarget(row, message, device) { return target }
            try settle(row, .unreachable, device.causeOfNoAlert)
            return nil
        }
        try schedule(row, participant, device)
        guard stays(row, place) else { return nil }
        if message.kind == .start, try mustWait(row, device) { return nil }
        try chooseState(message, participant)
        if let target = try liveTarget(row, message, participant, device) { return target }
        let type = try content(message.number)?.notification.attributesType ?? ""
        try finish(row, .unreachable, try causeOfNoStart(device, type: type))
        return nil
    }

    /// Whether a start has to wait for another one of its device, or for the device's budget.
    private func mustWait(_ row: Delivery, _ device: Device) throws(StoreError) -> Bool {
        guard device.startHanded == nil else {
            row.place = nil
            try ledger.addStartWait(device: device.number, message: row.id.message)
            return true
        }
        let due = startSlot(device) - limits.leadMilliseconds
        guard due > now.wall else { return false }
        row.at = due
        return true
    }

    /// Whether a row still is due in the queue that it was found in.
    private func stays(_ row: Delivery, _ place: Int64) -> Bool { row.place == place && row.at <= now.wall }
}

extension Pause {
    /// Whose share of a window its targets use, as `Message.account` has it.
    var account: String { "\(application) \(environment.rawValue)" }
}
