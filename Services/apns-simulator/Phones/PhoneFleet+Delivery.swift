import JSON

/// A push that APNs has accepted.
struct AcceptedPush: Sendable {
    var body: [UInt8]
    /// Nil when the body is no push that a phone could read.
    var payload: PushPayload?
    /// What repeats of the push have in common.
    var pushID: UInt64
    var isUrgent: Bool
    /// When APNs stops trying, in UNIX seconds: nil for its own choice, 0 for one attempt.
    var expiresAtSeconds: Int64?

    init(body: [UInt8], pushID: UInt64, isUrgent: Bool = true, expiresAtSeconds: Int64? = nil) {
        self.body = body
        payload = PushPayload(body)
        self.pushID = pushID
        self.isUrgent = isUrgent
        self.expiresAtSeconds = expiresAtSeconds
    }

    /// Takes over a request.
    init(_ request: APNsRequest, _ id: PushID) {
        self.init(
            body: request.body, pushID: id.high ^ id.low &* 0x9E37_79B9_7F4A_7C15,
            isUrgent: request.headers.priority != "5" && request.headers.priority != "1",
            expiresAtSeconds: request.headers.expiration.flatMap(Int64.init))
    }

    /// The content state as it stands in the body; empty when there is none.
    var contentState: ArraySlice<UInt8> { payload?.contentState.map { body[$0.byteRange] } ?? [] }
}

/// A push that waits for a phone to come online.
struct StoredPush: Sendable {
    var push: AcceptedPush
    var reference: TokenReference
}

// MARK: - A push reaches a phone

extension PhoneFleet {
    /// Gives a phone a push that APNs has accepted.
    mutating func deliver(
        _ push: AcceptedPush, to reference: TokenReference, nowMilliseconds: Int64
    ) -> DeliveryVerdict {
        let phone = phone(of: reference)
        note(pushID: push.pushID, phone: phone)
        guard phones[phone].flags.contains(.offline) else {
            return show(push, reference, phone, nowMilliseconds)
        }
        if push.expiresAtSeconds == 0 { return note(.lostOffline, push, reference, phone, nowMilliseconds) }
        // One push for each app and phone, usually the newest (Apple, Viewing the status of push notifications).
        let former = stored.updateValue(
            StoredPush(push: push, reference: reference), forKey: UInt32(phone))
        if let former { note(.replacedOffline, former.push, former.reference, phone, nowMilliseconds) }
        return .stored
    }

    /// Connects a phone again; a push that was stored for it arrives unless it has expired.
    mutating func comeOnline(_ phone: Int, nowMilliseconds: Int64) {
        phones[phone].flags.remove(.offline)
        guard let waiting = stored.removeValue(forKey: UInt32(phone)) else { return }
        let expiry = waiting.push.expiresAtSeconds ?? .max
        guard expiry > nowMilliseconds / 1000 else {
            note(.expiredOffline, waiting.push, waiting.reference, phone, nowMilliseconds)
            return
        }
        _ = show(waiting.push, waiting.reference, phone, nowMilliseconds)
    }

    mutating func show(
        _ push: AcceptedPush, _ reference: TokenReference, _ phone: Int, _ now: Int64
    ) -> DeliveryVerdict {
        let verdict: DeliveryVerdict
        var slot = reference.kind == .activity ? Int(reference.index) : nil
        if let payload = push.payload {
            switch reference.kind {
            case .device: verdict = payload.alert == nil ? .noAlert : .shown
            case .start: (verdict, slot) = start(payload, phone, now)
            case .activity: verdict = change(Int(reference.index), push, payload, reference, now)
            }
        } else {
            verdict = .notJSON
        }
        return note(verdict, push, reference, phone, now, slot: slot)
    }

    @discardableResult
    mutating func note(
        _ verdict: DeliveryVerdict, _ push: AcceptedPush, _ reference: TokenReference, _ phone: Int,
        _ now: Int64, slot: Int? = nil
    ) -> DeliveryVerdict {
        let event = push.payload?.event ?? .none
        let content = event == .alert ? push.body[...] : push.contentState
        record(
            verdict, event, phone: phone, activityID: slot.map { activities[$0].id } ?? "",
            contentState: content, atMilliseconds: now)
        return verdict
    }

    // MARK: Start

    private mutating func start(
        _ payload: PushPayload, _ phone: Int, _ now: Int64
    ) -> (DeliveryVerdict, Int?) {
        let group = group(of: phone)
        if let fault = startFault(payload, group, phone, now) { return (fault, nil) }
        let id = activityID(payload, phone)
        let slot = begin(
            id: id ?? "", attributesType: payload.attributesType ?? "", phone: phone, nowMilliseconds: now)
        if id == nil { activities[slot].id = "local-\(slot)-\(activities[slot].generation)" }
        show(payload, in: slot)
        if let channel = payload.channel { listen(slot, to: channel) }
        // Since iOS 18 the payload asks for the token; what happens when it asks for neither token nor channel is not
        // documented, and none is the reading in which a mistake shows.
        let isAsked = !group.traits.system.asksForToken || payload.asksForToken
        if payload.channel == nil, isAsked, group.traits.allowsActivities {
            let due = now + Int64(group.traits.tokenDelayMilliseconds)
            register(.activity, phone: phone, slot: slot, dueMilliseconds: due)
        }
        return (.started, slot)
    }

