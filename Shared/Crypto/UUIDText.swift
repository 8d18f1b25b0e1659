/// UUIDs in their canonical text form, 8-4-4-4-12 hex digits.
public enum UUIDText {
    /// Makes a random (version 4) UUID in lower case from 16 random bytes.
    ///
    /// Six of the 128 bits are fixed by the version and variant (RFC 9562, section 5.4).
    ///
    /// - Parameter random: 16 bytes; it is a mistake of the caller to give another number.
    /// - Returns: 36 characters.
    public static func make(_ random: [UInt8]) -> String {
        precondition(random.count == 16, "a UUID has 16 bytes")
        var bytes = random
        bytes[6] = bytes[6] & 0x0F | 0x40
        bytes[8] = bytes[8] & 0x3F | 0x80
        var text: [UInt8] = []
        text.reserveCapacity(36)
        for group in [0..<4, 4..<6, 6..<8, 8..<10, 10..<16] {
            if group.lowerBound > 0 { text.append(UInt8(ascii: "-")) }
            Hex.append(bytes[group], to: &text)
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// Makes a random (version 4) UUID in lower case from two random words.
    public static func make(_ high: UInt64, _ low: UInt64) -> String {
        let shifts = stride(from: UInt64(56), through: 0, by: -8)
        return make([high, low].flatMap { word in shifts.map { UInt8(truncatingIfNeeded: word >> $0) } })
    }

    /// Tells whether the text is a UUID of any version in canonical form, in either case.
    public static func isCanonicalUUID(_ text: String) -> Bool {
        var position = 0
        for character in text.utf8 {
            let isDash = [8, 13, 18, 23].contains(position)
            guard position < 36, isDash ? character == UInt8(ascii: "-") : isHexDigit(character) else {
                return false
            }
            position += 1
        }
        return position == 36
    }

    private static func isHexDigit(_ character: UInt8) -> Bool {
        switch character {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "f"),
            UInt8(ascii: "A")...UInt8(ascii: "F"):
            true
        default: false
        }
    }
}
