/// One value of a text: where it stands and what follows it.
///
/// Nodes lie in the order of the text, so the first child of a node is the one after it.
struct Node: Sendable {
    var start: UInt32
    var end: UInt32 = 0
    /// The name without its quotes; empty for an element and for the outermost value.
    var nameStart: UInt32
    var nameEnd: UInt32
    /// The node after this one and all that it holds; `.max` while it is being read.
    var next = UInt32.max
    var kind = JSONValue.Kind.null
    var hasEscape = false
    var nameHasEscape: Bool

    init(start: Int, name: ScannedName) {
        self.start = UInt32(start)
        nameStart = UInt32(name.range.lowerBound)
        nameEnd = UInt32(name.range.upperBound)
        nameHasEscape = name.hasEscape
    }

    var range: Range<Int> { Int(start)..<Int(end) }
    var nameRange: Range<Int> { Int(nameStart)..<Int(nameEnd) }
}

/// A member name as it stands in the text, between its quotes.
struct ScannedName {
    static let none = ScannedName(range: 0..<0, hasEscape: false)

    var range: Range<Int>
    var hasEscape: Bool
}

extension Node {
    /// The bytes of the name after unescaping.
    func name(in bytes: [UInt8]) -> ArraySlice<UInt8> {
        nameHasEscape ? unescaped(bytes[nameRange])[...] : bytes[nameRange]
    }
}
