extension Report: Canonical {
    func write(to writer: inout CanonicalWriter) {
        writer.byte("{")
        if let apnsTimestampMilliseconds {
            writer.number("\"apnsTimestampMilliseconds\":", apnsTimestampMilliseconds)
            writer.byte(",")
        }
        writer.string("\"application\":", application)
        writer.number(",\"attempt\":", attempt)
        writer.string(",\"environment\":", environment.rawValue)
        writer.value(",\"id\":", id)
        writer.number(",\"priority\":", priority)
        writer.string(",\"reason\":", reason)
        writer.string(",\"result\":", result.rawValue)
        writer.number(",\"retryAtMilliseconds\":", retryAtMilliseconds)
        writer.number(",\"sentAtMilliseconds\":", sentAtMilliseconds)
        writer.number(",\"status\":", status)
        writer.value(",\"supersededBy\":", supersededBy)
        writer.string(",\"token\":", token)
        writer.number(",\"wireTimestampSeconds\":", wireTimestampSeconds)
        writer.byte("}")
    }

    init?(from reader: inout CanonicalReader) {
        guard reader.skip("{"),
            let apnsTimestamp = reader.ifThere(
                "\"apnsTimestampMilliseconds\":",
                { reader in
                    let number = reader.number(Int64.self)
                    return reader.skip(",") ? number : nil
                }),
            let application = reader.string(after: "\"application\":"),
            let attempt: Int = reader.number(after: ",\"attempt\":"),
            let environment: APNsEnvironment = reader.word(after: ",\"environment\":"),
            let id: PushID = reader.value(after: ",\"id\":"),
            let priority = reader.ifThere(",\"priority\":", { $0.number(Int.self) }),
            let reason = reader.ifThere(",\"reason\":", { $0.string() }),
            let result: Result = reader.word(after: ",\"result\":"),
            let retryAt = reader.ifThere(",\"retryAtMilliseconds\":", { $0.number(Int64.self) }),
            let sentAt = reader.ifThere(",\"sentAtMilliseconds\":", { $0.number(Int64.self) }),
            let status = reader.ifThere(",\"status\":", { $0.number(Int.self) }),
            let supersededBy = reader.ifThere(",\"supersededBy\":", { PushID(from: &$0) }),
            let token = reader.ifThere(",\"token\":", { $0.string() }),
            let wire = reader.ifThere(",\"wireTimestampSeconds\":", { $0.number(Int64.self) }),
            reader.skip("}")
        else { return nil }
        self.init(
            id: id, attempt: attempt, application: application, environment: environment, result: result,
            status: status, reason: reason)
        apnsTimestampMilliseconds = apnsTimestamp
        self.priority = priority
        retryAtMilliseconds = retryAt
        sentAtMilliseconds = sentAt
        self.supersededBy = supersededBy
        self.token = token
        wireTimestampSeconds = wire
    }
}

extension Noted: Canonical {
    func write(to writer: inout CanonicalWriter) {
        writer.text("{\"keys\":")
        writer.array(keys)
        writer.byte("}")
    }

    init?(from reader: inout CanonicalReader) {
        guard reader.skip("{\"keys\":"), let keys: [CustodyKey] = reader.array(), reader.skip("}") else {
            return nil
        }
        self.init(keys)
    }
}

extension CustodyKey: Canonical {
    func write(to writer: inout CanonicalWriter) {
        switch self {
        case .report(let id, let attempt):
            writer.number("\"report:", id.message)
            writer.number(":", id.device)
            writer.number(":", attempt)
            writer.byte("\"")
        default: writer.string("", description)
        }
    }

    init?(from reader: inout CanonicalReader) {
        guard reader.skip("\"report:") else {
            guard let key = reader.string().flatMap({ CustodyKey($0) }) else { return nil }
            self = key
            return
        }
        guard let message: Int64 = reader.number(), let device: Int64 = reader.number(after: ":"),
            let attempt: Int = reader.number(after: ":"), reader.skip("\"")
        else { return nil }
        self = .report(PushID(message: message, device: device), attempt: attempt)
    }
}

extension Envelope: Canonical {
    func write(to writer: inout CanonicalWriter) {
        writer.number("{\"from\":{\"epoch\":", from.epoch)
        writer.string(",\"instance\":", from.instance.description)
        writer.number("},\"id\":", id)
        writer.number(",\"sentAtMilliseconds\":", sentAtMilliseconds)
        writer.number(",\"to\":", to)
        writer.string(",\"type\":", type.rawValue)
        writer.number(",\"v\":", v)
        writer.byte("}")
    }

    /// Reads an envelope of a version that is read here.
    init?(from reader: inout CanonicalReader) {
        guard let epoch: Int64 = reader.number(after: "{\"from\":{\"epoch\":"),
            let instance = reader.string(after: ",\"instance\":").flatMap({ InstanceName($0) }),
            let id: Int64 = reader.number(after: "},\"id\":"),
            let sentAt: Int64 = reader.number(after: ",\"sentAtMilliseconds\":"),
            let to: Int64? = reader.ifThere(",\"to\":", { $0.number() }),
            let type: MessageType = reader.word(after: ",\"type\":"),
            let version: Int = reader.number(after: ",\"v\":"), reader.skip("}"),
            Envelope.versionsRead.contains(version)
        else { return nil }
        self.init(
            type: type, id: id, from: Sender(instance, epoch: epoch), to: to, sentAtMilliseconds: sentAt)
        v = version
    }
}
