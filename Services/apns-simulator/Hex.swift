/// Hexadecimal digits, as APNs writes device tokens.
enum Hex {
    private static let digits = Array("0123456789abcdef".utf8)

    /// The value of one digit in either case.
    @inline(__always)
    static func value(of byte: UInt8) -> UInt8? {
        switch byte {
        case 0x30...0x39: byte - 0x30
        case 0x61...0x66: byte - 0x61 + 10
        case 0x41...0x46: byte - 0x41 + 10
        default: nil
        }
    }

    /// Appends the sixteen lower-case digits of a word.
    static func append(_ word: UInt64, to text: inout [UInt8]) {
        for shift in stride(from: 60, through: 0, by: -4) {
            text.append(digits[Int(truncatingIfNeeded: word >> UInt64(shift)) & 15])
        }
    }

    /// Sixteen digits from a place on as a word, or nil when they are not there.
    @inline(__always)
    static func word(in digits: Span<UInt8>, at start: Int) -> UInt64? {
        guard start + 16 <= digits.count else { return nil }
        var word: UInt64 = 0
        for place in start..<start + 16 {
            guard let nibble = value(of: digits[place]) else { return nil }
            word = word << 4 | UInt64(nibble)
        }
        return word
    }
}
