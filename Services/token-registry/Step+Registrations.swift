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
        device.pushToken = token.isEmpty ? nil : token
        device.pushAcceptedAt = registration.acceptedAtMilliseconds
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
            fields.pushToken = token.isEmpty ? nil : token
            fields.pushAcceptedAt = registration.acceptedAtMilliseconds
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
            participant.place.token = nil
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
        else { return }
        var wasRefused = start.place.token == token.token && start.place.state != .live
        for other in token.token.isEmpty
            ? [] : try ledger.startPlaces(registration.application, token: token.token)
        where other.device != device.number || other.type != type {
            wasRefused = wasRefused || other.place.state != .live
            // A device may hold one token for several types.
            try move(other, stays: other.device == device.number)
        }
        // Who registers a token wants pushes again.
        if registration.sequence > device.sequence, !token.token.isEmpty { device.isUnregistered = false }
        start.place.register(token.token, registration, clientSeconds: token.registeredAtSeconds)
        try ledger.save(start)
        if wasRefused { try sayLives(token.token, registration) }
    }

    /// Takes a token from another place, or lets it live again there.
    private func move(_ other: StartPlace, stays: Bool) throws(StoreError) {
        var other = other
        if stays { other.place.state = .live } else { other.place.token = nil }
        try ledger.save(other)
    }

    func sayLives(_ token: String, _ registration: Registration) throws(StoreError) {
        try say(
            .tokenLives, application: registration.application, token: token, run: nil,
            registration: registration.sequence)
    }
}

extension TokenPlace {
    /// Puts a token here, or with an empty one notes that there is none.
    mutating func register(_ token: String, _ registration: Registration, clientSeconds: Int64?) {
        self.token = token.isEmpty ? nil : token
        state = .live
        sequence = registration.sequence
        self.clientSeconds = clientSeconds
        acceptedAt = registration.acceptedAtMilliseconds
        if firstAt == 0, !token.isEmpty { firstAt = acceptedAt }
    }
}
