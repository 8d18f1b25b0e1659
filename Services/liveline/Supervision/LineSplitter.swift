/// Makes whole lines of the pieces in which a program's output arrives.
struct LineSplitter {
    /// A longer line is passed on in parts of this many bytes.
    static let lineBytesMax = 64 << 10

    private var rest: [UInt8] = []

    /// Takes a piece.
    ///
    /// - Returns: the lines that are whole now, each with its line feed.
    mutating func take(_ bytes: [UInt8]) -> [[UInt8]] {
        var lines: [[UInt8]] = []
        for part in bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).dropLast() {
            lines += append(part) + [flush()]
        }
        let end = bytes.lastIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? 0
        return lines + append(bytes[end...])
    }

    /// What is left when nothing more will come, as a whole line; nil for nothing.
    mutating func finish() -> [UInt8]? { rest.isEmpty ? nil : flush() }

    private mutating func append(_ part: ArraySlice<UInt8>) -> [[UInt8]] {
        var lines: [[UInt8]] = []
        rest += part
        while rest.count > Self.lineBytesMax {
            lines.append(Array(rest.prefix(Self.lineBytesMax)) + [UInt8(ascii: "\n")])
            rest.removeFirst(Self.lineBytesMax)
        }
        return lines
    }

    private mutating func flush() -> [UInt8] {
        defer { rest.removeAll(keepingCapacity: true) }
        return rest + [UInt8(ascii: "\n")]
    }
}