    private mutating func startFault(
        _ payload: PushPayload, _ group: PhoneGroup, _ phone: Int, _ now: Int64
    ) -> DeliveryVerdict? {
        if let fault = eventFault(payload, isStart: true) { return fault }
        if payload.contentState == nil { return .noContentState }
        if payload.alert == nil { return .noAlert }
        if payload.attributes == nil { return .noAttributes }
        guard let type = payload.attributesType, !type.isEmpty else { return .noAttributesType }
        if !group.traits.attributesTypes.isEmpty, !group.traits.attributesTypes.contains(type) {
            return .unknownAttributesType
        }
        if payload.channel != nil, !group.traits.system.asksForToken { return .channelNeedsNewerSystem }
        if let fault = stateFault(payload, group) { return fault }
        guard let timestamp = payload.timestampSeconds else { return .noTimestamp }
        if timestamp > now / 1000 + settings.aheadSeconds { return .tooFarAhead }
        let isAffordable = phones[phone].starts.take(
            nowSeconds: now / 1000, burst: settings.startBurst, refillSeconds: settings.startRefillSeconds)
        if !isAffordable { return .startBudgetUsedUp }
        return activeCount(phone, now) >= settings.activitiesMax ? .tooManyActivities : nil
    }

    private mutating func activityID(_ payload: PushPayload, _ phone: Int) -> String? {
        if let id = payload.activityID(member: settings.activityIDMember) { return id }
        guard var ids = expected[UInt32(phone)], !ids.isEmpty else { return nil }
        let id = ids.removeFirst()
        expected[UInt32(phone)] = ids.isEmpty ? nil : ids
        return id
    }

    // MARK: Update and end

    private mutating func change(
        _ slot: Int, _ push: AcceptedPush, _ payload: PushPayload, _ reference: TokenReference, _ now: Int64
    ) -> DeliveryVerdict {
        settle(slot, now)
        let isFormer = reference.generation + 1 == activities[slot].generation
        guard reference.generation == activities[slot].generation || isFormer else { return .tokenGone }
        let group = group(of: Int(activities[slot].phone))
        if let fault = eventFault(payload, isStart: false) ?? lifeFault(slot, now) { return fault }
        guard let timestamp = payload.timestampSeconds else { return .noTimestamp }
        if timestamp > now / 1000 + settings.aheadSeconds { return .tooFarAhead }
        if payload.event == .end { return end(slot, payload, timestamp, now) }
        if payload.contentState == nil { return .noContentState }
        if let fault = stateFault(payload, group) { return fault }
        if timestamp <= activities[slot].timestampSeconds { return .olderThanShown }
        if timestamp < now / 1000 - settings.pastSeconds { return .inThePast }
        guard !push.isUrgent || isAffordable(slot, now) else { return .updateBudgetUsedUp }
        show(payload, in: slot)
        return .updated
    }

    /// An end is applied even when its timestamp is old, as seen in practice.
    private mutating func end(
        _ slot: Int, _ payload: PushPayload, _ timestamp: Int64, _ now: Int64
    ) -> DeliveryVerdict {
        show(payload, in: slot)
        activities[slot].end(atMilliseconds: now, dismissalSeconds: payload.dismissalSeconds)
        return .ended
    }

    private func lifeFault(_ slot: Int, _ now: Int64) -> DeliveryVerdict? {
        let activity = activities[slot]
        switch activity.state {
        case .active: return nil
        case .dismissed: return .dismissed
        case .free: return .tokenGone
        case .ended:
            let over = activity.startedAtMilliseconds + settings.activeSeconds.milliseconds
            return activity.endedAtMilliseconds == over ? .overLifetime : .alreadyEnded
        }
    }

    private mutating func isAffordable(_ slot: Int, _ now: Int64) -> Bool {
        activities[slot].updates.take(
            nowSeconds: now / 1000, burst: settings.updateBurst, refillSeconds: settings.updateRefillSeconds)
    }

    // MARK: Both

    private func eventFault(_ payload: PushPayload, isStart: Bool) -> DeliveryVerdict? {
        switch payload.event {
        case .start: isStart ? nil : .startOnUpdateToken
        case .update, .end: isStart ? .updateOnStartToken : nil
        case .alert, .none: payload.eventName == nil ? .noEvent : .unknownEvent
        }
    }

    private func stateFault(_ payload: PushPayload, _ group: PhoneGroup) -> DeliveryVerdict? {
        guard !group.traits.stateMembers.isEmpty, let state = payload.contentState else { return nil }
        return group.traits.stateMembers.allSatisfy { state[$0] != nil } ? nil : .undecodable
    }

    private mutating func show(_ payload: PushPayload, in slot: Int) {
        if let state = payload.contentState { activities[slot].shown = state.bytes }
        activities[slot].timestampSeconds = max(
            activities[slot].timestampSeconds, payload.timestampSeconds ?? 0)
        activities[slot].staleAtSeconds = payload.staleAtSeconds
    }
}
