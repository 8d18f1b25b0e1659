import Contracts
import Service
import Store

/// Batches become messages and rows.
extension Step {
    /// Takes a batch in: its rows and its place in the pass become durable together.
    ///
    /// One of many recipients waits for the turns, a part in each, so that single ones need not wait for it.
    func take(_ batch: Batch, from sender: Sender) throws(StoreError) {
        guard Message.batch(batch).isPlausible else { return ignore(.batch) }
        guard batch.recipients.count > limits.rowsPerTurn else {
            _ = try take(batch.recipients[...], of: batch, from: sender)
            return
        }
        let arriving = ArrivingBatch(batch: batch, sender: sender)
        guard !memory.arriving.contains(where: { $0.isSame(as: arriving) }) else { return }
        memory.arriving.append(arriving)
    }

    /// Takes a part of each batch that is arriving, in turns.
    func takeArriving(_ budget: Int) throws(StoreError) {
        var budget = budget
        while budget > 0, var arriving = memory.arriving.first {
            memory.arriving.removeFirst()
            if arriving.taken == 0 { arriving.taken = try madeBefore(arriving.batch) }
            let part = arriving.batch.recipients[arriving.taken...].prefix(budget)
            arriving.taken += part.count
            budget -= part.count
            if try take(part, of: arriving.batch, from: arriving.sender) { memory.arriving.append(arriving) }
        }
    }

    /// How many recipients at the head of a batch have their rows from a former life, which ended before the batch did.
    ///
    /// They are no work again, or a store that fails often would never let a batch come to its end.
    private func madeBefore(_ batch: Batch) throws(StoreError) -> Int {
        guard try message(batch.command.sequence) != nil else { return 0 }
        for (index, hwid) in batch.recipients.enumerated() {
            guard let device = try ledger.device(batch.command.application, hwid: hwid),
                try hasDelivery(PushID(message: batch.command.sequence, device: device.number))
            else { return index }
        }
        return batch.recipients.count
    }

    /// Takes recipients of a batch in, and answers it once they are its last.
    ///
    /// - Returns: whether the rest of it is wanted.
    private func take(_ part: ArraySlice<String>, of batch: Batch, from sender: Sender) throws(StoreError)
        -> Bool
    {
        let isLast = part.endIndex == batch.recipients.endIndex
        switch batch.command.kind {
        case .cancel: try cancel(batch.command)
        case .pause, .resume: try hold(batch.command)
        case .start, .update, .end:
            guard let notification = batch.command.notification else {
                ignore(.batch)
                return false
            }
            switch try expand(batch, part, notification) {
            case .full:
                let busy = Busy(message: batch.command.sequence, pass: batch.pass, index: batch.index)
                emit(.count(Count("busy", [("application", batch.command.application)])))
                emit(.send(.busy(busy), to: .instance(sender.instance)))
                return false
            case .made where !isLast: return true
            case .made, .known: break
            }
        }
        let taken = Taken.batch(message: batch.command.sequence, pass: batch.pass, index: batch.index)
        emit(.send(.taken(taken), to: .instance(sender.instance)))
        return false
    }

    /// What became of recipients.
    private enum Expansion {
        /// They have rows.
        case made
        /// The message is complete without them.
        case known
        /// Their rows do not fit.
        case full
    }

    /// Makes the rows of recipients of a batch.
    private func expand(_ batch: Batch, _ part: ArraySlice<String>, _ notification: Notification)
        throws(StoreError) -> Expansion
    {
        let command = batch.command
        if let known = try message(command.sequence), known.isComplete {
            sayAgain(known)
            return .known
        }
        let run = try knownRun(
            command.run, command.application, command.activity, at: command.acceptedAtMilliseconds)
        if let channel = command.channel { try bind(run, channel) }
        guard try fits(command, part, run) else { return .full }
        let message = try knownMessage(command, notification)
        switch command.audience {
        case .activity: try takeActivity(message, run)
        case .token(let token): try takeToken(token, message, run, notification)
        case .filter, .devices, .users: try takeRecipients(batch, part, message, run, notification)
        }
        return .made
    }

