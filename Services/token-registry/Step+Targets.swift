import Contracts
import Service
import Store

/// What a limiter is told of a row.
extension Step {
    /// The target of a Live Activity push; nil for a start without a token.
    func liveTarget(
        _ row: Delivery, _ message: MessageRecord, _ participant: Participant, _ device: Device
    ) throws(StoreError) -> Target? {
        let content = try content(message.number)
        let isStart = message.kind == .start
        let token =
            isStart
            ? try startToken(row.id, message, device, type: content?.notification.attributesType ?? "")
            : participant.place.usable
        let channel = participant.place.isChannel ? try run(participant.run).flatMap(channel(of:)) : nil
        guard let content, let token else { return nil }
        var target = base(row, message, device, participant.place.isChannel ? "" : token, content)
        target.channel = channel
        target.participant = participant.number
        target.pace = participant.pace
        // A start has a budget of its own and leaves that of the updates alone.
        target.intervalMilliseconds = isStart ? 0 : memory.interval(device.fields)
        target.burst = memory.settings(message.application).burst
        if isStart {
            target.notBeforeMilliseconds = max(row.earliest, startSlot(device))
            target.collapseID = content.notification.collapseID ?? collapseID(message, content)
        }
        return target
    }

    /// The target of an ordinary alert; nil if the device has no push token any more.
    func alertTarget(_ row: Delivery, _ message: MessageRecord, _ device: Device) throws(StoreError)
        -> Target?
    {
        guard let token = device.usablePushToken, let content = try content(message.number) else {
            return nil
        }
        var target = base(row, message, device, token, content)
        target.pushType = .alert
        return target
    }

    private func base(
        _ row: Delivery, _ message: MessageRecord, _ device: Device, _ token: String, _ content: Content
    ) -> Target {
        let isRepeat = row.sentAt > 0 && now.wall - row.sentAt <= limits.repeatMilliseconds
        return Target(
            id: row.id, attempt: row.attempt, participant: 0, order: message.order, token: token,
            environment: memory.environment(device.fields),
            apnsID: content.notification.apnsID ?? Identity.apnsID(row.id, seed: ledger.seed),
            collapseID: content.notification.collapseID, priority: row.priority,
            wireTimestampSeconds: isRepeat ? row.wireSeconds : nil, pace: Pace(), intervalMilliseconds: 0,
            burst: 1, notBeforeMilliseconds: row.earliest, sendBeforeMilliseconds: row.sendBefore,
            trial: row.isTrial)
    }

    private func collapseID(_ message: MessageRecord, _ content: Content) -> String {
        Identity.collapseID(
            application: message.application, activity: content.activity,
            run: message.token == nil ? nil : message.run)
    }

    /// Sends again, as they were, the rows that a former life handed over.
    ///
    /// A limiter that is not there any more cannot say what became of its rows: they wait.
    func resend(_ room: inout Room, _ limit: Int) throws(StoreError) {
        try loseOrphans()
        memory.isResending = false
        guard let after = memory.resendAfter, room.settledServices.contains(.rateLimiter) else { return }
        let living = room.instances(of: .rateLimiter)
        var groups = TargetGroups()
        let page = try ledger.due(
            place: Place.handedOver, through: memory.resendThrough, after: after, limit: limit)
        for due in page {
            let row = adopt(due.delivery)
            let limiter = InstanceName(.rateLimiter, row.limiter)
            let device = adopt(due.device)
            let participant = due.participant.map(adopt)
            guard living.contains(limiter), row.isOpen else {
                try lose(row)
                continue
            }
            guard let target = try targetAsItWas(row, participant, device) else {
                waitForReport(row, device)
                continue
            }
            let account = Pause(application: device.application, environment: target.environment).account
            room.take(1, .targets, at: limiter, account: account)
            try groups.add(target, row, participant, to: limiter, in: self)
        }
        memory.isResending = page.count == limit
        memory.resendAfter = page.count < limit ? nil : page.last.map { ($0.delivery.at, $0.delivery.id) }
        for (limiter, targets) in groups.messages {
            emit(.send(.targets(targets), to: .instance(limiter)))
        }
    }

    /// Waits for the report of a row whose token is gone since: it cannot be sent again as it was, but may be out.
    private func waitForReport(_ row: Delivery, _ device: Device) {
        let deadline = memory.settings(device.application).answerDeadlineSeconds * 1000
        memory.orphans.append((row.sendBefore + deadline, row.id, row.attempt))
    }

    /// Gives up waiting for the reports of such rows, once nothing of them can be on its way any more.
    private func loseOrphans() throws(StoreError) {
        let due = memory.orphans.filter { $0.at <= now.wall }
        guard !due.isEmpty else { return }
        memory.orphans.removeAll { $0.at <= now.wall }
        for orphan in due {
            guard let row = try delivery(orphan.id), row.isOut, row.attempt == orphan.attempt else {
                continue
            }
            try lose(row)
        }
    }

    private func targetAsItWas(_ row: Delivery, _ participant: Participant?, _ device: Device)
        throws(StoreError) -> Target?
    {
        guard let message = try message(row.id.message) else { return nil }
        guard let participant else { return try alertTarget(row, message, device) }
        return try liveTarget(row, message, participant, device)
    }
}

/// Targets on their way to limiters, those that share a push together.
struct TargetGroups {
    private struct Key: Hashable {
        var message: Int64
        var alert: Int64?
        var environment: APNsEnvironment
        var limiter: InstanceName
        var variant: ContentVariant
    }

    private(set) var messages: [(limiter: InstanceName, targets: Targets)] = []
    private var places: [Key: Int] = [:]

    /// The most targets one message carries.
    static let targetsMax = 500

    /// Adds a target with the push that its row names.
    mutating func add(
        _ target: Target, _ row: Delivery, _ participant: Participant?, to limiter: InstanceName,
        in step: Step
    ) throws(StoreError) {
        guard let message = try step.message(row.id.message) else { return }
        let variant = try step.variant(of: row, message, participant)
        let key = Key(
            message: row.id.message, alert: row.alert, environment: target.environment, limiter: limiter,
            variant: variant)
        if let place = places[key], messages[place].targets.targets.count < TargetGroups.targetsMax {
            messages[place].targets.targets.append(target)
            return
        }
        guard let content = try step.content(of: row, variant) else { return }
        var payload = content.payload
        payload.alert = try step.alert(of: row)
        places[key] = messages.count
        let targets = Targets(
            application: message.application, notification: content.notification, targets: [target],
            payload: payload)
        messages.append((limiter, targets))
    }
}

extension Step {
    /// The alert that a row carries: its own, or the one of a state that it replaced, unless that has expired.
    fileprivate func alert(of row: Delivery) throws(StoreError) -> [UInt8] {
        guard let source = row.alert, let message = try message(source),
            source == row.id.message || !message.isExpired(at: now.wall)
        else { return [] }
        return try content(source)?.payload.alert ?? []
    }
}
