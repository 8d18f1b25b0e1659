/// Cuts what a descriptor yields into lines.
struct LineReader {
    /// The longest line, in bytes.
    static let bytesMaxDefault = 16 << 20

    /// A line, or why there is none.
    typealias Line = Result<[UInt8], LineError>

    private let descriptor: CInt
    private let lineBytesMax: Int
    private var buffer: [UInt8] = []
    /// How much of the buffer holds no line feed.
    private var searched = 0
    /// Whether the beginning of the line in the buffer is thrown away.
    private var isTooLong = false

    init(_ descriptor: CInt, lineBytesMax: Int = LineReader.bytesMaxDefault) {
        self.descriptor = descriptor
        self.lineBytesMax = lineBytesMax
    }

    /// Reads what is there, and returns the lines that are complete; nil at the end.
    ///
    /// A line that is too long is not held in memory.
    ///
    /// - Throws: `SystemError` if reading fails.
    mutating func read() throws(SystemError) -> [Line]? {
        guard let bytes = try readSome(descriptor, bytesMax: 256 << 10) else { return [] }
        guard !bytes.isEmpty else { return nil }
        buffer += bytes
        var lines: [Line] = []
        var start = 0
        while let end = buffer[searched...].firstIndex(of: UInt8(ascii: "\n")) {
            lines.append(line(buffer[start..<end]))
            isTooLong = false
            start = end + 1
            searched = start
        }
        buffer.removeSubrange(..<start)
        if isTooLong || buffer.count > lineBytesMax {
            isTooLong = true
            buffer = []
        }
        searched = buffer.count
        return lines
    }

    /// What came after the last line feed.
    func rest() -> [Line] { buffer.isEmpty && !isTooLong ? [] : [line(buffer[...])] }

    private func line(_ bytes: ArraySlice<UInt8>) -> Line {
        guard !isTooLong, bytes.count <= lineBytesMax else {
            return .failure(LineError("longer than \(lineBytesMax) bytes"))
        }
        return .success(Array(bytes))
    }
}
