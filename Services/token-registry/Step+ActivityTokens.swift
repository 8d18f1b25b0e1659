import Contracts
import Service
import Store

/// Update tokens: they make participants, move what waits, and end it when they are taken back.
extension Step {
    /// Takes an update token in; empty says that the person dismissed the activity.
    func write(_ token: ActivityToken, _ registration: Registration) throws(StoreError) {
        let run = try knownRun(
            token.run, registration.application, token.activity, at: registration.acceptedAtMilliseconds)
        let device = try knownDevice(registration.application, hwid: registration.device, guestRun: nil)
        device.guestRun = nil
        let participant = try participant(run: token.run, device: device.number)
        // Also where the token is ignored: the door has accepted it, and takes no fact that rests on less.
        if registration.sequence > run.registration {
            run.registration = registration.sequence
            run.isEmptySaid = false
        }
        if let place = participant?.place,
            !place.accepts(sequence: registration.sequence, clientSeconds: token.registeredAtSeconds)
        {
            return try sayStillDead(token.token, place, registration)
        }
        guard try !isOver(run, participant) else {
            if let participant, participant.end != nil, participant.place.token == token.token {
                // The door has counted this registration, and takes no word about the token that rests on an earlier one.
                try say(
                    .participantEnded, application: registration.application, token: token.token,
                    run: run.number, registration: registration.sequence)
            }
            return emit(
                .log(
                    LogLine(
                        .info, "token-ignored", [("run", "\(run.number)"), ("why", "the run has ended")])))
        }
        if token.token.isEmpty {
            try dismiss(participant, run, device, token, registration)
        } else {
            try activate(participant, run, device, token, registration)
        }
    }

    /// A run, made when it is first met.
    func knownRun(_ number: Int64, _ application: String, _ activity: String, at began: Int64)
        throws(StoreError) -> RunRecord
    {
        if let known = try run(number) { return known }
        let removesAt = began + memory.settings(application).removeSeconds * 1000
        return add(
            RunRecord(
                new: RunFields(
                    number: number, application: application, activity: activity, startedAt: began,
                    removesAt: removesAt)))
    }

    /// Whether no token of a run counts any more.
    ///
    /// The door gives a run no tokens once it knows that its end is settled. One that it accepted before, and that
    /// comes only now, still has a phone behind it that shows the activity: it gets the end.
    private func isOver(_ run: RunRecord, _ participant: Participant?) throws(StoreError) -> Bool {
        if now.wall >= run.startedAt + memory.settings(run.application).activeSeconds * 1000 { return true }
        guard let participant, participant.state == .ended, let end = participant.end else { return false }
        guard let row = try delivery(PushID(message: end, device: participant.device)) else { return true }
        return !hadNoToken(row)
    }

    private func dismiss(
        _ participant: Participant?, _ run: RunRecord, _ device: Device, _ token: ActivityToken,
        _ registration: Registration
    ) throws(StoreError) {
        guard let participant else {
            var place = TokenPlace()
            place.register("", registration, clientSeconds: token.registeredAtSeconds)
            _ = try addParticipant(run, device: device.number, state: .ended, place: place)
            return
        }
        let first = participant.place.firstAt
        let isEarly = registration.acceptedAtMilliseconds - first < limits.dismissalGraceMilliseconds
        if first > 0, isEarly, try ledger.tookPartBefore(run.fields, device: device.number) {
            return emit(
                .log(
                    LogLine(
                        .info, "token-ignored",
                        [("run", "\(run.number)"), ("why", "the run before was dismissed")])))
        }
        try end(participant, Cause.dismissed, registration: registration.sequence)
        participant.place.register("", registration, clientSeconds: token.registeredAtSeconds)
    }

    private func activate(
        _ known: Participant?, _ run: RunRecord, _ device: Device, _ token: ActivityToken,
        _ registration: Registration
    ) throws(StoreError) {
        let holders = try ledger.participants(registration.application, token: token.token).map(adopt)
            .filter { $0.place.token == token.token }
        var place = known?.place ?? TokenPlace()
        place.register(token.token, registration, clientSeconds: token.registeredAtSeconds)
        let died = try ignoreDead(
            token.token, holders.map(\.place), run: known == nil ? run.number : nil, registration,
            clientSeconds: token.registeredAtSeconds)
        if let died {
            guard known == nil else { return }
            // The door has begun a run with it, which nobody takes part in.
            place.die(at: died)
            return _ = try addParticipant(run, device: device.number, state: .ended, place: place)
        }
        let wasRefused = holders.contains { $0.place.state != .live }
        let others = holders.filter { $0.number != known?.number }
        let former = try pace(of: others)
        for other in others { try takeToken(from: other) }
        if wasRefused { try sayLives(token.token, registration) }
        if known?.place.token == nil { try makeRoomForActivity(of: device) }
        guard let participant = known else {
            let participant = try addParticipant(run, device: device.number, state: .active, place: place)
            participant.pace.follow(former)
            if let end = try end(of: run) { try giveEnd(end, to: participant, device) }
            return
        }
        participant.pace.follow(former)
        try leaveChannel(participant)
        let tokenBefore = participant.place.usable
        participant.place = place
        if participant.state == .ended { try comeBack(participant, run, device) }
        participant.state = .active
        if tokenBefore != token.token { try retarget(participant) }
        try goOn(participant, run, device)
    }

    /// What has gone to a token under the names of those who held it, or may have: of what is handed over nobody knows yet.
    private func pace(of holders: [Participant]) throws(StoreError) -> Pace {
        var pace = Pace()
        for holder in holders {
            pace.follow(holder.pace)
            guard let handed = holder.handed, let message = try message(handed), message.kind != .start
            else { continue }
            pace.lastOrder = max(pace.lastOrder ?? message.order, message.order)
        }
        return pace
    }

    /// Ends the oldest activity of a device that holds as many tokens as it may.
    private func makeRoomForActivity(of device: Device) throws(StoreError) {
        let oldest = try ledger.participant(device: device.number, behind: limits.activitiesPerDeviceMax - 1)
        guard let oldest else { return }
        try takeToken(from: adopt(oldest))
    }

    /// A token has moved to another device or run: whoever had it has none, and ends.
    func takeToken(from participant: Participant) throws(StoreError) {
        participant.place.token = nil
        try end(participant, Cause.tokenTaken)
    }

    /// Sends what is handed over to the new token.
    private func retarget(_ participant: Participant) throws(StoreError) {
        guard let handed = participant.handed, let token = participant.place.usable,
            let message = try message(handed), message.kind != .start,
            let row = try delivery(PushID(message: handed, device: participant.device)), row.isOut
        else { return }
        let retarget = Retarget(id: row.id, attempt: row.attempt, token: token)
        emit(.send(.retarget(retarget), to: .instance(InstanceName(.rateLimiter, row.limiter))))
    }
}

/// APNs' reasons that speak of the token, not of the push.
enum TokenFault {
    static let bad = "BadDeviceToken"

    /// Apple, Handling notification responses from APNs: both come with 410.
    static func isDead(_ report: Report) -> Bool {
        report.status == 410 || report.reason == "Unregistered" || report.reason == "ExpiredToken"
    }

    static func isFault(_ reason: String?) -> Bool {
        reason == bad || reason == "Unregistered" || reason == "ExpiredToken"
    }
}