    /// A message, made when its first batch comes.
    private func knownMessage(_ command: Command, _ notification: Notification) throws(StoreError)
        -> MessageRecord
    {
        if let known = try message(command.sequence) { return known }
        let message = try addMessage(command, notification)
        let content = Content(
            activity: command.activity, notification: notification, payload: command.payload)
        try ledger.add(content, message: message.number)
        return message
    }

    func addMessage(_ command: Command, _ notification: Notification) throws(StoreError) -> MessageRecord {
        var token: String?
        if case .token(let named) = command.audience { token = named }
        let fields = MessageFields(
            number: command.sequence, application: command.application, kind: notification.event,
            run: command.run, order: command.order, acceptedAt: command.acceptedAtMilliseconds, token: token,
            expirationSeconds: notification.expirationSeconds, priority: notification.priority,
            contentBytes: command.payload.contentState.count, alertBytes: command.payload.alert.count,
            bytes: command.payload.byteCount)
        try ledger.add(fields)
        memory.addLoad(fields.application, rows: 0, bytes: fields.bytes)
        memory.messages[fields.number] = MessageRecord(saved: fields)
        guard let message = try message(fields.number) else {
            throw StoreError(call: "add", message: "a message that was just added is not there")
        }
        message.sweepAt = message.nextSweep(after: now.wall, memory.settings(fields.application))
        return message
    }

    /// Notes that every row of a message is known, or will be made from its activity.
    func complete(_ message: MessageRecord, _ run: RunRecord?) throws(StoreError) {
        message.isComplete = true
        message.isTakenUnnoted = true
        if run?.start == message.number { run?.isStartComplete = true }
        try ledger.removePasses(message: message.number)
        guard memory.takenNotes.take(message.number, max: limits.underWayMax) else { return }
        sendTaken(message.number)
    }

    // MARK: Audiences

    private func takeActivity(_ message: MessageRecord, _ run: RunRecord) throws(StoreError) {
        if message.kind == .end, run.end == nil { run.end = message.number }
        message.isFanOut = run.fields.receivers > limits.fanOutMin
        message.cursor = 0
        message.participantMax = memory.nextParticipant - 1
        if message.isFanOut {
            memory.expandingFanOuts.add(message.number)
        } else {
            memory.expanding.add(message.number)
        }
        try offerToChannel(message, run)
        try complete(message, run)
    }

    private func takeRecipients(
        _ batch: Batch, _ part: ArraySlice<String>, _ message: MessageRecord, _ run: RunRecord,
        _ notification: Notification
    ) throws(StoreError) {
        if message.kind == .start { run.start = message.number }
        if !batch.last || batch.index > 0 || batch.recipients.count > limits.fanOutMin {
            message.isFanOut = true
        }
        if message.kind == .start {
            try start(message, run, Array(part), notification)
        } else {
            try offer(message, run, Array(part))
        }
        guard part.endIndex == batch.recipients.endIndex else { return }
        if try ledger.note(batch) { try complete(message, run) }
    }

    /// Adds the rows of an update or end for recipients; one that has a row already gets no other.
    private func offer(_ message: MessageRecord, _ run: RunRecord, _ hwids: [String]) throws(StoreError) {
        for hwid in hwids {
            let device = try knownDevice(message.application, hwid: hwid, guestRun: run.number)
            guard try !hasDelivery(PushID(message: message.number, device: device.number)) else { continue }
            guard let participant = try participant(run: run.number, device: device.number) else {
                let row = add(message, device: device.number, participant: 0)
                try settle(row, .unreachable, Cause.noParticipant)
                continue
            }
            try offer(message, to: participant, device)
        }
    }

