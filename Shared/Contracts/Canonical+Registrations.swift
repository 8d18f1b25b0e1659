extension Registration: Canonical {
    func write(to writer: inout CanonicalWriter) {
        writer.number("{\"acceptedAtMilliseconds\":", acceptedAtMilliseconds)
        writer.string(",\"application\":", application)
        writer.value(",\"change\":", change)
        writer.string(",\"device\":", device)
        writer.number(",\"sequence\":", sequence)
        writer.byte("}")
    }

    init?(from reader: inout CanonicalReader) {
        guard let acceptedAt: Int64 = reader.number(after: "{\"acceptedAtMilliseconds\":"),
            let application = reader.string(after: ",\"application\":"),
            let change: Change = reader.value(after: ",\"change\":"),
            let device = reader.string(after: ",\"device\":"),
            let sequence: Int64 = reader.number(after: ",\"sequence\":"), reader.skip("}")
        else { return nil }
        self.init(
            sequence: sequence, application: application, device: device, change: change,
            acceptedAtMilliseconds: acceptedAt)
    }
}

extension Registration.Change: Canonical {
    func write(to writer: inout CanonicalWriter) {
        switch self {
        case .activityToken(let token):
            writer.string("{\"activityToken\":{\"activity\":", token.activity)
            writer.number(",\"registeredAtSeconds\":", token.registeredAtSeconds)
            writer.number(",\"run\":", token.run)
            writer.string(",\"token\":", token.token)
            writer.text("}}")
        case .startToken(let token):
            writer.text("{\"startToken\":{")
            if let type = token.attributesType {
                writer.string("\"attributesType\":", type)
                writer.byte(",")
            }
            if let seconds = token.registeredAtSeconds {
                writer.number("\"registeredAtSeconds\":", seconds)
                writer.byte(",")
            }
            writer.string("\"token\":", token.token)
            writer.text("}}")
        case .unregister: writer.text("{\"unregister\":true}")
        case .profile(let profile):
            writer.value("{\"profile\":", profile)
            writer.byte("}")
        case .tags(let tags):
            writer.text("{\"tags\":")
            writer.tags(tags)
            writer.byte("}")
        case .user(let user):
            writer.string("{\"user\":", user)
            writer.byte("}")
        }
    }

    init?(from reader: inout CanonicalReader) {
        if reader.skip("{\"unregister\":true}") {
            self = .unregister
        } else if reader.skip("{\"activityToken\":{\"activity\":") {
            guard let activity = reader.string(),
                let seconds = reader.ifThere(",\"registeredAtSeconds\":", { $0.number(Int64.self) }),
                let run: Int64 = reader.number(after: ",\"run\":"),
                let token = reader.string(after: ",\"token\":"), reader.skip("}}")
            else { return nil }
            self = .activityToken(
                ActivityToken(token: token, activity: activity, run: run, registeredAtSeconds: seconds))
        } else if reader.skip("{\"startToken\":{") {
            guard let type = reader.ifThere("\"attributesType\":", { $0.first { $0.string() } }),
                let seconds = reader.ifThere(
                    "\"registeredAtSeconds\":", { $0.first { $0.number(Int64.self) } }),
                let token = reader.string(after: "\"token\":"), reader.skip("}}")
            else { return nil }
            self = .startToken(
                StartToken(token: token, attributesType: type, registeredAtSeconds: seconds))
        } else if let profile: Profile = reader.value(after: "{\"profile\":") {
            self = .profile(profile)
            guard reader.skip("}") else { return nil }
        } else if reader.skip("{\"tags\":") {
            guard let tags = reader.tags(), reader.skip("}") else { return nil }
            self = .tags(tags)
        } else if reader.skip("{\"user\":") {
            guard let user = reader.string(), reader.skip("}") else { return nil }
            self = .user(user)
        } else {
            return nil
        }
    }
}

extension Taken: Canonical {
    func write(to writer: inout CanonicalWriter) {
        switch self {
        case .batch(let message, let pass, let index):
            writer.number("{\"batch\":{\"index\":", index)
            writer.number(",\"message\":", message)
            writer.value(",\"pass\":", pass)
        case .command(let message): writer.number("{\"command\":{\"message\":", message)
        case .registration(let sequence, let service):
            writer.string("{\"registration\":{\"by\":", service.rawValue)
            writer.number(",\"sequence\":", sequence)
        }
        writer.text("}}")
    }

    init?(from reader: inout CanonicalReader) {
        if reader.skip("{\"batch\":{\"index\":") {
            guard let index: Int = reader.number(),
                let message: Int64 = reader.number(after: ",\"message\":"),
                let pass: Pass = reader.value(after: ",\"pass\":")
            else { return nil }
            self = .batch(message: message, pass: pass, index: index)
        } else if reader.skip("{\"command\":{\"message\":") {
            guard let message: Int64 = reader.number() else { return nil }
            self = .command(message: message)
        } else {
            guard let service: ServiceName = reader.word(after: "{\"registration\":{\"by\":"),
                let sequence: Int64 = reader.number(after: ",\"sequence\":")
            else { return nil }
            self = .registration(sequence: sequence, by: service)
        }
        guard reader.skip("}}") else { return nil }
    }
}

extension Settled: Canonical {
    func write(to writer: inout CanonicalWriter) {
        writer.value("{\"counts\":", counts)
        writer.number(",\"message\":", message)
        writer.number(",\"revision\":", revision)
        writer.number(",\"settledAtMilliseconds\":", settledAtMilliseconds)
        writer.byte("}")
    }

    init?(from reader: inout CanonicalReader) {
        guard let counts: OutcomeCounts = reader.value(after: "{\"counts\":"),
            let message: Int64 = reader.number(after: ",\"message\":"),
            let revision: Int64 = reader.number(after: ",\"revision\":"),
            let settledAt: Int64 = reader.number(after: ",\"settledAtMilliseconds\":"), reader.skip("}")
        else { return nil }
        self.init(
            message: message, revision: revision, counts: counts, settledAtMilliseconds: settledAt)
    }
}

extension OutcomeCounts: Canonical {
    func write(to writer: inout CanonicalWriter) {
        writer.number("{\"cancelled\":", cancelled)
        writer.number(",\"delivered\":", delivered)
        writer.number(",\"expired\":", expired)
        writer.number(",\"failed\":", failed)
        writer.number(",\"superseded\":", superseded)
        writer.number(",\"unreachable\":", unreachable)
        writer.byte("}")
    }

    init?(from reader: inout CanonicalReader) {
        guard let cancelled: Int = reader.number(after: "{\"cancelled\":"),
            let delivered: Int = reader.number(after: ",\"delivered\":"),
            let expired: Int = reader.number(after: ",\"expired\":"),
            let failed: Int = reader.number(after: ",\"failed\":"),
            let superseded: Int = reader.number(after: ",\"superseded\":"),
            let unreachable: Int = reader.number(after: ",\"unreachable\":"), reader.skip("}")
        else { return nil }
        self.init()
        self.cancelled = cancelled
        self.delivered = delivered
        self.expired = expired
        self.failed = failed
        self.superseded = superseded
        self.unreachable = unreachable
    }
}
