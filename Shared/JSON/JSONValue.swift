/// One value inside a ``JSONDocument``: a view that keeps the document alive and copies nothing.
public struct JSONValue: Sendable {
    /// The six kinds of JSON values.
    public enum Kind: UInt8, Equatable, Sendable {
        /// Members in braces.
        case object
        /// Elements in brackets.
        case array
        /// Text in quotes.
        case string
        /// Digits, with or without fraction and exponent.
        case number
        /// `true` or `false`.
        case bool
        /// `null`.
        case null
    }

    let storage: JSONDocument.Storage
    let index: Int

    var node: Node { storage.nodes[index] }

    /// What kind of value it is.
    public var kind: Kind { node.kind }

    /// The bytes of the value exactly as they came in, a copy without the white space around them.
    public var bytes: [UInt8] { Array(storage.bytes[node.range]) }

    /// Where ``bytes`` stand in the document.
    public var byteRange: Range<Int> { node.range }

    /// Where the value stands, as `message.apns.payload.aps.event`; empty for the outermost value.
    ///
    /// Names that are no plain words stand in brackets and quotes, and are cut after 64 characters. It is worked out
    /// when asked for.
    public var path: String { valuePath(to: index, nodes: storage.nodes, bytes: storage.bytes) }

    /// Where a member of this value stands or would stand, for errors about one that is missing.
    public func path(of member: String) -> String {
        var path = path
        appendName(member, to: &path)
        return path
    }

    /// The member of an object with exactly this name, however the text spells it.
    ///
    /// Names are compared by their bytes after unescaping; a name is searched from the first member on.
    ///
    /// - Returns: `nil` where there is no such member or the value is no object.
    public subscript(name: String) -> JSONValue? {
        guard kind == .object else { return nil }
        let end = Int(node.next)
        var child = index + 1
        while child < end {
            if isNamed(name, storage.nodes[child]) { return JSONValue(storage: storage, index: child) }
            child = Int(storage.nodes[child].next)
        }
        return nil
    }

    private func isNamed(_ name: String, _ node: Node) -> Bool {
        guard !node.nameHasEscape else { return name.utf8.elementsEqual(node.name(in: storage.bytes)) }
        let range = node.nameRange
        return range.count == name.utf8.count && name.utf8.elementsEqual(storage.bytes[range])
    }
}
