import Contracts
import Service
import Store

/// What apps and servers tell of devices and tokens.
extension Step {
    /// Takes in registrations that were accepted together, and answers them as one.
    func register(_ group: RegistrationGroup) throws(StoreError) {
        // One device may take a token from another, which the ledger has to hold by then.
        var rest = group.registrations[...]
        while let first = rest.first {
            let step = Step(ledger: ledger, memory: memory, now: now)
            while let next = rest.first, next.device == first.device {
                try step.write(next.bounded())
                rest = rest.dropFirst()
            }
            try step.flush()
            step.effects.forEach(emit)
        }
        answer(group.sequence)
    }

    /// Says that a registration, or a group of them, is taken.
    func answer(_ sequence: Int64) {
        emit(.send(.taken(.registration(sequence: sequence, by: .tokenRegistry)), to: .service(.ingest)))
    }

    /// Takes a registration in; one that was taken before changes nothing.
    func write(_ registration: Registration) throws(StoreError) {
        switch registration.change {
        case .profile(let profile): try write(profile, registration)
        case .unregister: try unregister(registration)
        case .startToken(let token): try write(token, registration)
        case .activityToken(let token): try write(token, registration)
        case .tags, .user: ignore(.registration)
        }
    }

    /// The device that a registration is about; one that was a guest is known from now on.
    private func device(of registration: Registration) throws(StoreError) -> Device {
        let device = try knownDevice(registration.application, hwid: registration.device, guestRun: nil)
        device.guestRun = nil
        return device
    }

    /// A device by its name, made when it is first met.
    func knownDevice(_ application: String, hwid: String, guestRun: Int64?) throws(StoreError) -> Device {
        if let last = lastDevice, last.hwid == hwid, last.application == application, guestRun == nil {
            return last
        }
        guard let known = try ledger.device(application, hwid: hwid) else {
            return adopt(try ledger.addDevice(application, hwid: hwid, guestRun: guestRun))
        }
        let device = adopt(known)
        if device.guestRun != nil, let guestRun { device.guestRun = guestRun }
        return device
    }

    private func write(_ profile: Profile, _ registration: Registration) throws(StoreError) {
        guard let known = try ledger.device(registration.application, hwid: registration.device) else {
            return try add(profile, registration)
        }
        let device = adopt(known)
        device.guestRun = nil
        guard registration.sequence > device.sequence else { return }
        device.sequence = registration.sequence
        device.isUnregistered = false
        if let environment = profile.environment { device.environment = environment }
        if let version = profile.osVersion { device.osVersion = version }
        if let frequent = profile.frequentPushes { device.frequentPushes = frequent }
        guard let token = profile.pushToken else { return }
        try release(token, registration.application, besides: device.number)
        device.fields.register(pushToken: token, acceptedAt: registration.acceptedAtMilliseconds)
    }

    /// Takes a push token from whoever has it.
    private func release(_ token: String, _ application: String, besides device: Int64?) throws(StoreError) {
        for other in try ledger.devices(application, pushToken: token) where other != device {
            try self.device(other)?.pushToken = nil
        }
    }

    /// Adds a device that is not known with all that its profile tells, in one row.
    private func add(_ profile: Profile, _ registration: Registration) throws(StoreError) {
        var fields = DeviceFields(
            number: 0, application: registration.application, hwid: registration.device, guestRun: nil)
        fields.sequence = registration.sequence
        fields.environment = profile.environment
        fields.osVersion = profile.osVersion
        fields.frequentPushes = profile.frequentPushes
        if let token = profile.pushToken {
            try release(token, registration.application, besides: nil)
            fields.register(pushToken: token, acceptedAt: registration.acceptedAtMilliseconds)
        }
        adopt(try ledger.add(fields))
    }

    /// Takes all that a device has; its participants end.
    private func unregister(_ registration: Registration) throws(StoreError) {
        let device = try device(of: registration)
        guard registration.sequence > device.sequence else { return }
        device.sequence = registration.sequence
        device.isUnregistered = true
        device.pushToken = nil
        try ledger.clearStartTokens(device: device.number, sequence: registration.sequence)
        for fields in try ledger.participants(device: device.number) {
            let participant = adopt(fields)
            guard registration.sequence > participant.place.sequence else { continue }
            try end(participant, Cause.unregistered, registration: registration.sequence)
            // That a token died is remembered as long as its place.
            if participant.place.state != .dead { participant.place.token = nil }
            participant.place.sequence = registration.sequence
        }
    }

