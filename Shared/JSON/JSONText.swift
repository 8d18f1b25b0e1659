/// The writing of single JSON strings.
public enum JSONText {
    /// A string as a JSON string, quotes included.
    ///
    /// Beyond what RFC 8259 asks for, it escapes all that could end a line or drive a terminal: delete, U+0080 to
    /// U+009F, U+2028 and U+2029. All else stays as it is.
    public static func quote(_ string: String) -> String {
        var bytes: [UInt8] = []
        appendQuoted(string, to: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Adds a string to some bytes, as ``quote(_:)`` writes it.
    public static func appendQuoted(_ string: String, to bytes: inout [UInt8]) {
        bytes.append(UInt8(ascii: "\""))
        for scalar in string.unicodeScalars {
            appendEscaped(scalar, to: &bytes)
        }
        bytes.append(UInt8(ascii: "\""))
    }

    private static func appendEscaped(_ scalar: Unicode.Scalar, to bytes: inout [UInt8]) {
        switch scalar.value {
        case 0x22: bytes += [UInt8(ascii: "\\"), UInt8(ascii: "\"")]
        case 0x5C: bytes += [UInt8(ascii: "\\"), UInt8(ascii: "\\")]
        case 0x08: bytes += [UInt8(ascii: "\\"), UInt8(ascii: "b")]
        case 0x09: bytes += [UInt8(ascii: "\\"), UInt8(ascii: "t")]
        case 0x0A: bytes += [UInt8(ascii: "\\"), UInt8(ascii: "n")]
        case 0x0C: bytes += [UInt8(ascii: "\\"), UInt8(ascii: "f")]
        case 0x0D: bytes += [UInt8(ascii: "\\"), UInt8(ascii: "r")]
        case ..<0x20, 0x7F...0x9F, 0x2028, 0x2029:
            let digits = String(scalar.value, radix: 16)
            bytes += Array(("\\u" + String(repeating: "0", count: 4 - digits.count) + digits).utf8)
        case ..<0x80: bytes.append(UInt8(scalar.value))
        default: bytes += Array(String(scalar).utf8)
        }
    }
}
