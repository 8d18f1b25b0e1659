import Contracts
import JSON

/// Reads tags and what happens to them.
enum PushwooshTags {
    /// The most tags of one call.
    static let countMax = 200
    /// The most members of a list.
    static let listCountMax = 100

    /// The changes that a `tags` object asks for: values to set, numbers to add, `null` to remove.
    static func changes(_ value: JSONValue) throws(Refusal) -> [String: TagChange] {
        guard let members = value.members else { throw ObjectReader.wrong(value, "must be an object") }
        guard members.count <= countMax else {
            throw ObjectReader.wrong(value, "must have at most \(countMax) members", label: "tags")
        }
        var changes: [String: TagChange] = [:]
        for (name, value) in members {
            guard !name.isEmpty, name.utf8.count <= Texts.bytesMax else {
                throw ObjectReader.wrong(
                    value, "a tag's name has 1 to \(Texts.bytesMax) bytes", label: "tags")
            }
            changes[name] = try change(value)
        }
        return changes
    }

    private static func change(_ value: JSONValue) throws(Refusal) -> TagChange {
        switch value.kind {
        case .null: return .remove
        case .object: return try operation(try ObjectReader(value))
        default: return .set(try tagValue(value))
        }
    }

    private static func operation(_ members: ObjectReader) throws(Refusal) -> TagChange {
        let name = try members.required("operation")
        guard name.string == "increment" else {
            throw ObjectReader.wrong(name, "must be \"increment\"", label: "tags")
        }
        let value = try members.required("value")
        guard value.kind == .number else { throw ObjectReader.wrong(value, "must be a number") }
        try members.refuseUnknown(known: ["operation", "value"])
        return .increment(try tagValue(value))
    }

    /// A string, a number, a boolean or a list of strings and numbers.
    static func tagValue(_ value: JSONValue) throws(Refusal) -> TagValue {
        guard let elements = value.elements else { return try scalar(value) }
        guard elements.count <= listCountMax else {
            throw ObjectReader.wrong(value, "must have at most \(listCountMax) elements", label: "tags")
        }
        var list: [String] = []
        for element in elements { list.append(try member(element)) }
        return .list(list)
    }

    /// A member of a list; a number is kept as a filter writes it.
    private static func member(_ value: JSONValue) throws(Refusal) -> String {
        switch try scalar(value) {
        case .string(let text): return text
        case .integer(let number): return String(number)
        case .number(let number): return String(number)
        case .boolean, .list: throw ObjectReader.wrong(value, "must be a string or a number")
        }
    }

    /// The text of a string, which may be empty but not be without end; nil for other kinds.
    private static func string(_ value: JSONValue) throws(Refusal) -> String? {
        guard let text = value.string else { return nil }
        guard text.utf8.count <= Texts.bytesMax else {
            throw ObjectReader.wrong(value, "must have at most \(Texts.bytesMax) bytes", label: "tags")
        }
        return text
    }

    /// A string, a number or a boolean.
    static func scalar(_ value: JSONValue) throws(Refusal) -> TagValue {
        if let text = try string(value) { return .string(text) }
        if let truth = value.bool { return .boolean(truth) }
        if let integer = value.int64 { return .integer(integer) }
        // A whole number is an integer however it is written, since stores and messages do not tell them apart.
        if let number = value.double {
            return Int64(exactly: number).map(TagValue.integer) ?? .number(number)
        }
        throw ObjectReader.wrong(value, "must be a string, a finite number or a boolean")
    }
}
