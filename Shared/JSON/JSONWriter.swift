/// Writes small JSON texts by hand, in the order of the calls.
///
/// ```swift
/// let answer = JSONWriter.object { answer in
///     answer.member("status_code", 200)
///     answer.object("response") { $0.member("Messages", codes) }
/// }
/// ```
///
/// The same name twice is not noticed; a member outside an object, or an element outside an array, is a trap.
public struct JSONWriter {
    private enum Place { case object, array, value }

    private var bytes: [UInt8] = []
    private var place = Place.value
    private var isFirst = true

    /// The bytes of a text that is one object.
    public static func object<E>(_ body: (inout JSONWriter) throws(E) -> Void) throws(E) -> [UInt8] {
        var writer = JSONWriter()
        try writer.nest(.object, body)
        return writer.bytes
    }

    /// The bytes of a text that is one array.
    public static func array<E>(_ body: (inout JSONWriter) throws(E) -> Void) throws(E) -> [UInt8] {
        var writer = JSONWriter()
        try writer.nest(.array, body)
        return writer.bytes
    }

    /// Adds a member to the object being written.
    public mutating func member(_ name: String, _ value: some JSONWritable) {
        begin(name)
        write(value)
    }

    /// Adds a member that is an object.
    public mutating func object<E>(_ name: String, _ body: (inout JSONWriter) throws(E) -> Void) throws(E) {
        begin(name)
        try nest(.object, body)
    }

    /// Adds a member that is an array.
    public mutating func array<E>(_ name: String, _ body: (inout JSONWriter) throws(E) -> Void) throws(E) {
        begin(name)
        try nest(.array, body)
    }

    /// Adds an element to the array being written.
    public mutating func element(_ value: some JSONWritable) {
        begin()
        write(value)
    }

    /// Adds an element that is an object.
    public mutating func object<E>(_ body: (inout JSONWriter) throws(E) -> Void) throws(E) {
        begin()
        try nest(.object, body)
    }

    /// Adds an element that is an array.
    public mutating func array<E>(_ body: (inout JSONWriter) throws(E) -> Void) throws(E) {
        begin()
        try nest(.array, body)
    }

    /// Adds bytes as they are, for types that know how to write themselves.
    mutating func append(_ raw: some Sequence<UInt8>) { bytes += raw }

    mutating func append(quoted string: String) { JSONText.appendQuoted(string, to: &bytes) }

    mutating func nestArray(_ body: (inout JSONWriter) -> Void) { nest(.array, body) }

    private mutating func begin(_ name: String) {
        precondition(place == .object, "a member stands in an object")
        separate()
        append(quoted: name)
        bytes.append(UInt8(ascii: ":"))
    }

    private mutating func begin() {
        precondition(place == .array, "an element stands in an array")
        separate()
    }

    private mutating func separate() {
        if !isFirst { bytes.append(UInt8(ascii: ",")) }
        isFirst = false
    }

    private mutating func write(_ value: some JSONWritable) {
        value.write(to: &self)
    }

    private mutating func nest<E>(
        _ inner: Place, _ body: (inout JSONWriter) throws(E) -> Void
    ) throws(E) {
        let outer = place
        bytes.append(inner == .object ? UInt8(ascii: "{") : UInt8(ascii: "["))
        (place, isFirst) = (inner, true)
        try body(&self)
        bytes.append(inner == .object ? UInt8(ascii: "}") : UInt8(ascii: "]"))
        (place, isFirst) = (outer, false)
    }
}
