// MARK: - Phones that listen to channels

extension PhoneFleet {
    /// Has an activity listen to a channel from now on; what was broadcast before is not heard.
    mutating func listen(_ slot: Int, to channel: String) {
        activities[slot].channel = channel
        listeners[channel, default: []].append(UInt32(slot))
    }

    /// The activities that listen to a channel in an environment, each once.
    mutating func listeners(of channel: String, _ environment: APNsEnvironment, _ bundleID: String) -> [Int] {
        guard let known = listeners[channel] else { return [] }
        var seen: Set<UInt32> = []
        let there = known.filter { slot in
            let activity = activities[Int(slot)]
            return activity.state != .free && activity.channel == channel && seen.insert(slot).inserted
        }
        listeners[channel] = there.isEmpty ? nil : there
        return there.map(Int.init).filter { slot in
            let traits = group(of: Int(activities[slot].phone)).traits
            return traits.environment == environment && traits.bundleID.map { $0 == bundleID } ?? true
        }
    }

    /// Gives a broadcast to everyone who listens.
    ///
    /// - Returns: how many it reached.
    mutating func broadcast(
        _ push: AcceptedPush, to slots: [Int], isStored: Bool, nowMilliseconds: Int64
    ) -> Int {
        var reached = 0
        for slot in slots {
            let phone = Int(activities[slot].phone)
            guard phones[phone].flags.isDisjoint(with: .gone), activities[slot].isActive else { continue }
            let reference = reference(ofSlot: slot)
            note(pushID: push.pushID, phone: phone)
            guard !phones[phone].flags.contains(.offline) else {
                if !isStored { note(.lostOffline, push, reference, phone, nowMilliseconds, slot: slot) }
                continue
            }
            if show(push, reference, phone, nowMilliseconds).isVisible { reached += 1 }
        }
        return reached
    }

    /// Gives a phone that has come back the messages that were kept for its channels, unless it has shown them.
    mutating func catchUp(_ phone: Int, _ book: ChannelBook, nowMilliseconds: Int64) {
        for slot in slots(of: phone) where activities[slot].isActive && !activities[slot].channel.isEmpty {
            guard let push = book.kept(activities[slot].channel, nowSeconds: nowMilliseconds / 1000),
                push.payload?.timestampSeconds ?? .max > activities[slot].timestampSeconds
            else { continue }
            _ = show(push, reference(ofSlot: slot), phone, nowMilliseconds)
        }
    }

    private func reference(ofSlot slot: Int) -> TokenReference {
        TokenReference(kind: .activity, generation: activities[slot].generation, index: UInt32(slot))
    }
}
