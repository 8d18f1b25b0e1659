import JSON

/// One call from an app to the back end.
struct Registration: Sendable, Equatable {
    var item: RegistrationQueue.Item
    var era: Int
    /// The token that the call registers, so that a newer one is noticed when the answer comes.
    var generation: UInt32
    var url: String
    var body: [UInt8]
    /// The value of `Authorization`, if the app proves itself.
    var authorization: String?
}

/// What came of a call to the back end.
enum RegistrationOutcome: Sendable {
    case accepted, refused, failed
}

// MARK: - Registering

extension PhoneFleet {
    /// Plans a call.
    mutating func register(
        _ kind: RegistrationQueue.Kind, phone: Int, slot: Int = 0, type: Int = 0, dueMilliseconds: Int64
    ) {
        registrations.push(
            RegistrationQueue.Item(kind: kind, phone: UInt32(phone), slot: UInt32(slot), type: UInt8(type)),
            due: dueMilliseconds)
    }

    /// The next call that is due; phones that register nowhere get their tokens on the way.
    mutating func nextRegistration(nowMilliseconds: Int64) -> Registration? {
        while let item = registrations.pop(now: nowMilliseconds) {
            guard prepare(item) else { continue }
            guard let call = call(for: item) else {
                follow(item, nowMilliseconds)
                continue
            }
            setBusy(item, true)
            registrations.underWay += 1
            return call
        }
        return nil
    }

    /// Takes the answer to a call: goes on with the next one of the phone, or tries again later.
    mutating func finish(_ call: Registration, _ outcome: RegistrationOutcome, nowMilliseconds: Int64) {
        guard call.era == era else { return }
        registrations.underWay -= 1
        setBusy(call.item, false)
        switch outcome {
        case .accepted: registrations.counts.accepted += 1
        case .refused: registrations.counts.refused += 1
        case .failed:
            registrations.counts.failed += 1
            guard settings.retriesRegistrations else {
                registrations.counts.abandoned += 1
                return
            }
            registrations.retry(call.item, nowMilliseconds: nowMilliseconds)
            return
        }
        if generation(of: call.item) != call.generation, call.item.kind != .activityGone {
            var again = call.item
            again.attempts = 0
            registrations.push(again, due: nowMilliseconds)
        } else if outcome == .accepted {
            follow(call.item, nowMilliseconds)
        }
    }

    /// Makes the token exist; false when the call has become pointless or another one for its place is under way.
    private mutating func prepare(_ item: RegistrationQueue.Item) -> Bool {
        let phone = Int(item.phone)
        guard phone < phones.count, !phones[phone].flags.contains(.uninstalled) else { return false }
        guard !isBusy(item) else { return false }
        guard item.kind == .activity else { return true }
        let slot = Int(item.slot)
        guard activities[slot].isActive, activities[slot].phone == item.phone else { return false }
        activities[slot].hasToken = true
        return true
    }

    private func isBusy(_ item: RegistrationQueue.Item) -> Bool {
        switch item.kind {
        case .device: phones[Int(item.phone)].flags.contains(.registeringDevice)
        case .start: phones[Int(item.phone)].flags.contains(.registeringStart)
        case .activity: activities[Int(item.slot)].isRegistering
        case .activityGone: false
        }
    }

    private mutating func setBusy(_ item: RegistrationQueue.Item, _ isBusy: Bool) {
        switch item.kind {
        case .device: phones[Int(item.phone)].flags.set(.registeringDevice, isBusy)
        case .start: phones[Int(item.phone)].flags.set(.registeringStart, isBusy)
        case .activity, .activityGone: activities[Int(item.slot)].isRegistering = isBusy
        }
    }

    private func generation(of item: RegistrationQueue.Item) -> UInt32 {
        switch item.kind {
        case .device: phones[Int(item.phone)].deviceGeneration
        case .start: phones[Int(item.phone)].startGeneration
        case .activity, .activityGone: activities[Int(item.slot)].generation
        }
    }

    /// After the device its start tokens, one after the other.
    private mutating func follow(_ item: RegistrationQueue.Item, _ now: Int64) {
        let phone = Int(item.phone)
        let next = item.kind == .device ? 0 : Int(item.type) + 1
        guard item.kind == .device || item.kind == .start, next < startTokens(of: phone).count else { return }
        register(.start, phone: phone, type: next, dueMilliseconds: now)
    }
}

// MARK: - The calls, as Pushwoosh's library makes them

extension PhoneFleet {
    private func call(for item: RegistrationQueue.Item) -> Registration? {
        let traits = group(of: Int(item.phone)).traits
        guard let ingest = traits.ingest else { return nil }
        let (method, body) = request(item, traits)
        return Registration(
            item: item, era: era, generation: generation(of: item), url: "\(ingest)/json/1.3/\(method)",
            body: body,
            authorization: traits.deviceToken.map { "Token \($0)" })
    }

    private func request(
        _ item: RegistrationQueue.Item, _ traits: PhoneGroup.Traits
    ) -> (method: String, body: [UInt8]) {
        let phone = Int(item.phone)
        switch item.kind {
        case .device: return ("registerDevice", envelope(phone) { device(phone, traits, &$0) })
        case .start:
            let start = startTokens(of: phone)[Int(item.type)]
            let body = envelope(phone) {
                $0.member("activity_push_to_start_token", token(start.reference))
                if let type = start.type { $0.member("attributes_type", type) }
            }
            return ("setActivityPushToStartToken", body)
        case .activity, .activityGone:
            let slot = Int(item.slot)
            let token = item.kind == .activity ? updateToken(of: slot).map(token) : nil
            let body = envelope(phone) {
                $0.member("activity_token", token ?? "")
                $0.member("activity_id", activities[slot].id)
            }
            return ("setActivityToken", body)
        }
    }

    private func device(_ phone: Int, _ traits: PhoneGroup.Traits, _ writer: inout JSONWriter) {
        writer.member("device_type", 1)
        writer.member("gateway", traits.environment.rawValue)
        writer.member("os_version", traits.system.text)
        writer.member("push_token", token(deviceToken(of: phone)))
        guard let tags = traits.tags else { return }
        writer.member("tags", JSONRaw(NumberTemplate.fill(tags, number: group(of: phone).number(of: phone))))
    }

    private func envelope(_ phone: Int, _ members: (inout JSONWriter) -> Void) -> [UInt8] {
        let group = group(of: phone)
        return JSONWriter.object { outer in
            outer.object("request") {
                $0.member("application", group.traits.application)
                $0.member("hwid", group.hardwareID(of: phone))
                members(&$0)
            }
        }
    }
}

extension Phone.Flags {
    /// Adds or removes a flag.
    mutating func set(_ flag: Phone.Flags, _ isSet: Bool) {
        if isSet { insert(flag) } else { remove(flag) }
    }
}
