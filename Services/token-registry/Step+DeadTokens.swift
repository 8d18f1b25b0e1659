import Contracts
import Service
import Store

/// Tokens that APNs refuses.
extension Step {
    /// APNs called a token dead: it is used no more, unless it was registered since.
    ///
    /// What was meant for it goes to another token, if there is one by now.
    func retire(
        _ token: String, _ row: Delivery, _ message: MessageRecord, _ participant: Participant?,
        _ device: Device, _ report: Report
    ) throws(StoreError) {
        let handedAt = try handedAt(row)
        let death = TokenDeath(
            token: token, diedAt: report.apnsTimestampMilliseconds ?? handedAt, handedAt: handedAt,
            tokenSequence: row.tokenSequence, toldAt: now.wall)
        guard let participant else {
            try retirePushTokens(death, message.application)
            return try conclude(row, .failed, report.reason)
        }
        if message.kind == .start {
            try retireStartTokens(death, message.application)
            guard try otherStartToken(than: token, row, message, device) else {
                return try conclude(row, .failed, report.reason)
            }
            row.reason = report.reason
            return try waitAgain(row, message, participant, device, notBefore: 0, wasTried: false)
        }
        try retireMoved(death, from: participant, message.application)
        if participant.place.token == token {
            guard death.ends(participant.place) else { return try conclude(row, .failed, report.reason) }
            try retire(participant, message.application, death)
            try conclude(row, .failed, report.reason)
            return try end(participant, Cause.tokenDied)
        }
        guard participant.place.usable != nil else { return try conclude(row, .failed, report.reason) }
        row.reason = report.reason
        try waitAgain(row, message, participant, device, notBefore: 0, wasTried: false)
    }

    private func retire(_ participant: Participant, _ application: String, _ death: TokenDeath)
        throws(StoreError)
    {
        participant.place.die(at: death.instant(of: participant.place))
        try say(
            .tokenDied, application: application, token: participant.place.token, run: participant.run,
            registration: participant.place.sequence)
    }

    /// Retires an update token wherever it has moved to since the push went to it.
    private func retireMoved(_ death: TokenDeath, from participant: Participant, _ application: String)
        throws(StoreError)
    {
        for fields in try ledger.participants(application, token: death.token)
        where fields.number != participant.number {
            let holder = adopt(fields)
            guard holder.place.token == death.token, holder.place.state != .dead, death.ends(holder.place)
            else { continue }
            try retire(holder, application, death)
            try end(holder, Cause.tokenDied)
        }
    }

    private func retirePushTokens(_ death: TokenDeath, _ application: String) throws(StoreError) {
        for number in try ledger.devices(application, pushToken: death.token) {
            guard let device = try device(number), device.pushToken == death.token,
                device.pushAcceptedAt <= death.diedAt
            else { continue }
            device.pushState = .dead
            device.pushDiedAt = max(device.pushDiedAt, death.diedAt)
        }
    }

    private func retireStartTokens(_ death: TokenDeath, _ application: String) throws(StoreError) {
        for var start in try ledger.startPlaces(application, token: death.token)
        where start.place.state != .dead && death.ends(start.place) {
            start.place.die(at: death.instant(of: start.place))
            try ledger.save(start)
            try say(
                .tokenDied, application: application, token: death.token, run: nil,
                registration: start.place.sequence)
        }
    }

    private func otherStartToken(
        than token: String, _ row: Delivery, _ message: MessageRecord, _ device: Device
    ) throws(StoreError) -> Bool {
        let type = try content(message.number)?.notification.attributesType ?? ""
        guard let other = try startToken(row.id, message, device, type: type) else { return false }
        return other != token
    }

    /// Sets the tokens aside that were refused since the last success: they were the fault, not the configuration.
    func setAside(_ gate: Gate) throws(StoreError) {
        let application = gate.pause.application
        try flush()
        for (token, notedAt) in try ledger.takeBadTokens(gate.pause) {
            for fields in try ledger.participants(application, token: token) {
                let participant = adopt(fields)
                guard participant.place.state == .live, participant.place.acceptedAt <= notedAt else {
                    continue
                }
                participant.place.state = .aside
            }
            for var start in try ledger.startPlaces(application, token: token)
            where start.place.state == .live && start.place.acceptedAt <= notedAt {
                start.place.state = .aside
                try ledger.save(start)
            }
            for number in try ledger.devices(application, pushToken: token) {
                guard let device = try device(number), device.pushState == .live,
                    device.pushAcceptedAt <= notedAt
                else { continue }
                device.pushState = .aside
            }
        }
    }
}

/// What APNs says with a 410, and what it was told of.
private struct TokenDeath {
    let token: String
    /// When APNs learned of it, milliseconds since 1970.
    let diedAt: Int64
    /// When the push was handed over that it answers, milliseconds since 1970.
    let handedAt: Int64
    /// The sequence of the token's registration then; 0 if not known.
    let tokenSequence: Int64
    /// When the registry learned of it, milliseconds since 1970.
    let toldAt: Int64

    /// After how many milliseconds APNs surely knows of a registration, though its clock may be another.
    private static let certainMilliseconds: Int64 = 300_000

    /// Whether it is the registration of a place that ended, and not one before.
    ///
    /// A later registration than the death is a new life of the token, if the instants can be compared: our clock may
    /// have been set back since the door accepted it, or be ahead of APNs'. What went to the token five minutes after its
    /// registration and is refused went to a dead one, whatever the clocks say.
    func ends(_ place: TokenPlace) -> Bool {
        if place.registeredAt <= diedAt { return true }
        // Registered before the push was handed over: no clock is needed to know that.
        guard place.sequence <= tokenSequence else { return false }
        return place.acceptedAt > toldAt || handedAt - place.acceptedAt >= TokenDeath.certainMilliseconds
    }

    /// When the token of a place died, so that to repeat its registration does not bring it back.
    func instant(of place: TokenPlace) -> Int64 { max(diedAt, min(place.registeredAt, toldAt)) }
}
