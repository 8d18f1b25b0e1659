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
        let diedAt = report.apnsTimestampMilliseconds ?? handedAt
        guard let participant else {
            try retirePushTokens(token, message.application, diedAt)
            return try conclude(row, .failed, report.reason)
        }
        if message.kind == .start {
            try retireStartTokens(token, message.application, diedAt)
            guard try otherStartToken(than: token, row, message, device) else {
                return try conclude(row, .failed, report.reason)
            }
            row.reason = report.reason
            return try waitAgain(row, message, participant, device, notBefore: 0, wasTried: false)
        }
        try retireMoved(token, from: participant, message.application, diedAt)
        if participant.place.token == token {
            guard participant.place.registeredAt <= diedAt else {
                return try conclude(row, .failed, report.reason)
            }
            try retire(participant, message.application, diedAt)
            try conclude(row, .failed, report.reason)
            return try end(participant, Cause.tokenDied)
        }
        guard participant.place.usable != nil else { return try conclude(row, .failed, report.reason) }
        row.reason = report.reason
        try waitAgain(row, message, participant, device, notBefore: 0, wasTried: false)
    }

    private func retire(_ participant: Participant, _ application: String, _ diedAt: Int64)
        throws(StoreError)
    {
        participant.place.die(at: diedAt)
        try say(
            .tokenDied, application: application, token: participant.place.token, run: participant.run,
            registration: participant.place.sequence)
    }

    /// Retires an update token wherever it has moved to since the push went to it.
    private func retireMoved(
        _ token: String, from participant: Participant, _ application: String, _ diedAt: Int64
    ) throws(StoreError) {
        for fields in try ledger.participants(application, token: token)
        where fields.number != participant.number {
            let holder = adopt(fields)
            guard holder.place.token == token, holder.place.state != .dead,
                holder.place.registeredAt <= diedAt
            else { continue }
            try retire(holder, application, diedAt)
            try end(holder, Cause.tokenDied)
        }
    }

    private func retirePushTokens(_ token: String, _ application: String, _ diedAt: Int64) throws(StoreError)
    {
        for number in try ledger.devices(application, pushToken: token) {
            guard let device = try device(number), device.pushToken == token, device.pushAcceptedAt <= diedAt
            else { continue }
            device.pushState = .dead
            device.pushDiedAt = max(device.pushDiedAt, diedAt)
        }
    }

    private func retireStartTokens(_ token: String, _ application: String, _ diedAt: Int64) throws(StoreError)
    {
        for var start in try ledger.startPlaces(application, token: token)
        where start.place.state != .dead && start.place.registeredAt <= diedAt {
            start.place.die(at: diedAt)
            try ledger.save(start)
            try say(
                .tokenDied, application: application, token: token, run: nil,
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
