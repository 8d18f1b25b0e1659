extension Notification: Canonical {
    func write(to writer: inout CanonicalWriter) {
        // The first members may be missing: what begins the object is not known before.
        writer.byte("{")
        var comma = ""
        func optional(_ name: String, _ value: String?) {
            guard let value else { return }
            writer.string(comma + name, value)
            comma = ","
        }
        optional("\"apnsID\":", apnsID)
        optional("\"attributesType\":", attributesType)
        optional("\"collapseID\":", collapseID)
        if let dismissalDateSeconds {
            writer.number(comma + "\"dismissalDateSeconds\":", dismissalDateSeconds)
            comma = ","
        }
        writer.string(comma + "\"event\":", event.rawValue)
        writer.number(",\"expirationSeconds\":", expirationSeconds)
        writer.value(",\"fallback\":", fallback)
        writer.string(",\"inputPushChannel\":", inputPushChannel)
        writer.string(",\"inputPushToken\":", inputPushToken)
        writer.number(",\"priority\":", priority)
        writer.string(",\"relevanceScore\":", relevanceScore)
        writer.number(",\"staleDateSeconds\":", staleDateSeconds)
        writer.number(",\"timestampSeconds\":", timestampSeconds)
        writer.byte("}")
    }

    init?(from reader: inout CanonicalReader) {
        guard reader.skip("{") else { return nil }
        var comma = ""
        func optional<Value>(_ name: String, _ read: (inout CanonicalReader) -> Value?) -> Value?? {
            guard let value = reader.ifThere(comma + name, read) else { return nil }
            if value != nil { comma = "," }
            return .some(value)
        }
        guard let apnsID = optional("\"apnsID\":", { $0.string() }),
            let attributesType = optional("\"attributesType\":", { $0.string() }),
            let collapseID = optional("\"collapseID\":", { $0.string() }),
            let dismissalDateSeconds = optional("\"dismissalDateSeconds\":", { $0.number(Int64.self) }),
            let event: ActivityEvent = reader.word(after: comma + "\"event\":"),
            let expirationSeconds: Int64 = reader.number(after: ",\"expirationSeconds\":"),
            let fallback = reader.ifThere(",\"fallback\":", { Fallback(from: &$0) }),
            let inputPushChannel = reader.ifThere(",\"inputPushChannel\":", { $0.string() }),
            let inputPushToken = reader.ifThere(",\"inputPushToken\":", { $0.string() }),
            let priority: Int = reader.number(after: ",\"priority\":"),
            let relevanceScore = reader.ifThere(",\"relevanceScore\":", { $0.string() }),
            let staleDateSeconds = reader.ifThere(",\"staleDateSeconds\":", { $0.number(Int64.self) }),
            let timestampSeconds = reader.ifThere(",\"timestampSeconds\":", { $0.number(Int64.self) }),
            reader.skip("}")
        else { return nil }
        self.init(event: event, priority: priority, expirationSeconds: expirationSeconds)
        self.apnsID = apnsID
        self.attributesType = attributesType
        self.collapseID = collapseID
        self.dismissalDateSeconds = dismissalDateSeconds
        self.fallback = fallback
        self.inputPushChannel = inputPushChannel
        self.inputPushToken = inputPushToken
        self.relevanceScore = relevanceScore
        self.staleDateSeconds = staleDateSeconds
        self.timestampSeconds = timestampSeconds
    }
}

extension Notification.Fallback: Canonical {
    func write(to writer: inout CanonicalWriter) {
        writer.string("{\"body\":", body)
        writer.string(",\"title\":", title)
        writer.byte("}")
    }

    init?(from reader: inout CanonicalReader) {
        guard let body = reader.string(after: "{\"body\":"),
            let title = reader.ifThere(",\"title\":", { $0.string() }), reader.skip("}")
        else { return nil }
        self.init(title: title, body: body)
    }
}

extension Push: Canonical {
    func write(to writer: inout CanonicalWriter) {
        writer.string("{\"apnsID\":", apnsID)
        writer.number(",\"attempt\":", attempt)
        writer.value(",\"channel\":", channel)
        writer.string(",\"collapseID\":", collapseID)
        writer.string(",\"environment\":", environment.rawValue)
        writer.value(",\"id\":", id)
        writer.number(",\"priority\":", priority)
        writer.string(",\"pushType\":", pushType.rawValue)
        writer.number(",\"sendBeforeMilliseconds\":", sendBeforeMilliseconds)
        writer.number(",\"timestampSeconds\":", timestampSeconds)
        writer.string(",\"token\":", token)
        writer.bool(",\"trial\":", trial)
        writer.byte("}")
    }

    init?(from reader: inout CanonicalReader) {
        guard let apnsID = reader.string(after: "{\"apnsID\":"),
            let attempt: Int = reader.number(after: ",\"attempt\":"),
            let channel = reader.ifThere(",\"channel\":", { Channel(from: &$0) }),
            let collapseID = reader.ifThere(",\"collapseID\":", { $0.string() }),
            let environment: APNsEnvironment = reader.word(after: ",\"environment\":"),
            let id: PushID = reader.value(after: ",\"id\":"),
            let priority: Int = reader.number(after: ",\"priority\":"),
            let pushType: PushType = reader.word(after: ",\"pushType\":"),
            let sendBefore: Int64 = reader.number(after: ",\"sendBeforeMilliseconds\":"),
            let timestampSeconds: Int64 = reader.number(after: ",\"timestampSeconds\":"),
            let token = reader.string(after: ",\"token\":"),
            let trial = reader.bool(after: ",\"trial\":"), reader.skip("}")
        else { return nil }
        self.apnsID = apnsID
        self.attempt = attempt
        self.channel = channel
        self.collapseID = collapseID
        self.environment = environment
        self.id = id
        self.priority = priority
        self.pushType = pushType
        sendBeforeMilliseconds = sendBefore
        self.timestampSeconds = timestampSeconds
        self.token = token
        self.trial = trial
    }
}

extension Pushes: Canonical {
    func write(to writer: inout CanonicalWriter) {
        writer.string("{\"application\":", application)
        writer.value(",\"notification\":", notification)
        writer.text(",\"pushes\":")
        writer.array(pushes)
        writer.byte("}")
    }

    init?(from reader: inout CanonicalReader) {
        guard let application = reader.string(after: "{\"application\":"),
            let notification: Notification = reader.value(after: ",\"notification\":"),
            reader.skip(",\"pushes\":"), let pushes: [Push] = reader.array(), reader.skip("}")
        else { return nil }
        self.init(application: application, notification: notification, pushes: pushes, payload: Payload())
    }
}
