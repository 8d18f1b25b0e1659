/// What a log line may show as a value: words, numbers, truth values and shortened tokens.
///
/// The list is short on purpose, so that no request or payload gets into a line by being describable.
public protocol LogValue: Sendable {
    /// The value as text, before any quoting.
    var logText: String { get }

    /// Whether the text is a JSON value already, so that a line of JSON shows it without quotes.
    var isJSONLiteral: Bool { get }
}

extension String: LogValue {
    /// The string itself.
    public var logText: String { self }

    /// Never: a string is quoted.
    public var isJSONLiteral: Bool { false }
}

extension Bool: LogValue {
    /// `true` or `false`.
    public var logText: String { self ? "true" : "false" }

    /// Always.
    public var isJSONLiteral: Bool { true }
}

extension LogValue where Self: FixedWidthInteger {
    /// The digits.
    public var logText: String { String(self) }

    /// Always.
    public var isJSONLiteral: Bool { true }
}

extension Int: LogValue {}
extension Int32: LogValue {}
extension Int64: LogValue {}
extension UInt16: LogValue {}
extension UInt32: LogValue {}
extension UInt64: LogValue {}

/// The fields of a log line in the order they were given, written as `["peer": name, "attempt": 3]`.
///
/// Keys are plain words, each used once, and none of `service`, `level`, `event` and `omitted`, which a line has already.
public struct LogFields: ExpressibleByDictionaryLiteral, Sendable {
    private(set) var list: [(key: String, value: any LogValue)] = []

    /// Takes the fields of a literal.
    public init(dictionaryLiteral elements: (String, any LogValue)...) {
        list = elements.map { (key: $0.0, value: $0.1) }
    }

    /// Adds a field at the end; nothing for `nil`.
    public mutating func append(_ key: String, _ value: (any LogValue)?) {
        guard let value else { return }
        list.append((key: key, value: value))
    }
}
