import Contracts
import Service
import Store

/// What became of hand-overs.
extension Step {
    /// Takes a report in; one of a hand-over that is over changes nothing, unless it says `delivered`.
    func take(_ report: Report, from sender: Sender) throws(StoreError) {
        emit(
            .send(
                .noted(Noted([.report(report.id, attempt: report.attempt)])), to: .instance(sender.instance)))
        guard let row = try delivery(report.id), let message = try message(report.id.message),
            message.application == report.application
        else { return ignore(.report) }
        let participant = row.participant == 0 ? nil : try participant(row.participant)
        let device = try device(row.id.device)
        let isCurrent = row.isOut && row.attempt == report.attempt
        let isNews = isCurrent || report.result == .delivered && row.state != .delivered
        guard isNews, let device else { return ignore(.report) }
        let told = report
        var report = report
        if let sentAt = report.sentAtMilliseconds {
            report.sentAtMilliseconds = try byThisClock(sentAt, isCurrent ? row : nil)
        }
        let former = row.reason
        if isCurrent { try release(row, participant, device, trialFailed: Step.isOfFault(report)) }
        try note(report, row, participant)
        try weigh(told, formerReason: former)
        switch report.result {
        case .delivered: try deliver(row, message, participant, device, report)
        case _ where !row.isOpen: break
        case .retry: try waitAgain(row, message, participant, device, report)
        case .failed: try fail(row, message, participant, device, report)
        case .expired: try conclude(row, .expired, report.reason)
        case .superseded: try conclude(row, .superseded, Cause.newerState)
        }
        if let participant { try next(participant, device) }
    }

    /// When a push was sent, by the clock as it stands now.
    ///
    /// An instant that cannot be, ahead of us or before the row was handed over, was told by a clock that was set since; the
    /// push counts as sent just now then, so that the next one surely comes no sooner than its pace.
    private func byThisClock(_ sentAt: Int64, _ row: Delivery?) throws(StoreError) -> Int64 {
        if let row, try sentAt < handedAt(row) { return now.wall }
        return min(sentAt, now.wall)
    }

    /// Ends a row, of a participant or an alert.
    func conclude(_ row: Delivery, _ outcome: Outcome, _ reason: String?) throws(StoreError) {
        try finish(row, outcome, reason)
    }

    /// Takes a row back from whoever had it.
    ///
    /// - Parameters:
    ///   - row: what was handed over.
    ///   - participant: whose it is; nil for an alert.
    ///   - device: the phone.
    ///   - trialFailed: whether it has met a fault that pauses, if it was a trial.
    /// - Throws: `StoreError` if the ledger fails.
    func release(_ row: Delivery, _ participant: Participant?, _ device: Device, trialFailed: Bool = false)
        throws(StoreError)
    {
        row.place = nil
        if row.isTrial { try forgetTrial(row, hasFailed: trialFailed) }
        row.isTrial = false
        if row.isOpen { row.state = .waiting }
        if participant?.handed == row.id.message { participant?.handed = nil }
        if let participant { try countBack(row, participant) }
        try releaseStart(row, device)
    }

    /// Remembers what stood on the wire.
    private func note(_ report: Report, _ row: Delivery, _ participant: Participant?) throws(StoreError) {
        if let sentAt = report.sentAtMilliseconds { row.sentAt = max(row.sentAt, sentAt) }
        guard let wire = report.wireTimestampSeconds else { return }
        row.wireSeconds = wire
        guard let participant else { return }
        participant.pace.lastWireSeconds = max(participant.pace.lastWireSeconds, wire)
        try noteForChannel(participant, wireSeconds: wire)
    }

    /// Lets what waited for a report find its place.
    private func next(_ participant: Participant, _ device: Device) throws(StoreError) {
        try broadcastNext(participant)
        guard participant.handed == nil, let waiting = participant.waiting,
            let row = try delivery(PushID(message: waiting, device: participant.device)), row.isOpen
        else { return }
        try schedule(row, participant, device)
    }

    // MARK: Delivered

    private func deliver(
        _ row: Delivery, _ message: MessageRecord, _ participant: Participant?, _ device: Device,
        _ report: Report
    ) throws(StoreError) {
        let sentAt = report.sentAtMilliseconds ?? now.wall
        if let participant {
            count(row, message, participant, device, report, at: sentAt)
        }
        try conclude(row, .delivered, nil)
        guard let participant, message.kind == .start else { return }
        if participant.listens == true { try hear(participant) } else { try revive(participant, device) }
    }

    /// Commits the pace.
    private func count(
        _ row: Delivery, _ message: MessageRecord, _ participant: Participant, _ device: Device,
        _ report: Report, at sentAt: Int64
    ) {
        let wire = report.wireTimestampSeconds ?? sentAt / 1000
        participant.sentAt = max(participant.sentAt ?? 0, sentAt)
        guard message.kind == .start else {
            return participant.pace.sent(
                atMilliseconds: sentAt, priority: report.priority ?? row.priority,
                intervalMilliseconds: memory.interval(device.fields), order: message.order, wireSeconds: wire)
        }
        participant.pace.lastOrder = max(participant.pace.lastOrder ?? message.order, message.order)
        participant.pace.lastWireSeconds = max(participant.pace.lastWireSeconds, wire)
        countStart(device, at: sentAt)
    }

    /// Brings back a participant whose start was given up, and went out after all.
    private func revive(_ participant: Participant, _ device: Device) throws(StoreError) {
        guard participant.state == .ended, participant.end == nil, participant.place.sequence == 0,
            let run = try run(participant.run), run.end == nil
        else { return }
        try comeBack(participant, run, device)
    }

