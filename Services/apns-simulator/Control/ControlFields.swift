import JSON

/// Why a control call is refused.
struct ControlFault: Error, Equatable {
    var status = 400
    var message: String
}

/// The members of a control call's JSON object, read by name; one that nobody knows is refused.
struct ControlFields {
    private let value: JSONValue?

    /// Reads a value that has to be an object with no other names than the known ones, or nothing at all.
    init(_ value: JSONValue?, known: [String]) throws(ControlFault) {
        self.value = value
        guard let value else { return }
        guard let members = value.members else { throw ControlFault(message: "an object is expected") }
        for (name, member) in members where !known.contains(name) {
            throw ControlFault(message: "\(member.path): unknown member")
        }
    }

    /// Reads a body; an empty one has no members.
    init(body: [UInt8], known: [String]) throws(ControlFault) {
        try self.init(body.isEmpty ? nil : Self.document(body).root, known: known)
    }

    static func document(_ body: [UInt8]) throws(ControlFault) -> JSONDocument {
        do { return try JSONDocument(body) } catch { throw ControlFault(message: "\(error)") }
    }

    /// The value of a member; nil when it is missing or null.
    subscript(name: String) -> JSONValue? {
        value?[name].flatMap { $0.isNull ? nil : $0 }
    }

    /// Whether a member stands there, `null` too.
    func has(_ name: String) -> Bool { value?[name] != nil }

    func string(_ name: String) throws(ControlFault) -> String? {
        try read(name, "a string") { $0.string }
    }

    func bool(_ name: String) throws(ControlFault) -> Bool? {
        try read(name, "true or false") { $0.bool }
    }

    func int(_ name: String, in range: ClosedRange<Int64> = 0...Int64.max) throws(ControlFault) -> Int64? {
        try read(name, "an integer of \(range.lowerBound) or more") {
            $0.int64.flatMap { range.contains($0) ? $0 : nil }
        }
    }

    func strings(_ name: String) throws(ControlFault) -> [String]? {
        try read(name, "an array of strings") { value in
            guard let elements = value.elements else { return nil }
            let texts = elements.compactMap(\.string)
            return texts.count == elements.count ? texts : nil
        }
    }

    /// The bytes of a member that is an object.
    func object(_ name: String) throws(ControlFault) -> [UInt8]? {
        try read(name, "an object") { $0.kind == .object ? $0.bytes : nil }
    }

    func environment(_ name: String) throws(ControlFault) -> APNsEnvironment? {
        try read(name, "\"production\" or \"sandbox\"") { $0.string.flatMap(APNsEnvironment.init) }
    }

    func required<Value>(_ name: String, _ value: Value?) throws(ControlFault) -> Value {
        guard let value else { throw ControlFault(message: "\(name): missing") }
        return value
    }

    private func read<Value>(
        _ name: String, _ expected: String, _ take: (JSONValue) -> Value?
    ) throws(ControlFault) -> Value? {
        guard let member = self[name] else { return nil }
        guard let value = take(member) else {
            throw ControlFault(message: "\(member.path): \(expected) is expected")
        }
        return value
    }
}
