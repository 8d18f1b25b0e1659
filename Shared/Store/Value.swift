/// A value bound to a placeholder of a statement.
public enum Value: Equatable, Sendable {
    /// SQL's NULL.
    case null
    /// A signed 64-bit integer.
    case int(Int64)
    /// A double; SQLite stores a NaN as NULL.
    case double(Double)
    /// Text of any length, kept whole also when it contains NUL characters.
    case text(String)
    /// Bytes of any length; an empty blob is not NULL.
    case blob([UInt8])

    /// Wraps an integer, or NULL where there is none.
    public init(_ integer: Int64?) { self = integer.map(Value.int) ?? .null }

    /// Wraps a text, or NULL where there is none.
    public init(_ text: String?) { self = text.map(Value.text) ?? .null }

    /// Wraps bytes, or NULL where there are none.
    public init(_ bytes: [UInt8]?) { self = bytes.map(Value.blob) ?? .null }

    /// Wraps a truth value as SQLite does: 1 or 0.
    public init(_ truth: Bool) { self = .int(truth ? 1 : 0) }
}

extension Value: ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral, ExpressibleByStringLiteral,
    ExpressibleByNilLiteral
{
    /// Reads an integer literal as `.int`.
    public init(integerLiteral value: Int64) { self = .int(value) }

    /// Reads a decimal literal as `.double`.
    public init(floatLiteral value: Double) { self = .double(value) }

    /// Reads a string literal as `.text`.
    public init(stringLiteral value: String) { self = .text(value) }

    /// Reads `nil` as `.null`.
    public init(nilLiteral: ()) { self = .null }
}
