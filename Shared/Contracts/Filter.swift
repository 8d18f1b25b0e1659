/// A condition on the devices of an application.
public indirect enum Filter: Sendable, Equatable {
    /// Every device.
    case everyone
    /// A condition on one tag.
    case tag(name: String, comparison: Comparison, values: [TagValue])
    /// All of them hold.
    case all([Filter])
    /// At least one of them holds.
    case any([Filter])
    /// The first holds and the second does not.
    case except(Filter, minus: Filter)

    /// How a tag is compared with its operands.
    ///
    /// A list tag satisfies `EQ` and `IN` by any of its members.
    public enum Comparison: String, Codable, Sendable, CaseIterable {
        case equal = "EQ"
        case notEqual = "NOTEQ"
        case lessOrEqual = "LTE"
        case greaterOrEqual = "GTE"
        /// Two operands, both included.
        case between = "BETWEEN"
        case oneOf = "IN"
        case noneOf = "NOTIN"
        /// No operand.
        case notSet = "NOTSET"
    }
}

extension Filter: Codable {
    enum CodingKeys: String, CodingKey { case everyone, tag, all, any, except }

    private struct Tag: Codable {
        var name: String
        var comparison: Comparison
        var values: [TagValue]
    }

    private struct Except: Codable {
        var from: Filter
        var minus: Filter
    }

    /// Reads an object with one member that names the kind of condition.
    public init(from decoder: any Decoder) throws {
        let (values, key) = try decoder.onlyMember(CodingKeys.self)
        switch key {
        case .everyone: self = .everyone
        case .tag:
            let tag = try values.decode(Tag.self, forKey: key)
            self = .tag(name: tag.name, comparison: tag.comparison, values: tag.values)
        case .all: self = .all(try values.decode([Filter].self, forKey: key))
        case .any: self = .any(try values.decode([Filter].self, forKey: key))
        case .except:
            let except = try values.decode(Except.self, forKey: key)
            self = .except(except.from, minus: except.minus)
        }
    }

    /// Writes the form that is read.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        switch self {
        case .everyone: try container.encode(true, forKey: .everyone)
        case .tag(let name, let comparison, let values):
            try container.encode(Tag(name: name, comparison: comparison, values: values), forKey: .tag)
        case .all(let filters): try container.encode(filters, forKey: .all)
        case .any(let filters): try container.encode(filters, forKey: .any)
        case .except(let from, let minus):
            try container.encode(Except(from: from, minus: minus), forKey: .except)
        }
    }
}
