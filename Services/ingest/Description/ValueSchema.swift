import JSON

/// A JSON Schema as OpenAPI 3.1 takes it, in the few words that the doors need.
struct ValueSchema: JSONWritable, Sendable {
    private let bytes: [UInt8]

    /// Writes one by hand.
    init(_ body: (inout JSONWriter) -> Void) { bytes = JSONWriter.object(body) }

    func write(to writer: inout JSONWriter) { JSONRaw(bytes).write(to: &writer) }

    /// A member of an object.
    struct Member: Sendable {
        let name: String
        let schema: ValueSchema
        let isRequired: Bool

        static func must(_ name: String, _ schema: ValueSchema) -> Member {
            Member(name: name, schema: schema, isRequired: true)
        }

        static func may(_ name: String, _ schema: ValueSchema) -> Member {
            Member(name: name, schema: schema, isRequired: false)
        }
    }

    /// One that stands under `components`.
    static func named(_ name: String) -> ValueSchema {
        ValueSchema { $0.member("$ref", "#/components/schemas/\(name)") }
    }

    /// A name or id: not blank, at most 1,024 bytes, no control characters.
    static var text: ValueSchema { named("Text") }
    /// Hexadecimal digits.
    static var token: ValueSchema { named("Token") }
    /// Seconds since 1970.
    static var seconds: ValueSchema { named("Seconds") }
    /// Any value.
    static var anything: ValueSchema { ValueSchema { _ in } }
    /// Any object; its bytes go on as they came.
    static func anyObject(_ description: String? = nil) -> ValueSchema { plain("object", description) }
    static func string(_ description: String? = nil) -> ValueSchema { plain("string", description) }
    static func boolean(_ description: String? = nil) -> ValueSchema { plain("boolean", description) }
    static func number(_ description: String? = nil) -> ValueSchema { plain("number", description) }
    static var null: ValueSchema { plain("null") }

    /// One of a few strings.
    static func word(_ words: [String], _ description: String? = nil) -> ValueSchema {
        ValueSchema {
            $0.member("type", "string")
            $0.member("enum", words)
            if let description { $0.member("description", description) }
        }
    }

    /// An integer within bounds.
    static func integer(_ range: ClosedRange<Int64>? = nil, _ description: String? = nil) -> ValueSchema {
        ValueSchema {
            $0.member("type", "integer")
            if let range {
                $0.member("minimum", range.lowerBound)
                $0.member("maximum", range.upperBound)
            }
            if let description { $0.member("description", description) }
        }
    }

    /// A string of a form.
    static func pattern(_ pattern: String, lengthMax: Int? = nil, _ description: String? = nil) -> ValueSchema
    {
        ValueSchema {
            $0.member("type", "string")
            $0.member("pattern", pattern)
            if let lengthMax { $0.member("maxLength", lengthMax) }
            if let description { $0.member("description", description) }
        }
    }

    /// A list.
    static func list(_ element: ValueSchema, counts: ClosedRange<Int>? = nil, _ description: String? = nil)
        -> ValueSchema
    {
        ValueSchema {
            $0.member("type", "array")
            $0.member("items", element)
            if let counts {
                $0.member("minItems", counts.lowerBound)
                $0.member("maxItems", counts.upperBound)
            }
            if let description { $0.member("description", description) }
        }
    }

    /// An object whose members have any name.
    static func map(_ value: ValueSchema, countMax: Int? = nil, _ description: String? = nil) -> ValueSchema {
        ValueSchema {
            $0.member("type", "object")
            $0.member("additionalProperties", value)
            if let countMax { $0.member("maxProperties", countMax) }
            if let description { $0.member("description", description) }
        }
    }

    /// An object; unless it is open, members that are not named are refused; all rules must hold besides.
    static func object(
        _ members: [Member], isOpen: Bool = false, rules: [ValueSchema] = [], _ description: String? = nil
    ) -> ValueSchema {
        ValueSchema { schema in
            schema.member("type", "object")
            schema.object("properties") { properties in
                for member in members { properties.member(member.name, member.schema) }
            }
            let required = members.filter(\.isRequired).map(\.name)
            if !required.isEmpty { schema.member("required", required) }
            if !isOpen { schema.member("additionalProperties", false) }
            if !rules.isEmpty { schema.member("allOf", rules) }
            if let description { schema.member("description", description) }
        }
    }

    /// Exactly one of some schemas.
    static func oneOf(_ schemas: [ValueSchema]) -> ValueSchema { ValueSchema { $0.member("oneOf", schemas) } }

    /// At least one of some schemas.
    static func anyOf(_ schemas: [ValueSchema]) -> ValueSchema { ValueSchema { $0.member("anyOf", schemas) } }

    /// A value or `null`.
    func orNull() -> ValueSchema { ValueSchema.anyOf([self, .null]) }

    /// Members that have to be there together.
    static func has(_ names: String...) -> ValueSchema { ValueSchema { $0.member("required", names) } }

    /// Members that must not be there together.
    static func hasNot(_ names: String...) -> ValueSchema {
        ValueSchema { $0.member("not", ValueSchema { $0.member("required", names) }) }
    }

    private static func plain(_ type: String, _ description: String? = nil) -> ValueSchema {
        ValueSchema {
            $0.member("type", type)
            if let description { $0.member("description", description) }
        }
    }
}
