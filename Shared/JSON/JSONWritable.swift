/// What a ``JSONWriter`` takes as a value: strings, integers, booleans, lists, `nil` as `null`, and parts of documents.
public protocol JSONWritable {
    /// Writes the value, and nothing else.
    func write(to writer: inout JSONWriter)
}

/// Bytes that are a JSON text already and are written as they are.
///
/// They are not looked at: give it only what a ``JSONDocument`` has checked or a ``JSONWriter`` has made.
public struct JSONRaw: JSONWritable {
    private let bytes: [UInt8]

    /// Takes a complete JSON text.
    public init(_ bytes: [UInt8]) { self.bytes = bytes }

    /// Writes the bytes.
    public func write(to writer: inout JSONWriter) { writer.append(bytes) }
}

/// The value `null`.
public struct JSONNull: JSONWritable {
    /// Makes the only value there is.
    public init() {}

    /// Writes `null`.
    public func write(to writer: inout JSONWriter) { writer.append("null".utf8) }
}

extension JSONValue: JSONWritable {
    /// Writes the bytes as they came in.
    public func write(to writer: inout JSONWriter) { writer.append(storage.bytes[node.range]) }
}

extension String: JSONWritable {
    /// Writes the string in quotes.
    public func write(to writer: inout JSONWriter) { writer.append(quoted: self) }
}

extension Bool: JSONWritable {
    /// Writes `true` or `false`.
    public func write(to writer: inout JSONWriter) { writer.append((self ? "true" : "false").utf8) }
}

extension JSONWritable where Self: FixedWidthInteger {
    /// Writes the digits.
    public func write(to writer: inout JSONWriter) { writer.append(String(self).utf8) }
}

extension Int: JSONWritable {}
extension Int32: JSONWritable {}
extension Int64: JSONWritable {}
extension UInt16: JSONWritable {}
extension UInt32: JSONWritable {}
extension UInt64: JSONWritable {}

extension Optional: JSONWritable where Wrapped: JSONWritable {
    /// Writes the value, or `null` where there is none.
    public func write(to writer: inout JSONWriter) {
        guard let self else { return JSONNull().write(to: &writer) }
        self.write(to: &writer)
    }
}

extension Array: JSONWritable where Element: JSONWritable {
    /// Writes an array of the elements.
    public func write(to writer: inout JSONWriter) {
        writer.nestArray { for element in self { $0.element(element) } }
    }
}
