// MARK: - What APNs knows of a token

extension PhoneFleet {
    /// Judges a token for a request with this topic on a listener of this environment, and counts the request.
    mutating func standing(
        of hex: Substring.UTF8View, topic: PushTopic, environment: APNsEnvironment, nowMilliseconds: Int64
    ) -> TokenStanding {
        guard let reference = reference(of: hex), exists(reference) else { return .unknown }
        let phone = phone(of: reference)
        let group = group(of: phone)
        if group.traits.environment != environment { return .otherEnvironment }
        if topic.isLiveActivity != (reference.kind != .device) { return .otherTopic }
        if let bundleID = group.traits.bundleID, bundleID != topic.bundleID { return .otherTopic }
        if let gone = gone(reference, phone, nowMilliseconds) { return gone }
        return count(reference, nowMilliseconds / 1000) ? .good(reference) : .crowded
    }

    /// Whether the token leads to a phone or slot that there is.
    func knows(_ reference: TokenReference) -> Bool {
        reference.index < (reference.kind == .activity ? activities.count : phones.count)
    }

    /// Whether the token was ever given out.
    private func exists(_ reference: TokenReference) -> Bool {
        let index = Int(reference.index)
        switch reference.kind {
        case .device: return index < phones.count && reference.generation <= phones[index].deviceGeneration
        case .start: return index < phones.count && reference.generation <= phones[index].startGeneration
        case .activity:
            guard index < activities.count else { return false }
            let activity = activities[index]
            return reference.generation < activity.generation
                || (reference.generation == activity.generation && activity.hasToken)
        }
    }

    private mutating func gone(
        _ reference: TokenReference, _ phone: Int, _ now: Int64
    ) -> TokenStanding? {
        let model = phones[phone]
        if model.flags.contains(.uninstalled) {
            return .unregistered(sinceMilliseconds: model.changedAtMilliseconds)
        }
        if model.flags.contains(.expired) { return .expired(sinceMilliseconds: model.changedAtMilliseconds) }
        switch reference.kind {
        case .device: return replaced(reference, model.deviceGeneration, model, now)
        case .start: return replaced(reference, model.startGeneration, model, now)
        case .activity: return over(reference, now)
        }
    }

    private func replaced(
        _ reference: TokenReference, _ current: UInt32, _ model: Phone, _ now: Int64
    ) -> TokenStanding? {
        if reference.generation == current { return nil }
        if reference.generation + 1 == current, now < model.formerTokensUntilMilliseconds { return nil }
        return .unregistered(sinceMilliseconds: model.changedAtMilliseconds)
    }

    private mutating func over(_ reference: TokenReference, _ now: Int64) -> TokenStanding? {
        let slot = Int(reference.index)
        settle(slot, now)
        let activity = activities[slot]
        guard reference.generation == activity.generation else {
            let isFormer = reference.generation + 1 == activity.generation && activity.state != .free
            if isFormer, now < activity.formerTokenUntilMilliseconds { return nil }
            return .unregistered(sinceMilliseconds: activity.changedAtMilliseconds)
        }
        let died = activity.endedAtMilliseconds
        if activity.isActive || now < died + settings.endedTokenSeconds.milliseconds { return nil }
        return .unregistered(sinceMilliseconds: died)
    }

    private mutating func count(_ reference: TokenReference, _ nowSeconds: Int64) -> Bool {
        let limit = settings.requestsPerSecondMax
        return reference.kind == .activity
            ? activities[Int(reference.index)].requests.count(nowSeconds: nowSeconds, limit: limit)
            : phones[Int(reference.index)].requests.count(nowSeconds: nowSeconds, limit: limit)
    }
}

// MARK: - The tokens of a phone

extension PhoneFleet {
    /// A phone's token for ordinary pushes.
    func deviceToken(of phone: Int) -> TokenReference {
        TokenReference(
            kind: .device, generation: phones[phone].deviceGeneration, index: UInt32(phone))
    }

    /// A phone's start tokens with the type they are for; nil stands for any type.
    func startTokens(of phone: Int) -> [(type: String?, reference: TokenReference)] {
        let traits = group(of: phone).traits
        guard traits.system.hasStartTokens else { return [] }
        func token(_ type: Int) -> TokenReference {
            TokenReference(
                kind: .start, type: UInt8(type), generation: phones[phone].startGeneration,
                index: UInt32(phone))
        }
        guard !traits.attributesTypes.isEmpty else { return [(nil, token(0))] }
        return traits.attributesTypes.enumerated().map { place, type in
            (type, token(traits.sharesStartToken ? 0 : place))
        }
    }

    /// The update token of an activity, once the app has it.
    func updateToken(of slot: Int) -> TokenReference? {
        guard activities[slot].hasToken else { return nil }
        return TokenReference(
            kind: .activity, generation: activities[slot].generation, index: UInt32(slot))
    }

    /// Replaces the update token of an activity; the former one dies after `formerSeconds`.
    mutating func rotateActivity(
        _ slot: Int, formerSeconds: Int64, registerAfterMilliseconds: Int64 = 0, nowMilliseconds: Int64
    ) {
        guard activities[slot].hasToken, activities[slot].isActive else { return }
        activities[slot].generation += 1
        activities[slot].changedAtMilliseconds = nowMilliseconds
        activities[slot].formerTokenUntilMilliseconds = nowMilliseconds + formerSeconds.milliseconds
        register(
            .activity, phone: Int(activities[slot].phone), slot: slot,
            dueMilliseconds: nowMilliseconds + registerAfterMilliseconds)
    }

    /// Replaces a phone's device token and start tokens.
    mutating func rotatePhone(_ phone: Int, formerSeconds: Int64, nowMilliseconds: Int64) {
        phones[phone].deviceGeneration += 1
        phones[phone].startGeneration += 1
        phones[phone].changedAtMilliseconds = nowMilliseconds
        phones[phone].formerTokensUntilMilliseconds = nowMilliseconds + formerSeconds.milliseconds
        register(.device, phone: phone, dueMilliseconds: nowMilliseconds)
    }

    /// Makes all tokens of a phone dead: the app was removed from it, or they expired.
    mutating func lose(_ phone: Int, _ cause: Phone.Flags, nowMilliseconds: Int64) {
        phones[phone].flags.insert(cause)
        phones[phone].changedAtMilliseconds = nowMilliseconds
    }
}
