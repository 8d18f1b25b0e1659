/// The value of a tag.
public enum TagValue: Codable, Sendable, Hashable {
    case string(String)
    case integer(Int64)
    case number(Double)
    case boolean(Bool)
    case list([String])

    /// Reads a plain JSON value.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if let value = try? container.decode(Bool.self) {
            self = .boolean(value)
        } else if let value = try? container.decode(Int64.self) {
            self = .integer(value)
        } else if let value = try? container.decode(Double.self) {
            self = .number(value)
        } else if let value = try? container.decode(String.self) {
            self = .string(value)
        } else {
            self = .list(try container.decode([String].self))
        }
    }

    /// Writes a plain JSON value.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .string(let value): try container.encode(value)
        case .integer(let value): try container.encode(value)
        case .number(let value): try container.encode(value)
        case .boolean(let value): try container.encode(value)
        case .list(let value): try container.encode(value)
        }
    }
}

/// What happens to one tag.
public enum TagChange: Sendable, Equatable {
    /// The tag has this value from now on.
    case set(TagValue)
    /// The number grows by so much; a tag that is not there counts as 0.
    case increment(TagValue)
    /// The tag is taken away.
    case remove
}

extension TagChange: Codable {
    enum CodingKeys: String, CodingKey { case set, increment, remove }

    /// Reads `{"set": value}`, `{"increment": number}` or `{"remove": true}`.
    public init(from decoder: any Decoder) throws {
        let (values, key) = try decoder.onlyMember(CodingKeys.self)
        switch key {
        case .set: self = .set(try values.decode(TagValue.self, forKey: key))
        case .increment: self = .increment(try values.decode(TagValue.self, forKey: key))
        case .remove: self = .remove
        }
    }

    /// Writes the form that is read.
    public func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: CodingKeys.self)
        switch self {
        case .set(let value): try values.encode(value, forKey: .set)
        case .increment(let value): try values.encode(value, forKey: .increment)
        case .remove: try values.encode(true, forKey: .remove)
        }
    }
}
