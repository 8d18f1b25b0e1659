import Testing

@testable import ingest

@Suite struct LineCutterTests {
    /// All lines of a text that comes in pieces of some size; nil for one that was too long.
    private func lines(_ text: String, pieces: Int, bytesMax: Int = 8, countMax: Int = 2) -> [(Int, String?)]
    {
        var cutter = LineCutter(lineBytesMax: bytesMax)
        var rest = Array(text.utf8)[...]
        var lines: [ImportPiece.Line] = []
        repeat {
            cutter.append(Array(rest.prefix(pieces)))
            rest = rest.dropFirst(pieces)
            while true {
                let more = cutter.lines(countMax, isOver: rest.isEmpty)
                lines += more
                if more.count < countMax { break }
            }
            #expect(cutter.heldBytes <= bytesMax + pieces)
        } while !rest.isEmpty
        #expect(cutter.heldBytes == 0)
        return lines.map { ($0.number, $0.text.map { String(decoding: $0, as: UTF8.self) }) }
    }

    @Test(
        arguments: [
            ("", []), ("a", ["1 a"]), ("a\n", ["1 a"]), ("a\nb", ["1 a", "2 b"]),
            ("a\r\nb\r\n", ["1 a", "2 b"]), ("\n\na\n \t\r\n\nb\n\n", ["3 a", "6 b"]),
            ("12345678\n", ["1 12345678"]), ("123456789\nb", ["1 -", "2 b"]), ("123456789", ["1 -"]),
            (
                "a\n" + String(repeating: "x", count: 50) + "\nb\n" + String(repeating: "y", count: 50),
                [
                    "1 a", "2 -", "3 b", "4 -",
                ]
            ),
            (String(repeating: " ", count: 50) + "\nb", ["1 -", "2 b"]),
        ] as [(String, [String])], 1...12)
    func `lines are the same however the bytes come`(
        sample: (text: String, lines: [String]), pieces: Int
    ) {
        let found = lines(sample.text, pieces: pieces).map { "\($0.0) \($0.1 ?? "-")" }
        #expect(found == sample.lines)
    }

    @Test func `no more lines are given out than asked for, and the rest stays`() {
        var cutter = LineCutter(lineBytesMax: 10)
        cutter.append(Array("a\nb\nc\nd".utf8))
        #expect(cutter.lines(2, isOver: true).map(\.number) == [1, 2])
        #expect(cutter.mayHaveLine)
        #expect(cutter.lines(2, isOver: true).map(\.number) == [3, 4])
        #expect(cutter.lines(2, isOver: true).isEmpty)
        #expect(!cutter.mayHaveLine)
    }
}
