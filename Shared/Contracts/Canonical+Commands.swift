extension Command: Canonical {
    func write(to writer: inout CanonicalWriter) {
        writer.number("{\"acceptedAtMilliseconds\":", acceptedAtMilliseconds)
        writer.string(",\"activity\":", activity)
        writer.string(",\"application\":", application)
        writer.value(",\"audience\":", audience)
        writer.number(",\"cancelledMessage\":", cancelledMessage)
        writer.value(",\"channel\":", channel)
        writer.string(",\"environment\":", environment?.rawValue)
        writer.string(",\"kind\":", kind.rawValue)
        writer.value(",\"notification\":", notification)
        writer.value(",\"order\":", order)
        writer.number(",\"run\":", run)
        writer.number(",\"sequence\":", sequence)
        writer.byte("}")
    }

    init?(from reader: inout CanonicalReader) {
        guard let acceptedAt: Int64 = reader.number(after: "{\"acceptedAtMilliseconds\":"),
            let activity = reader.string(after: ",\"activity\":"),
            let application = reader.string(after: ",\"application\":"),
            let audience: Audience = reader.value(after: ",\"audience\":"),
            let cancelledMessage = reader.ifThere(",\"cancelledMessage\":", { $0.number(Int64.self) }),
            let channel = reader.ifThere(",\"channel\":", { Channel(from: &$0) }),
            let environment = reader.ifThere(",\"environment\":", { $0.word(APNsEnvironment.self) }),
            let kind: Kind = reader.word(after: ",\"kind\":"),
            let notification = reader.ifThere(",\"notification\":", { Notification(from: &$0) }),
            let order: Order = reader.value(after: ",\"order\":"),
            let run: Int64 = reader.number(after: ",\"run\":"),
            let sequence: Int64 = reader.number(after: ",\"sequence\":"), reader.skip("}")
        else { return nil }
        self.init(
            sequence: sequence, application: application, kind: kind, run: run, activity: activity,
            order: order, acceptedAtMilliseconds: acceptedAt, audience: audience, notification: notification)
        self.cancelledMessage = cancelledMessage
        self.environment = environment
        self.channel = channel
    }
}

extension Audience: Canonical {
    func write(to writer: inout CanonicalWriter) {
        switch self {
        case .activity: writer.text("{\"activity\":true}")
        case .devices(let devices):
            writer.text("{\"devices\":")
            writer.array(devices)
            writer.byte("}")
        case .filter(.everyone): writer.text("{\"filter\":{\"everyone\":true}}")
        // A filter is written once for many recipients: not worth a second way of writing it.
        case .filter: writer.giveUp()
        case .token(let token):
            writer.string("{\"token\":", token)
            writer.byte("}")
        case .users(let users):
            writer.text("{\"users\":")
            writer.array(users)
            writer.byte("}")
        }
    }

    init?(from reader: inout CanonicalReader) {
        if reader.skip("{\"activity\":true}") {
            self = .activity
        } else if reader.skip("{\"filter\":{\"everyone\":true}}") {
            self = .filter(.everyone)
        } else if reader.skip("{\"token\":") {
            guard let token = reader.string(), reader.skip("}") else { return nil }
            self = .token(token)
        } else if reader.skip("{\"devices\":") {
            guard let devices: [String] = reader.array(), reader.skip("}") else { return nil }
            self = .devices(devices)
        } else if reader.skip("{\"users\":") {
            guard let users: [String] = reader.array(), reader.skip("}") else { return nil }
            self = .users(users)
        } else {
            return nil
        }
    }
}

extension String: Canonical {
    func write(to writer: inout CanonicalWriter) { writer.string("", self) }

    init?(from reader: inout CanonicalReader) {
        guard let text = reader.string() else { return nil }
        self = text
    }
}

extension Pass: Canonical {
    func write(to writer: inout CanonicalWriter) {
        writer.number("{\"epoch\":", epoch)
        writer.number(",\"number\":", number)
        writer.byte("}")
    }

    init?(from reader: inout CanonicalReader) {
        guard let epoch: Int64 = reader.number(after: "{\"epoch\":"),
            let number: Int64 = reader.number(after: ",\"number\":"), reader.skip("}")
        else { return nil }
        self.init(epoch: epoch, number: number)
    }
}

extension Batch {
    /// Writes the batch around its command, which the usual encoder writes where it must.
    func write(to writer: inout CanonicalWriter, command: [UInt8]?) {
        writer.text("{\"command\":")
        if let command { writer.raw(command) } else { self.command.write(to: &writer) }
        writer.number(",\"index\":", index)
        writer.bool(",\"last\":", last)
        writer.value(",\"pass\":", pass)
        writer.text(",\"recipients\":")
        writer.array(recipients)
        writer.byte("}")
    }

    /// Reads what `write` writes.
    init?(from reader: inout CanonicalReader, usualCommand: (ArraySlice<UInt8>) -> Command?) {
        guard reader.skip("{\"command\":") else { return nil }
        let start = reader
        var command = Command(from: &reader)
        if command == nil {
            reader = start
            command = reader.object().flatMap(usualCommand)
        }
        guard let command, let index: Int = reader.number(after: ",\"index\":"),
            let last = reader.bool(after: ",\"last\":"), let pass: Pass = reader.value(after: ",\"pass\":"),
            reader.skip(",\"recipients\":"), let recipients: [String] = reader.array(), reader.skip("}")
        else { return nil }
        self.init(pass: pass, index: index, last: last, recipients: recipients, command: command)
    }
}
