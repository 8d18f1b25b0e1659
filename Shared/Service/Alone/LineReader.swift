/// Cuts what a descriptor yields into lines.
struct LineReader {
    /// The longest line, in bytes.
    static let lineBytesMax = 16 << 20

    private let descriptor: CInt
    private var buffer: [UInt8] = []
    /// How much of the buffer holds no line feed.
    private var searched = 0

    init(_ descriptor: CInt) {
        self.descriptor = descriptor
    }

    /// Reads what is there, and returns the lines that are complete; nil at the end.
    ///
    /// - Throws: `SystemError` if reading fails or a line is too long.
    mutating func read() throws(SystemError) -> [[UInt8]]? {
        guard let bytes = try readSome(descriptor, bytesMax: 256 << 10) else { return [] }
        guard !bytes.isEmpty else { return nil }
        buffer += bytes
        var lines: [[UInt8]] = []
        var start = 0
        while let end = buffer[searched...].firstIndex(of: UInt8(ascii: "\n")) {
            lines.append(Array(buffer[start..<end]))
            start = end + 1
            searched = start
        }
        buffer.removeSubrange(..<start)
        searched = buffer.count
        guard buffer.count <= LineReader.lineBytesMax else { throw SystemError(call: "read", code: 27) }
        return lines
    }

    /// What came after the last line feed.
    func rest() -> [[UInt8]] { buffer.isEmpty ? [] : [buffer] }
}