    // MARK: Once more

    /// How often every instance says what is paused, in milliseconds.
    private static let helloMilliseconds: Int64 = 1_000
    private static let notSent: Set<String> = ["paused", "send-before", "not-sent", "no-key"]

    /// APNs' reason for wanting fewer pushes to one token.
    static let tooMany = "TooManyRequests"

    /// Whether trouble is that of one push, so that a newer one may be tried before it is waited out.
    private static func isOfPush(_ report: Report) -> Bool {
        guard let status = report.status else { return report.reason == "no-answer" }
        return status >= 500 || report.reason == tooMany || report.reason == "IdleTimeout"
    }

    /// Lets a row wait again, or what came meanwhile in its place.
    private func waitAgain(
        _ row: Delivery, _ message: MessageRecord, _ participant: Participant?, _ device: Device,
        _ report: Report
    ) throws(StoreError) {
        let wasTried = report.sentAtMilliseconds != nil || !Step.notSent.contains(report.reason ?? "")
        if report.status == nil, wasTried { doubt(row, message, participant) }
        // That it is paused is true of its application, and no longer than that lasts.
        if report.reason != "paused" { row.reason = report.reason }
        var notBefore = report.retryAtMilliseconds ?? now.wall
        if Step.isOfPush(report) {
            row.retryAt = notBefore
            notBefore = 0
        }
        // Who gave it back may not have heard yet that the pause is over; it is told so each second.
        if report.reason == "paused" { notBefore = max(notBefore, now.wall + Step.helloMilliseconds) }
        try waitAgain(row, message, participant, device, notBefore: notBefore, wasTried: wasTried)
    }

    /// Remembers that a push may be on the phone: nothing older may follow it.
    private func doubt(_ row: Delivery, _ message: MessageRecord, _ participant: Participant?) {
        row.isUnsure = true
        guard let participant else { return }
        participant.pace.lastOrder = max(participant.pace.lastOrder ?? message.order, message.order)
    }

    func waitAgain(
        _ row: Delivery, _ message: MessageRecord, _ participant: Participant?, _ device: Device,
        notBefore: Int64, wasTried: Bool
    ) throws(StoreError) {
        row.notBefore = max(row.notBefore, notBefore)
        if message.isCancelled { return try conclude(row, .cancelled, nil) }
        if message.expirationSeconds == 0, wasTried { return try conclude(row, .failed, row.reason) }
        guard let participant else { return try placeAlert(row, message, device) }
        if message.kind == .start {
            return try startAgain(row, participant, device)
        }
        if participant.state == .ended {
            return try conclude(row, .unreachable, participant.place.causeOfEnd)
        }
        if let waiting = participant.waiting,
            let newer = try delivery(PushID(message: waiting, device: device.number)),
            let newest = try self.message(waiting)
        {
            try absorb(row, into: newer, newest)
            inherit(from: row, newer, newest, device)
            return try conclude(row, .superseded, Cause.newerState)
        }
        try setWaiting(participant, message.number)
        try schedule(row, participant, device)
    }

    /// Lets a start wait again, unless the end of its activity has come meanwhile.
    private func startAgain(_ row: Delivery, _ participant: Participant, _ device: Device) throws(StoreError)
    {
        guard participant.end == nil else {
            return row.isUnsure
                ? try settle(row, .superseded, Cause.ended) : try finish(row, .superseded, Cause.ended)
        }
        try schedule(row, participant, device)
    }

    // MARK: Never

    private func fail(
        _ row: Delivery, _ message: MessageRecord, _ participant: Participant?, _ device: Device,
        _ report: Report
    ) throws(StoreError) {
        // A refusal of the provider, however it was judged on the way, is no fault of the delivery.
        if report.status == 403, !Step.isOfChannel(report) {
            return try waitAgain(
                row, message, participant, device, notBefore: report.retryAtMilliseconds ?? now.wall,
                wasTried: message.expirationSeconds == 0)
        }
        guard TokenFault.isDead(report), let token = report.token else {
            return try conclude(row, .failed, report.reason)
        }
        try retire(token, row, message, participant, device, report)
    }

    // MARK: Lost

    /// Instances are gone: what they had waits until nothing of it can be on its way any more.
    func lose(_ keys: [CustodyKey], _ reason: LossReason) throws(StoreError) {
        guard reason == .gone else { return }
        for case .push(let id, let attempt) in keys {
            guard let row = try delivery(id), row.isOut, row.attempt == attempt else { continue }
            try lose(row)
        }
    }

    func lose(_ row: Delivery) throws(StoreError) {
        guard let message = try message(row.id.message), let device = try device(row.id.device) else {
            return
        }
        let participant = row.participant == 0 ? nil : try participant(row.participant)
        let settings = memory.settings(message.application)
        let silentFrom = row.sendBefore + settings.answerDeadlineSeconds * 1000
        try release(row, participant, device)
        if let participant { try holdChannel(participant, until: silentFrom) }
        if row.isOpen {
            doubt(row, message, participant)
            // Nobody can say what stood on its wire: where the clock was ahead before, the second after the last one.
            if let participant, participant.pace.lastWireSeconds > 0 { participant.pace.lastWireSeconds += 1 }
            row.reason = "instance-lost"
            try waitAgain(
                row, message, participant, device,
                notBefore: silentFrom, wasTried: true)
        }
        if let participant { try next(participant, device) }
    }
}
