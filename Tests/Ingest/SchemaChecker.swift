import JSON

/// Checks values against the part of JSON Schema (draft 2020-12) that the description of the doors uses.
///
/// `maxLength` counts bytes, as the description says. A word that it does not know is a fault of the schema.
struct SchemaChecker {
    /// `components.schemas`.
    let components: JSONValue

    /// What the words say of values; all others only describe.
    static let words: Set<String> = [
        "$ref", "type", "properties", "required", "additionalProperties", "maxProperties", "propertyNames",
        "items", "minItems", "maxItems", "enum", "minimum", "maximum", "pattern", "maxLength", "oneOf",
        "anyOf",
        "allOf", "not",
    ]

    func accepts(_ value: JSONValue, _ schema: JSONValue) -> Bool { faults(value, schema).isEmpty }

    /// What is wrong with a value, by the words of its schema.
    func faults(_ value: JSONValue, _ schema: JSONValue) -> [String] {
        (schema.members.map(Array.init) ?? []).flatMap { word, rule -> [String] in
            fault(value, word, rule, schema).map { "\(value.path): \($0)" }
        }
    }

    private func fault(_ value: JSONValue, _ word: String, _ rule: JSONValue, _ schema: JSONValue) -> [String]
    {
        switch word {
        case "description": []
        case "$ref":
            rule.string.flatMap(target).map { faults(value, $0) } ?? ["no such schema: \(rule.string ?? "")"]
        case "type": check(isOfType(value, rule.string ?? ""), "is no \(rule.string ?? "")")
        case "enum":
            check(rule.elements?.contains { $0.bytes == value.bytes } ?? false, "is none of the words")
        case "oneOf": check(count(value, rule) == 1, "fits \(count(value, rule)) of oneOf")
        case "anyOf": check(count(value, rule) > 0, "fits none of anyOf")
        case "allOf": rule.elements?.flatMap { faults(value, $0) } ?? []
        case "not": check(!accepts(value, rule), "fits what it must not")
        case "minimum", "maximum", "pattern", "maxLength": scalarFault(value, word, rule)
        case "items", "minItems", "maxItems": listFault(value, word, rule)
        case "properties", "required", "additionalProperties", "maxProperties", "propertyNames":
            objectFault(value, word, rule, schema)
        default: ["unknown word \(word)"]
        }
    }

    private func scalarFault(_ value: JSONValue, _ word: String, _ rule: JSONValue) -> [String] {
        if let number = value.double, let bound = rule.double {
            return check(word == "minimum" ? number >= bound : number <= bound, "beyond its \(word)")
        }
        guard let text = value.string else { return [] }
        if word == "maxLength" { return check(text.utf8.count <= rule.int64 ?? 0, "too long") }
        guard let pattern = rule.string, let regex = try? Regex(pattern).matchingSemantics(.unicodeScalar)
        else {
            return word == "pattern" ? ["no pattern"] : []
        }
        return check(text.firstMatch(of: regex) != nil, "does not match \(pattern)")
    }

    private func listFault(_ value: JSONValue, _ word: String, _ rule: JSONValue) -> [String] {
        guard let elements = value.elements else { return [] }
        switch word {
        case "items": return elements.flatMap { faults($0, rule) }
        case "minItems": return check(elements.count >= rule.int64 ?? 0, "has too few elements")
        default: return check(elements.count <= rule.int64 ?? 0, "has too many elements")
        }
    }

    private func objectFault(_ value: JSONValue, _ word: String, _ rule: JSONValue, _ schema: JSONValue)
        -> [String]
    {
        guard let members = value.members else { return [] }
        switch word {
        case "properties":
            return members.flatMap { name, member in rule[name].map { faults(member, $0) } ?? [] }
        case "required":
            return (rule.elements?.compactMap(\.string) ?? []).flatMap {
                check(value[$0] != nil, "lacks \($0)")
            }
        case "maxProperties": return check(members.count <= rule.int64 ?? 0, "has too many members")
        case "propertyNames":
            return members.flatMap { name, _ in faults(JSONDocument.string(name), rule) }
        default:
            let others = members.filter { schema["properties"]?[$0.name] == nil }
            if rule.bool == false { return others.map { "unknown member \($0.name)" } }
            return others.flatMap { faults($0.value, rule) }
        }
    }

    private func target(_ reference: String) -> JSONValue? {
        let prefix = "#/components/schemas/"
        return reference.hasPrefix(prefix) ? components[String(reference.dropFirst(prefix.count))] : nil
    }

    private func count(_ value: JSONValue, _ schemas: JSONValue) -> Int {
        schemas.elements?.count { accepts(value, $0) } ?? 0
    }

    private func isOfType(_ value: JSONValue, _ type: String) -> Bool {
        switch type {
        case "integer": value.int64 != nil
        case "number": value.double != nil
        case "boolean": value.bool != nil
        case "string": value.kind == .string
        case "object": value.kind == .object
        case "array": value.kind == .array
        case "null": value.isNull
        default: false
        }
    }

    private func check(_ isRight: Bool, _ fault: String) -> [String] { isRight ? [] : [fault] }
}

extension JSONDocument {
    fileprivate static func string(_ text: String) -> JSONValue { value(JSONText.quote(text)) }

    /// A value that is known to be well formed.
    static func value(_ text: String) -> JSONValue {
        guard let document = try? JSONDocument(text: text) else { preconditionFailure("no JSON: \(text)") }
        return document.root
    }
}
