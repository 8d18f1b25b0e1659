/// Cuts a stream of bytes into lines, and holds no more than one unfinished line.
///
/// A line ends with `\n`, the last one also without; a `\r` before it and white space around are not part of it. Blank
/// lines are left out but counted.
struct LineCutter {
    private static let newline = UInt8(ascii: "\n")

    private let lineBytesMax: Int
    private var buffer: [UInt8] = []
    /// Where the unfinished line begins.
    private var start = 0
    /// Up to where there is no end of a line.
    private var looked = 0
    /// The rest of a line that was too long is being dropped.
    private var isDropping = false
    private var number = 0

    /// Makes a cutter at the beginning of a stream.
    init(lineBytesMax: Int) { self.lineBytesMax = lineBytesMax }

    /// How many bytes wait.
    var heldBytes: Int { buffer.count - start }

    /// Whether a line may be complete that was not given out yet.
    var mayHaveLine: Bool { looked < buffer.count }

    /// Takes in a piece of the stream.
    mutating func append(_ bytes: [UInt8]) {
        guard !bytes.isEmpty else { return }
        if start == buffer.count { buffer = bytes } else { buffer = buffer[start...] + bytes }
        looked -= start
        start = 0
    }

    /// The next lines that are complete, so many at most; once the stream is over the rest is a line too.
    mutating func lines(_ countMax: Int, isOver: Bool) -> [ImportPiece.Line] {
        var lines: [ImportPiece.Line] = []
        while lines.count < countMax {
            guard let end = buffer[looked...].firstIndex(of: LineCutter.newline) else {
                looked = buffer.count
                if isOver, start < buffer.count || isDropping { cut(buffer.count, into: &lines) }
                dropIfTooLong(&lines)
                break
            }
            cut(end, into: &lines)
            start = end + 1
            looked = start
        }
        return lines
    }

    private mutating func cut(_ end: Int, into lines: inout [ImportPiece.Line]) {
        let text = buffer[start..<end]
        start = end
        guard !isDropping else {
            isDropping = false
            return
        }
        number += 1
        guard text.count <= lineBytesMax else {
            return lines.append(ImportPiece.Line(number: number, text: nil))
        }
        guard let first = text.firstIndex(where: { !$0.isWhiteSpace }),
            let last = text.lastIndex(where: { !$0.isWhiteSpace })
        else { return }
        lines.append(ImportPiece.Line(number: number, text: Array(text[first...last])))
    }

    private mutating func dropIfTooLong(_ lines: inout [ImportPiece.Line]) {
        guard buffer.count - start > lineBytesMax || isDropping else { return }
        if !isDropping {
            number += 1
            lines.append(ImportPiece.Line(number: number, text: nil))
        }
        isDropping = true
        start = buffer.count
    }
}

extension UInt8 {
    /// White space as JSON has it.
    fileprivate var isWhiteSpace: Bool { self == 0x20 || self == 0x09 || self == 0x0D || self == 0x0A }
}
