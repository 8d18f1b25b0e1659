/// A JSON text that has been checked to its last byte and is kept as it came in.
///
/// Nothing is decoded before it is asked for, so a number keeps its digits and a string its spelling: whoever passes
/// a part on takes ``JSONValue/bytes``.
public struct JSONDocument: Sendable {
    /// The levels of arrays and objects that are accepted unless a caller says otherwise.
    public static let depthMaxDefault = 64

    final class Storage: Sendable {
        let bytes: [UInt8]
        let nodes: [Node]

        init(bytes: [UInt8], nodes: [Node]) {
            self.bytes = bytes
            self.nodes = nodes
        }
    }

    let storage: Storage

    /// Checks a text against RFC 8259, UTF-8, repeated names and the limit of levels.
    ///
    /// Time and memory are linear in the size of the text: at most 12 bytes for each of its bytes, and for objects of
    /// more than eight members a set of their names while they are checked.
    ///
    /// - Parameters:
    ///   - bytes: The whole text; white space around its value is allowed, a byte order mark is not.
    ///   - depthMax: How many arrays and objects may stand in each other; `[]` is one level.
    /// - Throws: `JSONError` for the first fault; faults of the grammar come before repeated names.
    public init(_ bytes: [UInt8], depthMax: Int = JSONDocument.depthMaxDefault) throws(JSONError) {
        storage = Storage(bytes: bytes, nodes: try Tokenizer.nodes(of: bytes, depthMax: depthMax))
    }

    /// Checks a text given as a string, in the same way.
    ///
    /// - Throws: `JSONError` for the first fault.
    public init(text: String, depthMax: Int = JSONDocument.depthMaxDefault) throws(JSONError) {
        try self.init(Array(text.utf8), depthMax: depthMax)
    }

    /// The outermost value.
    public var root: JSONValue { JSONValue(storage: storage, index: 0) }

    /// The whole text as it came in.
    public var bytes: [UInt8] { storage.bytes }
}