    private func takeToken(
        _ token: String, _ message: MessageRecord, _ run: RunRecord, _ notification: Notification
    ) throws(StoreError) {
        if message.kind == .start {
            run.start = message.number
            let device = try startDevice(token, message.application, run)
            let id = PushID(message: message.number, device: device.number)
            let usable = try startToken(id, message, device, type: notification.attributesType ?? "")
            let known = try participant(run: run.number, device: device.number)?.number
            try start(message, run, device, usable, known, notification)
        } else if let (participant, device) = try holder(of: token, message, run) {
            try offer(message, to: participant, device)
        }
        try complete(message, run)
    }

    // MARK: Holders of a token

    /// The device that a push-to-start token belongs to; a token nobody registered is a device of its own.
    private func startDevice(_ token: String, _ application: String, _ run: RunRecord) throws(StoreError)
        -> Device
    {
        if let place = try ledger.startPlaces(application, token: token).first,
            let device = try device(place.device)
        {
            if device.guestRun != nil { device.guestRun = run.number }
            return device
        }
        let device = try knownDevice(application, hwid: token, guestRun: run.number)
        try ledger.save(
            StartPlace(device: device.number, type: "", place: .unregistered(token, at: now.wall)))
        return device
    }

    /// The participant that holds an update token; a token nobody registered is one of its own.
    private func holder(of token: String, _ message: MessageRecord, _ run: RunRecord) throws(StoreError)
        -> (Participant, Device)?
    {
        let active = memory.settings(message.application).activeSeconds * 1000
        for fields in try ledger.participants(message.application, token: token) {
            let participant = adopt(fields)
            let began = try self.run(participant.run)?.startedAt ?? 0
            guard participant.run == run.number || message.acceptedAt < began + active,
                let device = try device(participant.device)
            else {
                try takeToken(from: participant)
                continue
            }
            return (participant, device)
        }
        try flush()
        let device = try knownDevice(message.application, hwid: token, guestRun: run.number)
        let place = TokenPlace.unregistered(token, at: message.acceptedAt)
        if let known = try participant(run: run.number, device: device.number) { return (known, device) }
        return (
            try addParticipant(run, device: device.number, state: .active, place: place), device
        )
    }
}

extension TokenPlace {
    /// The place of a token that only a caller named.
    static func unregistered(_ token: String, at now: Int64) -> TokenPlace {
        TokenPlace(token: token, acceptedAt: now, firstAt: now)
    }
}

/// Whether there is room for more.
extension Step {
    /// An end always fits, and so does an update that replaces what waits.
    private func fits(_ command: Command, _ part: ArraySlice<String>, _ run: RunRecord) throws(StoreError)
        -> Bool
    {
        guard command.kind != .end else { return true }
        let isKnown = try message(command.sequence) != nil
        let bytes = isKnown ? 0 : command.payload.byteCount
        guard
            memory.isFull(
                command.application, rows: try newRows(command, part, run, exactly: false), bytes: bytes)
        else { return true }
        guard command.kind == .update else { return false }
        return try newRows(command, part, run, exactly: true) == 0
    }

    /// How many rows would be added that replace none.
    private func newRows(
        _ command: Command, _ part: ArraySlice<String>, _ run: RunRecord, exactly: Bool
    ) throws(StoreError) -> Int {
        switch command.audience {
        case .activity: return max(0, run.fields.receivers - run.waiting)
        case .token(let token):
            guard exactly else { return 1 }
            let holders = try ledger.participants(command.application, token: token)
            return holders.contains { $0.waiting != nil } ? 0 : 1
        case .filter, .devices, .users:
            guard exactly else { return part.count }
            var fresh = 0
            for hwid in part {
                guard let device = try ledger.device(command.application, hwid: hwid),
                    let participant = try ledger.participant(run: run.number, device: device.number),
                    participant.waiting != nil
                else {
                    fresh += 1
                    continue
                }
            }
            return fresh
        }
    }
}
