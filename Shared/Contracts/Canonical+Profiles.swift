extension RegistrationGroup: Canonical {
    func write(to writer: inout CanonicalWriter) {
        writer.number("{\"acceptedAtMilliseconds\":", acceptedAtMilliseconds)
        writer.string(",\"application\":", application)
        writer.text(",\"entries\":")
        writer.array(entries)
        writer.number(",\"sequence\":", sequence)
        writer.byte("}")
    }

    init?(from reader: inout CanonicalReader) {
        guard let acceptedAt: Int64 = reader.number(after: "{\"acceptedAtMilliseconds\":"),
            let application = reader.string(after: ",\"application\":"), reader.skip(",\"entries\":"),
            let entries = reader.array(of: Entry.self),
            let sequence: Int64 = reader.number(after: ",\"sequence\":"), reader.skip("}")
        else { return nil }
        self.init(
            sequence: sequence, application: application, acceptedAtMilliseconds: acceptedAt,
            entries: entries)
    }
}

extension RegistrationGroup.Entry: Canonical {
    func write(to writer: inout CanonicalWriter) {
        writer.value("{\"change\":", change)
        writer.string(",\"device\":", device)
        writer.number(",\"sequence\":", sequence)
        writer.byte("}")
    }

    init?(from reader: inout CanonicalReader) {
        guard let change: Registration.Change = reader.value(after: "{\"change\":"),
            let device = reader.string(after: ",\"device\":"),
            let sequence: Int64 = reader.number(after: ",\"sequence\":"), reader.skip("}")
        else { return nil }
        self.init(sequence: sequence, device: device, change: change)
    }
}

extension Profile: Canonical {
    func write(to writer: inout CanonicalWriter) {
        var comma = ""
        func next(_ isThere: Bool, _ body: (inout CanonicalWriter) -> Void) {
            guard isThere else { return }
            writer.text(comma)
            body(&writer)
            comma = ","
        }
        writer.byte("{")
        next(appVersion != nil) { $0.string("\"appVersion\":", appVersion) }
        next(deviceModel != nil) { $0.string("\"deviceModel\":", deviceModel) }
        next(deviceType != nil) { $0.number("\"deviceType\":", deviceType) }
        next(environment != nil) { $0.string("\"environment\":", environment?.rawValue) }
        next(frequentPushes != nil) { $0.bool("\"frequentPushes\":", frequentPushes ?? false) }
        next(language != nil) { $0.string("\"language\":", language) }
        next(osVersion != nil) { $0.string("\"osVersion\":", osVersion) }
        next(pushToken != nil) { $0.string("\"pushToken\":", pushToken) }
        next(tags != nil) { writer in
            writer.text("\"tags\":")
            writer.tags(tags ?? [:])
        }
        next(timezoneSeconds != nil) { $0.number("\"timezoneSeconds\":", timezoneSeconds) }
        next(user != nil) { $0.string("\"user\":", user) }
        writer.byte("}")
    }

    init?(from reader: inout CanonicalReader) {
        guard reader.skip("{") else { return nil }
        self.init()
        var place = CanonicalReader.ObjectPlace()
        appVersion = reader.member("\"appVersion\":", &place) { $0.string() }
        deviceModel = reader.member("\"deviceModel\":", &place) { $0.string() }
        deviceType = reader.member("\"deviceType\":", &place) { $0.number() }
        environment = reader.member("\"environment\":", &place) { $0.word() }
        frequentPushes = reader.member("\"frequentPushes\":", &place) { $0.bool() }
        language = reader.member("\"language\":", &place) { $0.string() }
        osVersion = reader.member("\"osVersion\":", &place) { $0.string() }
        pushToken = reader.member("\"pushToken\":", &place) { $0.string() }
        tags = reader.member("\"tags\":", &place) { $0.tags() }
        timezoneSeconds = reader.member("\"timezoneSeconds\":", &place) { $0.number() }
        user = reader.member("\"user\":", &place) { $0.string() }
        guard place.mayEnd, reader.skip("}") else { return nil }
    }
}

extension CanonicalWriter {
    /// Tags and what happens to them, by name.
    mutating func tags(_ tags: [String: TagChange]) {
        byte("{")
        var comma = ""
        // By their bytes, which for ASCII is the usual encoder's order.
        for (name, change) in tags.sorted(by: { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }) {
            guard name.utf8.allSatisfy({ $0 < 0x80 }) else { return giveUp() }
            string(comma, name)
            value(":", change)
            comma = ","
        }
        byte("}")
    }
}

extension CanonicalReader {
    /// What `CanonicalWriter.tags` writes.
    mutating func tags() -> [String: TagChange]? {
        guard skip("{") else { return nil }
        var tags: [String: TagChange] = [:]
        if skip("}") { return tags }
        repeat {
            // A name that stands twice is left to the usual decoder.
            guard let name = string(), let change: TagChange = value(after: ":"),
                tags.updateValue(change, forKey: name) == nil
            else { return nil }
        } while skip(",")
        return skip("}") ? tags : nil
    }
}

extension TagChange: Canonical {
    func write(to writer: inout CanonicalWriter) {
        switch self {
        case .set(let value): writer.value("{\"set\":", value)
        case .increment(let step): writer.value("{\"increment\":", step)
        case .remove: writer.text("{\"remove\":true")
        }
        writer.byte("}")
    }

    init?(from reader: inout CanonicalReader) {
        if let value: TagValue = reader.value(after: "{\"set\":") {
            self = .set(value)
        } else if let step: TagValue = reader.value(after: "{\"increment\":") {
            self = .increment(step)
        } else if reader.skip("{\"remove\":true") {
            self = .remove
        } else {
            return nil
        }
        guard reader.skip("}") else { return nil }
    }
}

extension TagValue: Canonical {
    /// Numbers that every printer writes alike: with a fraction, and neither huge nor tiny.
    private static let plain = 0.001...1_000_000_000

    func write(to writer: inout CanonicalWriter) {
        switch self {
        case .string(let text): writer.string("", text)
        case .integer(let number): writer.number(number)
        case .boolean(let truth): writer.bool("", truth)
        case .number(let number):
            guard TagValue.plain.contains(number.magnitude), number != number.rounded() else {
                return writer.giveUp()
            }
            writer.text(number.description)
        case .list(let members):
            writer.byte("[")
            for (index, member) in members.enumerated() { writer.string(index > 0 ? "," : "", member) }
            writer.byte("]")
        }
    }

    init?(from reader: inout CanonicalReader) {
        if let text = reader.attempt({ $0.string() }) {
            self = .string(text)
        } else if let truth = reader.bool() {
            self = .boolean(truth)
        } else if let number: Int64 = reader.attempt({ $0.number() }) {
            self = .integer(number)
        } else if let number = reader.attempt({ $0.fraction() }) {
            self = .number(number)
        } else if let members = reader.array({ $0.string() }) {
            self = .list(members)
        } else {
            return nil
        }
    }
}
