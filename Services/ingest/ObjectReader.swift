import JSON

/// One object of a request, read member by member; what is wrong is named by its path.
struct ObjectReader {
    /// The object.
    let value: JSONValue

    /// Takes an object.
    ///
    /// - Throws: `Refusal` for any other kind of value.
    init(_ value: JSONValue) throws(Refusal) {
        guard value.kind == .object else { throw ObjectReader.wrong(value, "must be an object") }
        self.value = value
    }

    /// Takes the object that is a whole body.
    init(body: [UInt8]) throws(Refusal) {
        let document: JSONDocument
        do {
            document = try JSONDocument(body)
        } catch {
            throw Refusal(json: error)
        }
        try self.init(document.root)
    }

    /// Where the object stands, as a caller knows it: without the `request` around everything at the Pushwoosh door.
    static func name(_ path: String) -> String {
        path.hasPrefix("request.") ? String(path.dropFirst("request.".count)) : path
    }

    /// A member's name for errors, also of one that is missing.
    func name(of member: String) -> String { ObjectReader.name(value.path(of: member)) }

    /// A refusal that names a value.
    static func wrong(_ value: JSONValue, _ problem: String, label: String = "type") -> Refusal {
        Refusal(name(value.path), problem, label: label)
    }

    /// A refusal that names a member.
    func wrong(_ member: String, _ problem: String, label: String = "value") -> Refusal {
        Refusal(name(of: member), problem, label: label)
    }

    /// The member that has to be there.
    func required(_ member: String) throws(Refusal) -> JSONValue {
        guard let found = value[member] else { throw wrong(member, "missing", label: "missing") }
        return found
    }

    /// The member if it is there and not `null`: what apps send for what they do not know.
    func lenient(_ member: String) -> JSONValue? {
        guard let found = value[member], !found.isNull else { return nil }
        return found
    }

    /// A string that has to be there and say something.
    func requiredText(_ member: String, bytesMax: Int = Texts.bytesMax) throws(Refusal) -> String {
        try Texts.text(try required(member), bytesMax: bytesMax)
    }

    /// A string that may be missing, but not be of another type; one that says nothing counts as missing.
    func optionalString(_ member: String) throws(Refusal) -> String? {
        guard let found = value[member] else { return nil }
        guard let text = found.string else { throw ObjectReader.wrong(found, "must be a string") }
        return text.isBlank ? nil : text
    }

    /// As `optionalString`, and `null` counts as missing.
    func lenientString(_ member: String) throws(Refusal) -> String? {
        lenient(member) == nil ? nil : try optionalString(member)
    }

    /// A text of at most 1,024 bytes that an app may give; empty, blank and `null` count as missing.
    func lenientText(_ member: String) throws(Refusal) -> String? {
        try lenientString(member) == nil ? nil : try requiredText(member)
    }

    /// Seconds since 1970 that an app may give with a token.
    func lenientSeconds(_ member: String, nowSeconds: Int64) throws(Refusal) -> Int64? {
        guard let found = lenient(member) else { return nil }
        return try Seconds.notAhead(found, nowSeconds: nowSeconds)
    }

    /// Refuses members that the door does not know, by name.
    func refuseUnknown(known: Set<String>) throws(Refusal) {
        guard let members = value.members else { return }
        let unknown = members.filter { !known.contains($0.name) }
        guard !unknown.isEmpty else { return }
        throw Refusal(
            .argument,
            unknown.map {
                Refusal.Violation(field: ObjectReader.name($0.value.path), problem: "unknown member")
            },
            label: "unknown")
    }
}

/// What an error names; its path is worked out only when there is one.
enum FieldName {
    /// A path.
    case text(String)
    /// A member of an object, also one that is missing.
    case member(ObjectReader, String)

    var text: String {
        switch self {
        case .text(let text): text
        case .member(let object, let name): object.name(of: name)
        }
    }
}

/// Strings with limits.
enum Texts {
    /// The longest identifier or name, in bytes of UTF-8.
    static let bytesMax = 1_024

    /// A string that says something, has no control characters and is not too long.
    static func text(_ value: JSONValue, bytesMax: Int = Texts.bytesMax) throws(Refusal) -> String {
        guard let text = value.string else { throw ObjectReader.wrong(value, "must be a string") }
        guard !text.isEmpty else { throw ObjectReader.wrong(value, "must not be empty", label: "value") }
        guard !text.isBlank else { throw ObjectReader.wrong(value, "must not be blank", label: "value") }
        guard text.utf8.count <= bytesMax else {
            throw ObjectReader.wrong(value, "must have at most \(bytesMax) bytes", label: "value")
        }
        guard text.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F }) else {
            throw ObjectReader.wrong(value, "must not hold control characters", label: "value")
        }
        return text
    }
}

extension String {
    /// Whether it holds nothing but white space.
    var isBlank: Bool { unicodeScalars.allSatisfy(\.properties.isWhitespace) }
}
