/// Header fields in the order they were added, kept as bytes in one buffer.
///
/// Made for a hot path: one value is kept with the fields that every request shares, cut back to them with
/// `truncate(to:)`, and completed for each request. Pseudo fields (`:path`) may be added in any place; they are
/// sent first. Names are lower-case; names that stand twice stay two fields.
public struct HTTP2Headers: Sendable, Equatable {
    struct Field: Sendable, Equatable {
        var start: Int32
        var nameLength: Int32
        var valueLength: Int32
        var isIndexed: Bool
        var isPseudo: Bool
    }

    var bytes: [UInt8] = []
    var fields: [Field] = []

    /// Makes an empty list.
    public init() {}

    /// Makes a list of indexed fields.
    public init(_ pairs: [(String, String)]) {
        for (name, value) in pairs { append(name, value) }
    }

    /// The number of fields.
    public var count: Int { fields.count }

    /// True when there is no field.
    public var isEmpty: Bool { fields.isEmpty }

    /// The size as SETTINGS_MAX_HEADER_LIST_SIZE counts it: names, values and 32 bytes a field (RFC 9113, 6.5.2).
    public var listSize: Int { bytes.count + 32 * fields.count }

    /// Makes room ahead of time.
    public mutating func reserve(fields fieldCount: Int, bytes byteCount: Int) {
        fields.reserveCapacity(fieldCount)
        bytes.reserveCapacity(byteCount)
    }

    /// Adds a field whose value is text.
    ///
    /// - Parameters:
    ///   - name: The name, in lower case.
    ///   - value: The value.
    ///   - indexed: False for values that change with each request (`apns-id`, `apns-expiration`, `:path`): they
    ///     would only push useful entries out of the HPACK table. libnghttp2 never indexes `authorization`.
    public mutating func append(_ name: String, _ value: String, indexed: Bool = true) {
        append(name: name.utf8, value: value.utf8, indexed: indexed)
    }

    /// Adds a field whose value is bytes.
    public mutating func append(_ name: String, bytes value: [UInt8], indexed: Bool = true) {
        append(name: name.utf8, value: value, indexed: indexed)
    }

    /// Adds a field of two byte sequences.
    public mutating func append(
        name: some Collection<UInt8>, value: some Collection<UInt8>, indexed: Bool
    ) {
        let field = Field(
            start: Int32(bytes.count), nameLength: Int32(name.count), valueLength: Int32(value.count),
            isIndexed: indexed, isPseudo: name.first == UInt8(ascii: ":"))
        bytes.append(contentsOf: name)
        bytes.append(contentsOf: value)
        fields.append(field)
    }

    /// Cuts the list back to its first `count` fields and keeps the memory.
    public mutating func truncate(to count: Int) {
        guard count < fields.count else { return }
        bytes.removeLast(bytes.count - Int(fields[count].start))
        fields.removeLast(fields.count - count)
    }

    /// The bytes of the first value of a name, or nil.
    public func bytes(_ name: String) -> ArraySlice<UInt8>? {
        for field in fields where isNamed(field, name) { return value(of: field) }
        return nil
    }

    /// The first value of a name as text, or nil.
    public subscript(name: String) -> String? {
        bytes(name).map { String(decoding: $0, as: UTF8.self) }
    }

    /// All values of a name, in their order.
    public func all(_ name: String) -> [String] {
        fields.filter { isNamed($0, name) }.map { String(decoding: value(of: $0), as: UTF8.self) }
    }

    /// All fields as text, in their order.
    public var pairs: [(name: String, value: String)] {
        fields.map { field in
            let start = Int(field.start)
            let name = bytes[start..<start + Int(field.nameLength)]
            return (String(decoding: name, as: UTF8.self), String(decoding: value(of: field), as: UTF8.self))
        }
    }

    private func isNamed(_ field: Field, _ name: String) -> Bool {
        let start = Int(field.start)
        return name.utf8.count == Int(field.nameLength)
            && bytes[start..<start + Int(field.nameLength)].elementsEqual(name.utf8)
    }

    private func value(of field: Field) -> ArraySlice<UInt8> {
        let start = Int(field.start) + Int(field.nameLength)
        return bytes[start..<start + Int(field.valueLength)]
    }
}
