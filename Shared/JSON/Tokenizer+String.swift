extension Tokenizer {
    /// Reads from the opening quote past the closing one.
    ///
    /// - Returns: whether the string holds an escape.
    mutating func string() throws(Fault) -> Bool {
        position += 1
        var hasEscape = false
        while position < bytes.count {
            switch bytes[position] {
            case UInt8(ascii: "\""):
                position += 1
                return hasEscape
            case UInt8(ascii: "\\"):
                hasEscape = true
                try escape()
            case ..<0x20: throw fault(.controlCharacter)
            case ..<0x80: position += 1
            default:
                guard let length = utf8SequenceLength(in: bytes, at: position) else {
                    throw fault(.invalidUTF8)
                }
                position += length
            }
        }
        throw fault(.unexpectedEnd)
    }

    private mutating func escape() throws(Fault) {
        let start = position
        position += 1
        switch try current() {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"), UInt8(ascii: "b"), UInt8(ascii: "f"),
            UInt8(ascii: "n"), UInt8(ascii: "r"), UInt8(ascii: "t"):
            position += 1
        case UInt8(ascii: "u"):
            position = start
            try unicodeEscape()
        default: throw Fault(kind: .invalidEscape, offset: start)
        }
    }

    private mutating func unicodeEscape() throws(Fault) {
        let start = position
        switch try codeUnit(start) {
        case 0xD800...0xDBFF:
            guard try isLowHalf() else { throw Fault(kind: .loneSurrogate, offset: start) }
        case 0xDC00...0xDFFF: throw Fault(kind: .loneSurrogate, offset: start)
        default: return
        }
    }

    private mutating func isLowHalf() throws(Fault) -> Bool {
        let start = position
        guard try current() == UInt8(ascii: "\\") else { return false }
        position += 1
        guard try current() == UInt8(ascii: "u") else { return false }
        return (0xDC00...0xDFFF).contains(try codeUnit(start))
    }

    /// Reads the `\uXXXX` at an offset and moves past it.
    private mutating func codeUnit(_ start: Int) throws(Fault) -> UInt32 {
        position = start + 2
        var unit: UInt32 = 0
        for _ in 0..<4 {
            guard let digit = hexDigit(try current()) else {
                throw Fault(kind: .invalidEscape, offset: start)
            }
            unit = unit << 4 | digit
            position += 1
        }
        return unit
    }
}

/// The value of a hexadecimal digit of either case.
func hexDigit(_ byte: UInt8) -> UInt32? {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt32(byte - UInt8(ascii: "0"))
    case UInt8(ascii: "a")...UInt8(ascii: "f"): UInt32(byte - UInt8(ascii: "a")) + 10
    case UInt8(ascii: "A")...UInt8(ascii: "F"): UInt32(byte - UInt8(ascii: "A")) + 10
    default: nil
    }
}