    private func write(_ token: StartToken, _ registration: Registration) throws(StoreError) {
        let device = try device(of: registration)
        let type = token.attributesType ?? ""
        var start =
            try ledger.startPlace(device: device.number, type: type)
            ?? StartPlace(device: device.number, type: type, place: TokenPlace())
        guard start.place.accepts(sequence: registration.sequence, clientSeconds: token.registeredAtSeconds)
        else { return try sayStillDead(token.token, start.place, registration) }
        // Who registers a token wants pushes again.
        if registration.sequence > device.sequence, !token.token.isEmpty { device.isUnregistered = false }
        let holders =
            token.token.isEmpty ? [] : try ledger.startPlaces(registration.application, token: token.token)
        let diedAt = try ignoreDead(
            token.token, holders.map(\.place), run: nil, registration,
            clientSeconds: token.registeredAtSeconds)
        guard diedAt == nil else { return }
        let wasRefused = holders.contains { $0.place.state != .live }
        for other in holders where other.device != device.number || other.type != type {
            // A device may hold one token for several types.
            try move(other, stays: other.device == device.number)
        }
        if start.place.sequence == 0 {
            try ledger.makeRoomForType(device: device.number, max: limits.startTypesPerDeviceMax)
        }
        start.place.register(token.token, registration, clientSeconds: token.registeredAtSeconds)
        try ledger.save(start)
        if wasRefused { try sayLives(token.token, registration) }
    }

    /// Takes a token from another place, or lets it live again there.
    private func move(_ other: StartPlace, stays: Bool) throws(StoreError) {
        var other = other
        if stays { other.place.revive() } else { other.place.token = nil }
        try ledger.save(other)
    }

    /// Says once more that a token is dead whose registration is ignored as an older one: the door has taken it for a
    /// living one since.
    func sayStillDead(_ token: String, _ place: TokenPlace, _ registration: Registration) throws(StoreError) {
        guard registration.sequence > place.sequence, place.death(of: token) != nil else { return }
        try say(
            .tokenDied, application: registration.application, token: token, run: nil,
            registration: registration.sequence)
    }

    /// Ignores the registration of a token that has died since it was made, and says so to the door.
    ///
    /// Of the places that hold the token the last death counts. What comes back is when that was, in milliseconds since
    /// 1970; nil if the registration counts.
    func ignoreDead(
        _ token: String, _ places: [TokenPlace], run: Int64?, _ registration: Registration,
        clientSeconds: Int64?
    ) throws(StoreError) -> Int64? {
        guard let diedAt = places.compactMap({ $0.death(of: token) }).max(),
            !registration.revives(diedAt: diedAt, clientSeconds: clientSeconds)
        else { return nil }
        try say(
            .tokenDied, application: registration.application, token: token, run: run,
            registration: registration.sequence)
        emit(.log(LogLine(.info, "token-ignored", [("why", "it has died since it was registered")])))
        return diedAt
    }

    func sayLives(_ token: String, _ registration: Registration) throws(StoreError) {
        try say(
            .tokenLives, application: registration.application, token: token, run: nil,
            registration: registration.sequence)
    }
}

extension Registration {
    /// Whether it lets a token live again that APNs has called dead.
    ///
    /// Only what was surely registered later does: a repeat of what was registered before says nothing new. So the
    /// app's whole second counts from its beginning here, and at most to when the door had it.
    fileprivate func revives(diedAt: Int64, clientSeconds: Int64?) -> Bool {
        min(clientSeconds.map { $0 * 1000 } ?? .max, acceptedAtMilliseconds) > diedAt
    }
}

extension TokenPlace {
    /// Puts a token here, or with an empty one notes that there is none.
    mutating func register(_ token: String, _ registration: Registration, clientSeconds: Int64?) {
        self.token = token.isEmpty ? nil : token
        revive()
        sequence = registration.sequence
        self.clientSeconds = clientSeconds
        acceptedAt = registration.acceptedAtMilliseconds
        if firstAt == 0, !token.isEmpty { firstAt = acceptedAt }
    }
}
