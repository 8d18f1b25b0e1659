import Contracts
import Service
import Store

/// Starts: which phones can be started, and what the others get.
extension Step {
    /// Adds a start's rows for recipients; one that has a row already gets no other.
    func start(_ message: MessageRecord, _ run: RunRecord, _ hwids: [String], _ notification: Notification)
        throws(StoreError)
    {
        let type = notification.attributesType ?? ""
        for hwid in hwids {
            let known = try ledger.startCandidate(
                message.application, hwid: hwid, message: message.number, run: run.number, type: type)
            guard let candidate = known else {
                let device = try knownDevice(message.application, hwid: hwid, guestRun: run.number)
                try settle(
                    add(message, device: device.number, participant: 0), .unreachable, Cause.noStartToken)
                continue
            }
            let device = adopt(candidate.device)
            let id = PushID(message: message.number, device: device.number)
            guard !candidate.hasRow, !isAtHand(id) else { continue }
            let token = device.isUnregistered ? nil : candidate.token
            try start(message, run, device, token, candidate.participant, notification)
        }
    }

    /// Adds a start's row for a device.
    func start(
        _ message: MessageRecord, _ run: RunRecord, _ device: Device, _ token: String?, _ known: Int64?,
        _ notification: Notification
    ) throws(StoreError) {
        func refuse(_ outcome: Outcome, _ cause: String) throws(StoreError) {
            try settle(add(message, device: device.number, participant: 0), outcome, cause)
        }
        guard run.end == nil else { return try refuse(.superseded, Cause.ended) }
        let former = if let known { try participant(known) } else { Participant?.none }
        guard former == nil || former?.state == .starting else {
            return try refuse(.superseded, Cause.alreadyRunning)
        }
        guard device.canBeStarted else {
            return try alert(message, device, canFallBack: notification.fallback != nil)
        }
        guard token != nil else {
            return try refuse(
                .unreachable, causeOfNoStart(device, type: notification.attributesType ?? ""))
        }
        let starting: Participant
        if let former {
            starting = former
        } else {
            starting = try addParticipant(
                run, device: device.number, state: .starting,
                listens: try listens(device, run, notification))
        }
        let row = add(message, device: device.number, participant: starting.number)
        try schedule(row, starting, device)
    }

    /// Why there is no token that starts an activity of a type on a device.
    func causeOfNoStart(_ device: Device, type: String) throws(StoreError) -> String {
        guard !device.isUnregistered else { return Cause.noStartToken }
        for type in type.isEmpty ? [type] : [type, ""] {
            guard let place = try ledger.startPlace(device: device.number, type: type)?.place,
                place.token != nil, let cause = place.state.cause
            else { continue }
            return cause
        }
        return Cause.noStartToken
    }

    /// Gives a phone that cannot be started an ordinary alert.
    private func alert(_ message: MessageRecord, _ device: Device, canFallBack: Bool) throws(StoreError) {
        let row = add(message, device: device.number, participant: 0)
        guard canFallBack, device.usablePushToken != nil else {
            return try settle(row, .unreachable, canFallBack ? device.causeOfNoAlert : Cause.noStartToken)
        }
        try placeAlert(row, message, device)
    }

    /// Lets an alert's row wait for its time.
    func placeAlert(_ row: Delivery, _ message: MessageRecord, _ device: Device) throws(StoreError) {
        row.place = nil
        row.state = .waiting
        if message.isCancelled { return try settle(row, .cancelled, nil) }
        if message.isExpired(at: now.wall) { return try settle(row, .expired, nil) }
        row.at = max(now.wall, row.earliest)
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

    /// A start that ends while it waits for another one of its device waits no more.
    func forgetStartWait(_ row: Delivery) throws(StoreError) {
        guard row.saved != nil, row.state == .waiting, row.place == nil else { return }
        try ledger.removeStartWait(device: row.id.device, message: row.id.message)
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
