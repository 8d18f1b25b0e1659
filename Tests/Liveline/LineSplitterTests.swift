import Testing

@testable import liveline

struct LineSplitterTests {
    private func lines(_ pieces: [String]) -> [String] {
        var splitter = LineSplitter()
        var lines = pieces.flatMap { splitter.take(Array($0.utf8)) }
        if let last = splitter.finish() { lines.append(last) }
        return lines.map { String(decoding: $0, as: UTF8.self) }
    }

    @Test(arguments: [
        (["one\ntwo\n"], ["one\n", "two\n"]),
        (["o", "ne\nt", "wo", "\n"], ["one\n", "two\n"]),
        (["one\n\n\n"], ["one\n", "\n", "\n"]),
        (["one"], ["one\n"]),
        (["", "\n", ""], ["\n"]),
        ([], []),
    ])
    func `pieces become whole lines`(pieces: [String], expected: [String]) {
        #expect(lines(pieces) == expected)
    }

    @Test func `a line that never ends is passed on in parts`() {
        let long = String(repeating: "x", count: LineSplitter.lineBytesMax + 5)
        #expect(lines([long, "y\n"]).map(\.utf8.count) == [LineSplitter.lineBytesMax + 1, 7])
    }

    @Test func `bytes that are no text stay as they are`() {
        var splitter = LineSplitter()
        #expect(splitter.take([0xFF, 0x0A, 0xFE]) == [[0xFF, 0x0A]])
        #expect(splitter.finish() == [0xFE, 0x0A])
        #expect(splitter.finish() == nil)
    }
}
