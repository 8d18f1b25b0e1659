/// Cuts a filter expression into its words, texts and signs.
struct FilterScanner {
    /// One piece of an expression.
    enum Token: Equatable {
        /// A name, an operator, or a value without quotes such as `-1.5`, `2026-01-31` or `true`.
        case word(String)
        /// What stands between quotes.
        case text(String)
        /// One of `( ) [ ] , * + \`.
        case sign(UInt8)
        case end
    }

    private let bytes: [UInt8]
    private var next = 0
    /// Where the last token begins.
    private(set) var offset = 0

    init(_ text: String) { bytes = Array(text.utf8) }

    /// The next token.
    mutating func token() throws(FilterFault) -> Token {
        while next < bytes.count, [0x20, 0x09, 0x0A, 0x0D].contains(bytes[next]) { next += 1 }
        offset = next
        guard next < bytes.count else { return .end }
        let byte = bytes[next]
        if byte == UInt8(ascii: "\"") { return try quoted() }
        // A plus or minus within a value belongs to it; at the start of one only the minus does.
        if byte == UInt8(ascii: "-") || FilterScanner.isWord(byte) { return word() }
        guard FilterScanner.signs.contains(byte) else { throw fault("unexpected character") }
        next += 1
        return .sign(byte)
    }

    /// A fault where the last token begins.
    func fault(_ problem: String) -> FilterFault { FilterFault(offset: offset, problem: problem) }

    private static let signs = Array("()[],*+\\".utf8)

    private static func isWord(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "."):
            true
        default: false
        }
    }

    private mutating func word() -> Token {
        let start = next
        next += 1
        while next < bytes.count, FilterScanner.isWord(bytes[next]) || isInnerSign(start) { next += 1 }
        return .word(String(decoding: bytes[start..<next], as: UTF8.self))
    }

    /// Whether a minus or plus goes on with what begins like a number: a date or an exponent.
    private func isInnerSign(_ start: Int) -> Bool {
        let first = bytes[start]
        guard first == UInt8(ascii: "-") || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(first) else {
            return false
        }
        if bytes[next] == UInt8(ascii: "-") { return true }
        return bytes[next] == UInt8(ascii: "+") && bytes[next - 1] | 0x20 == UInt8(ascii: "e")
    }

    /// A text in quotes.
    ///
    /// `\"` and `\\` stand for a quote and a backslash; any other backslash stands for itself, since
    /// the vendor's clients escape nothing.
    private mutating func quoted() throws(FilterFault) -> Token {
        var content: [UInt8] = []
        next += 1
        while next < bytes.count, bytes[next] != UInt8(ascii: "\"") {
            let isEscape =
                bytes[next] == UInt8(ascii: "\\") && next + 1 < bytes.count
                && [UInt8(ascii: "\""), UInt8(ascii: "\\")].contains(bytes[next + 1])
            if isEscape { next += 1 }
            guard bytes[next] >= 0x20, bytes[next] != 0x7F else {
                throw FilterFault(offset: next, problem: "must not hold control characters")
            }
            content.append(bytes[next])
            next += 1
        }
        guard next < bytes.count else { throw fault("the quote is not closed") }
        next += 1
        return .text(String(decoding: content, as: UTF8.self))
    }
}
