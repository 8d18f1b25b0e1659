import Contracts
import Service
import Store

/// Updates and ends meet their participants: the newest state waits, whatever it replaces is superseded.
extension Step {
    /// Adds a message's row for a participant and finds its place.
    func offer(_ message: MessageRecord, to participant: Participant, _ device: Device) throws(StoreError) {
        let row = add(message, device: device.number, participant: participant.number)
        if message.kind == .end { return try offerEnd(row, message, participant, device) }
        if let (outcome, cause) = try refusal(message, participant) {
            return try settle(row, outcome, cause)
        }
        if let waiting = participant.waiting,
            let other = try delivery(PushID(message: waiting, device: device.number)),
            let newer = try self.message(waiting), newer.order > message.order
        {
            try absorb(row, into: other, newer)
            try settle(row, .superseded, Cause.newerState)
            return try schedule(other, participant, device)
        }
        try replaceWaiting(of: participant, with: row, message, device)
        try schedule(row, participant, device)
    }

    /// Why an update does not even wait.
    private func refusal(
        _ message: MessageRecord, _ participant: Participant
    ) throws(StoreError) -> (Outcome, String?)? {
        let run = try run(participant.run)
        if participant.end != nil || run?.end != nil { return (.superseded, Cause.ended) }
        if participant.state == .ended { return (.unreachable, participant.place.causeOfEnd) }
        let settings = memory.settings(message.application)
        if let run, message.acceptedAt >= run.startedAt + settings.activeSeconds * 1000 {
            return (.expired, Cause.activityOver)
        }
        if message.isExpired(at: now.wall) { return (.expired, nil) }
        if let last = participant.pace.lastOrder, message.order < last {
            return (.superseded, Cause.newerState)
        }
        if let handed = participant.handed, let other = try self.message(handed), other.kind != .start,
            other.order > message.order
        {
            return (.superseded, Cause.newerState)
        }
        // Where the last push was delivered there is nothing that its token did not take.
        if participant.outcome != Outcome.delivered.rawValue,
            let (_, newest) = try newestForToken(of: participant), newest.order > message.order
        {
            return (.superseded, Cause.newerState)
        }
        return nil
    }

    private func offerEnd(
        _ row: Delivery, _ message: MessageRecord, _ participant: Participant, _ device: Device
    ) throws(StoreError) {
        let runEnd = try run(participant.run)?.end ?? message.number
        guard participant.end == nil, runEnd == message.number else {
            return try settle(row, .superseded, Cause.ended)
        }
        guard participant.state != .ended else {
            return try settle(row, .unreachable, participant.place.causeOfEnd)
        }
        participant.end = message.number
        try replaceWaiting(of: participant, with: row, message, device)
        if participant.state == .starting { try withdrawStart(of: participant) }
        guard row.isOpen else { return }
        try schedule(row, participant, device)
    }

    /// Settles a start that nobody has sent, as its end has come; the end then has nobody to go to.
    func withdrawStart(of participant: Participant) throws(StoreError) {
        guard let start = try run(participant.run)?.start,
            let row = try delivery(PushID(message: start, device: participant.device)), row.isOpen, !row.isOut
        else { return }
        if row.isUnsure {
            // It may be on the phone, and must not come twice; the end waits for the token.
            try settle(row, .superseded, Cause.ended)
        } else {
            try finish(row, .superseded, Cause.ended)
        }
    }

    /// Lets a row wait for a participant in the place of what waited before.
    private func replaceWaiting(
        of participant: Participant, with row: Delivery, _ message: MessageRecord, _ device: Device
    ) throws(StoreError) {
        if let waiting = participant.waiting,
            let other = try delivery(PushID(message: waiting, device: participant.device))
        {
            try absorb(other, into: row, message)
            inherit(from: other, row, message, device)
            try settle(other, .superseded, Cause.newerState)
        }
        try setWaiting(participant, message.number)
        participant.newest = message.number
        try renewChannel(participant)
    }

