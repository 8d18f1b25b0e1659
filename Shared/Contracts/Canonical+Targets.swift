extension PushID: Canonical {
    func write(to writer: inout CanonicalWriter) {
        writer.number("{\"device\":", device)
        writer.number(",\"message\":", message)
        writer.byte("}")
    }

    init?(from reader: inout CanonicalReader) {
        guard let device: Int64 = reader.number(after: "{\"device\":"),
            let message: Int64 = reader.number(after: ",\"message\":"), reader.skip("}")
        else { return nil }
        self.init(message: message, device: device)
    }
}

extension Order: Canonical {
    func write(to writer: inout CanonicalWriter) {
        writer.number("{\"seconds\":", seconds)
        writer.number(",\"sequence\":", sequence)
        writer.byte("}")
    }

    init?(from reader: inout CanonicalReader) {
        guard let seconds: Int64 = reader.number(after: "{\"seconds\":"),
            let sequence: Int64 = reader.number(after: ",\"sequence\":"), reader.skip("}")
        else { return nil }
        self.init(seconds: seconds, sequence: sequence)
    }
}

extension Pace: Canonical {
    func write(to writer: inout CanonicalWriter) {
        writer.number("{\"fiveNotBeforeMilliseconds\":", fiveNotBeforeMilliseconds)
        writer.number(",\"fullAtMilliseconds\":", fullAtMilliseconds)
        writer.value(",\"lastOrder\":", lastOrder)
        writer.number(",\"lastWireSeconds\":", lastWireSeconds)
        writer.byte("}")
    }

    init?(from reader: inout CanonicalReader) {
        guard let five: Int64 = reader.number(after: "{\"fiveNotBeforeMilliseconds\":"),
            let full: Int64 = reader.number(after: ",\"fullAtMilliseconds\":"),
            let lastOrder = reader.ifThere(",\"lastOrder\":", { Order(from: &$0) }),
            let lastWireSeconds: Int64 = reader.number(after: ",\"lastWireSeconds\":"), reader.skip("}")
        else { return nil }
        fiveNotBeforeMilliseconds = five
        fullAtMilliseconds = full
        self.lastOrder = lastOrder
        self.lastWireSeconds = lastWireSeconds
    }
}

extension Channel: Canonical {
    func write(to writer: inout CanonicalWriter) {
        writer.string("{\"environment\":", environment.rawValue)
        writer.string(",\"id\":", id)
        writer.bool(",\"isStored\":", isStored)
        writer.byte("}")
    }

    init?(from reader: inout CanonicalReader) {
        guard let environment: APNsEnvironment = reader.word(after: "{\"environment\":"),
            let id = reader.string(after: ",\"id\":"),
            let isStored = reader.bool(after: ",\"isStored\":"), reader.skip("}")
        else { return nil }
        self.init(id: id, environment: environment, isStored: isStored)
    }
}

extension Target: Canonical {
    func write(to writer: inout CanonicalWriter) {
        writer.string("{\"apnsID\":", apnsID)
        writer.number(",\"attempt\":", attempt)
        writer.number(",\"burst\":", burst)
        writer.value(",\"channel\":", channel)
        writer.string(",\"collapseID\":", collapseID)
        writer.string(",\"environment\":", environment.rawValue)
        writer.value(",\"id\":", id)
        writer.number(",\"intervalMilliseconds\":", intervalMilliseconds)
        writer.number(",\"notBeforeMilliseconds\":", notBeforeMilliseconds)
        writer.value(",\"order\":", order)
        writer.value(",\"pace\":", pace)
        writer.number(",\"participant\":", participant)
        writer.number(",\"priority\":", priority)
        writer.string(",\"pushType\":", pushType.rawValue)
        writer.number(",\"sendBeforeMilliseconds\":", sendBeforeMilliseconds)
        writer.string(",\"token\":", token)
        writer.bool(",\"trial\":", trial)
        writer.number(",\"wireTimestampSeconds\":", wireTimestampSeconds)
        writer.byte("}")
    }

    init?(from reader: inout CanonicalReader) {
        guard let apnsID = reader.string(after: "{\"apnsID\":"),
            let attempt: Int = reader.number(after: ",\"attempt\":"),
            let burst: Int = reader.number(after: ",\"burst\":"),
            let channel = reader.ifThere(",\"channel\":", { Channel(from: &$0) }),
            let collapseID = reader.ifThere(",\"collapseID\":", { $0.string() }),
            let environment: APNsEnvironment = reader.word(after: ",\"environment\":"),
            let id: PushID = reader.value(after: ",\"id\":"),
            let interval: Int64 = reader.number(after: ",\"intervalMilliseconds\":"),
            let notBefore: Int64 = reader.number(after: ",\"notBeforeMilliseconds\":"),
            let order: Order = reader.value(after: ",\"order\":"),
            let pace: Pace = reader.value(after: ",\"pace\":"),
            let participant: Int64 = reader.number(after: ",\"participant\":"),
            let priority: Int = reader.number(after: ",\"priority\":"),
            let pushType: PushType = reader.word(after: ",\"pushType\":"),
            let sendBefore: Int64 = reader.number(after: ",\"sendBeforeMilliseconds\":"),
            let token = reader.string(after: ",\"token\":"),
            let trial = reader.bool(after: ",\"trial\":"),
            let wire = reader.ifThere(",\"wireTimestampSeconds\":", { $0.number(Int64.self) }),
            reader.skip("}")
        else { return nil }
        self.init(
            id: id, attempt: attempt, participant: participant, order: order, token: token,
            environment: environment, pushType: pushType, apnsID: apnsID, collapseID: collapseID,
            priority: priority, wireTimestampSeconds: wire, pace: pace, intervalMilliseconds: interval,
            burst: burst, notBeforeMilliseconds: notBefore, sendBeforeMilliseconds: sendBefore, trial: trial)
        self.channel = channel
    }
}

extension Targets: Canonical {
    func write(to writer: inout CanonicalWriter) {
        writer.string("{\"application\":", application)
        writer.value(",\"notification\":", notification)
        writer.text(",\"targets\":")
        writer.array(targets)
        writer.byte("}")
    }

    init?(from reader: inout CanonicalReader) {
        guard let application = reader.string(after: "{\"application\":"),
            let notification: Notification = reader.value(after: ",\"notification\":"),
            reader.skip(",\"targets\":"), let targets: [Target] = reader.array(), reader.skip("}")
        else { return nil }
        self.init(
            application: application, notification: notification, targets: targets, payload: Payload())
    }
}
