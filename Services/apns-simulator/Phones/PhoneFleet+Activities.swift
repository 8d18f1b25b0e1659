// MARK: - Activities on a phone

extension PhoneFleet {
    /// The slots of a phone's activities, the newest first.
    func slots(of phone: Int) -> [Int] {
        var found: [Int] = []
        var slot = phones[phone].newestActivity
        while slot >= 0 {
            found.append(Int(slot))
            slot = activities[Int(slot)].next
        }
        return found
    }

    /// The newest activity of this id on a phone.
    func slot(of phone: Int, activityID: String) -> Int? {
        slots(of: phone).first { activities[$0].id == activityID }
    }

    /// How many activities of a phone still take updates.
    mutating func activeCount(_ phone: Int, _ nowMilliseconds: Int64) -> Int {
        var count = 0
        for slot in slots(of: phone) {
            settle(slot, nowMilliseconds)
            count += activities[slot].isActive ? 1 : 0
        }
        return count
    }

    /// Begins an activity in a free slot.
    ///
    /// An active one of the same id ends, as Pushwoosh's library has it.
    mutating func begin(id: String, attributesType: String, phone: Int, nowMilliseconds: Int64) -> Int {
        if !id.isEmpty, let former = slot(of: phone, activityID: id), activities[former].isActive {
            activities[former].end(atMilliseconds: nowMilliseconds, dismissalSeconds: 0)
        }
        let slot = freeSlots.popLast().map(Int.init) ?? activities.count
        if slot == activities.count { activities.append(LiveActivity()) }
        activities[slot].state = .active
        activities[slot].phone = UInt32(phone)
        activities[slot].next = phones[phone].newestActivity
        activities[slot].id = id
        activities[slot].attributesType = attributesType
        activities[slot].startedAtMilliseconds = nowMilliseconds
        phones[phone].newestActivity = Int32(slot)
        return slot
    }

    /// Begins an activity as the app does by itself, and registers its token.
    ///
    /// The state is JSON text; a token is given, in hex, by who wants to choose it. The activity's slot is returned.
    mutating func startLocally(
        id: String, attributesType: String, state: [UInt8], token: String?, channel: String? = nil,
        phone: Int,
        nowMilliseconds: Int64
    ) -> Int {
        let slot = begin(
            id: id, attributesType: attributesType, phone: phone, nowMilliseconds: nowMilliseconds)
        activities[slot].shown = state
        if let token {
            let generation = activities[slot].generation
            name(TokenReference(kind: .activity, generation: generation, index: UInt32(slot)), token)
        }
        if let channel {
            listen(slot, to: channel)
        } else {
            register(.activity, phone: phone, slot: slot, dueMilliseconds: nowMilliseconds)
        }
        return slot
    }

    /// Removes an activity as the person does; the app then registers an empty token.
    mutating func dismiss(_ slot: Int, nowMilliseconds: Int64) {
        settle(slot, nowMilliseconds)
        guard activities[slot].state == .active || activities[slot].state == .ended else { return }
        activities[slot].dismiss(atMilliseconds: nowMilliseconds)
        register(
            .activityGone, phone: Int(activities[slot].phone), slot: slot, dueMilliseconds: nowMilliseconds)
    }

    /// Brings an activity up to date with the clock.
    mutating func settle(_ slot: Int, _ nowMilliseconds: Int64) {
        activities[slot].expire(
            nowMilliseconds: nowMilliseconds, lifetimeMilliseconds: settings.activeSeconds.milliseconds)
    }

    /// Frees a slot and takes it out of its phone's chain.
    mutating func release(_ slot: Int, _ nowMilliseconds: Int64) {
        let phone = Int(activities[slot].phone)
        if phones[phone].newestActivity == Int32(slot) {
            phones[phone].newestActivity = activities[slot].next
        } else if let before = slots(of: phone).first(where: { activities[$0].next == Int32(slot) }) {
            activities[before].next = activities[slot].next
        }
        activities[slot].free(atMilliseconds: nowMilliseconds)
        freeSlots.append(UInt32(slot))
    }
}
