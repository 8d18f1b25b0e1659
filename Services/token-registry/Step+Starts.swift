import Contracts
import Service
import Store

/// Starts: which phones can be started, and what the others get.
extension Step {
    /// Adds a start's row for a device.
    func start(_ message: MessageRecord, _ run: RunRecord, _ device: Device, type: String, fallback: Bool)
        throws(StoreError)
    {
        let id = PushID(message: message.number, device: device.number)
        guard run.end == nil else {
            return try settle(
                add(message, device: device.number, participant: 0), .superseded, Cause.ended)
        }
        let known = try participant(run: run.number, device: device.number)
        guard known == nil || known?.state == .starting else {
            return try settle(
                add(message, device: device.number, participant: 0), .superseded, Cause.alreadyRunning)
        }
        guard device.canBeStarted else {
            return try alert(message, device, canFallBack: fallback)
        }
        guard try startToken(id, message, device, type: type) != nil else {
            return try settle(
                add(message, device: device.number, participant: 0), .unreachable, Cause.noStartToken)
        }
        let participant: Participant
        if let known {
            participant = known
        } else {
            participant = try addParticipant(run, device: device.number, state: .starting)
        }
        let row = add(message, device: device.number, participant: participant.number)
        try schedule(row, participant, device)
    }

    /// Gives a phone that cannot be started an ordinary alert.
    private func alert(_ message: MessageRecord, _ device: Device, canFallBack: Bool) throws(StoreError) {
        let row = add(message, device: device.number, participant: 0)
        guard canFallBack, device.pushToken != nil else {
            return try settle(row, .unreachable, Cause.noStartToken)
        }
        try placeAlert(row, message, device)
    }

    /// Lets an alert's row wait for its time.
    func placeAlert(_ row: Delivery, _ message: MessageRecord, _ device: Device) throws(StoreError) {
        row.place = nil
        row.state = .waiting
        if message.isCancelled { return try settle(row, .cancelled, nil) }
        if message.isExpired(at: now.wall) { return try settle(row, .expired, nil) }
        row.at = max(now.wall, row.notBefore)
        row.place = try place(of: message, device)
    }

    /// The token that a start goes to: the one that was named, else the device's for the type.
    func startToken(_ id: PushID, _ message: MessageRecord, _ device: Device, type: String)
        throws(StoreError) -> String?
    {
        if device.isUnregistered { return nil }
        if let named = message.token {
            let places = try ledger.startPlaces(message.application, token: named)
            if let place = places.first(where: { $0.device == id.device }) { return place.place.usable }
        }
        return try ledger.startToken(device: id.device, type: type)
    }

    /// A device's start is no longer out: the next one that waited for it may go.
    func releaseStart(_ row: Delivery, _ device: Device) throws(StoreError) {
        guard device.startHanded == row.id.message else { return }
        device.startHanded = nil
        while let next = try ledger.takeStartWait(device: device.number) {
            guard let waiting = try delivery(PushID(message: next, device: device.number)), waiting.isOpen,
                !waiting.isOut, waiting.place == nil, let participant = try participant(waiting.participant)
            else { continue }
            try schedule(waiting, participant, device)
            if waiting.place != nil { return }
        }
    }

    /// When a device's budget lets one more start go, milliseconds since 1970.
    func startSlot(_ device: Device) -> Int64 {
        let settings = memory.settings(device.application)
        let others = Int64(max(settings.startBurst, 1) - 1)
        return device.startFullAt - others * settings.startRefillSeconds * 1000
    }

    /// Notes in a device's budget that a start went out.
    func countStart(_ device: Device, at sentAt: Int64) {
        let refill = memory.settings(device.application).startRefillSeconds * 1000
        device.startFullAt = max(sentAt, device.startFullAt) + refill
    }
}