    /// Has a newer row wait for what binds the older one, which it replaces.
    ///
    /// Trouble at APNs is waited out by the push that met it. An end goes at once all the same, and an update when the
    /// pace would let it, had that push been delivered; so calls that follow one another do not run against a server
    /// that is out of order. Where APNs wants fewer pushes to this token an end keeps that distance too.
    func inherit(from older: Delivery, _ newer: Delivery, _ message: MessageRecord, _ device: Device) {
        newer.notBefore = max(newer.notBefore, older.notBefore)
        guard message.kind != .end || older.reason == Step.tooMany else { return }
        let paced = older.sentAt == 0 ? .max : older.sentAt + memory.interval(device.fields)
        newer.retryAt = max(newer.retryAt, min(older.retryAt, paced))
    }

    /// Merges an older row into a newer one: the higher priority, and the newest alert that has not expired.
    func absorb(_ older: Delivery, into newer: Delivery, _ message: MessageRecord) throws(StoreError) {
        newer.priority = max(newer.priority, older.priority)
        guard let candidate = older.alert, let alert = try self.message(candidate),
            !alert.isExpired(at: now.wall)
        else { return }
        if let own = newer.alert, let kept = try self.message(own), kept.order > alert.order { return }
        let bytes = message.contentBytes + alert.alertBytes + limits.bodyBytesBesides
        guard bytes <= limits.bodyBytesMax else {
            return emit(.count(Count("alerts_left_out", [("application", message.application)])))
        }
        newer.alert = candidate
    }

    /// Gives an open row the place that it waits in, or its outcome if it need not wait.
    func schedule(_ row: Delivery, _ participant: Participant, _ device: Device) throws(StoreError) {
        guard let message = try message(row.id.message) else { return }
        row.place = nil
        row.state = .waiting
        if message.isCancelled { return try finish(row, .cancelled) }
        if message.isExpired(at: now.wall) { return try finish(row, .expired) }
        if message.kind != .end, let last = participant.pace.lastOrder, message.order < last {
            return try finish(row, .superseded, Cause.newerState)
        }
        if message.kind == .start, participant.state != .starting {
            return try finish(row, .superseded, Cause.alreadyRunning)
        }
        if message.kind == .start, participant.listens == true, try run(participant.run)?.end != nil {
            return try finish(row, .superseded, Cause.ended)
        }
        guard participant.handed == nil, try !mustWaitForStarts(message, participant) else { return }
        if message.kind != .start, participant.place.usable == nil {
            return try hold(row, message, participant)
        }
        let slot = message.kind == .update ? self.slot(row, participant, device) : 0
        let held = participant.place.isChannel ? try run(participant.run)?.channel?.heldUntil ?? 0 : 0
        row.at = max(now.wall, row.earliest, slot - limits.leadMilliseconds, held)
        row.place = try place(of: message, device)
    }

    /// When the pace lets a row go, milliseconds since 1970.
    private func slot(_ row: Delivery, _ participant: Participant, _ device: Device) -> Int64 {
        participant.pace.slotMilliseconds(
            priority: row.priority, intervalMilliseconds: memory.interval(device.fields),
            burst: memory.settings(device.application).burst)
    }

    /// Lets a row wait for a token, if one can come.
    private func hold(_ row: Delivery, _ message: MessageRecord, _ participant: Participant)
        throws(StoreError)
    {
        guard participant.state == .starting else {
            return try finish(row, .unreachable, participant.place.cause)
        }
        let wait = memory.settings(message.application).tokenWaitSeconds * 1000
        if now.wall >= message.acceptedAt + wait { return try finish(row, .unreachable, Cause.noToken) }
        row.state = .held
    }

    /// The queue of a message for a device.
    func place(of message: MessageRecord, _ device: Device) throws(StoreError) -> Int64 {
        let environment = memory.environment(device.fields)
        if message.isFanOut { return Place.fanOut(message: message.number, environment).number }
        return Place.single(application: try number(of: message.application), environment).number
    }

    /// The integer that stands for an application in places.
    private func number(of application: String) throws(StoreError) -> Int64 {
        if let known = memory.applications[application] { return known }
        let number = try ledger.addApplication(application)
        memory.applications[application] = number
        memory.applicationCodes[number] = application
        return number
    }
}
