/// Base64 with the URL-safe alphabet and without padding (RFC 4648, section 5), as JSON Web Tokens use it.
public enum Base64URL {
    private static let alphabet = [UInt8](
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)

    /// Encodes bytes.
    public static func encode(_ bytes: [UInt8]) -> String {
        var text: [UInt8] = []
        text.reserveCapacity((bytes.count * 4 + 2) / 3)
        var held: UInt32 = 0
        var heldBits: UInt32 = 0
        for byte in bytes {
            held = held << 8 | UInt32(byte)
            heldBits += 8
            while heldBits >= 6 {
                heldBits -= 6
                text.append(alphabet[Int(held >> heldBits & 0x3F)])
            }
        }
        if heldBits > 0 { text.append(alphabet[Int(held << (6 - heldBits) & 0x3F)]) }
        return String(decoding: text, as: UTF8.self)
    }

    /// Decodes text; nil for padding, white space, any other character, and bits that no encoder leaves.
    public static func decode(_ text: some StringProtocol) -> [UInt8]? {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.utf8.count * 3 / 4)
        var held: UInt32 = 0
        var heldBits: UInt32 = 0
        for character in text.utf8 {
            guard let value = value(of: character) else { return nil }
            held = held << 6 | value
            heldBits += 6
            guard heldBits >= 8 else { continue }
            heldBits -= 8
            bytes.append(UInt8(truncatingIfNeeded: held >> heldBits))
        }
        // Six bits left over are a character that carries no byte; others must be zero, so that each text is one value.
        guard heldBits < 6, held & ((1 << heldBits) - 1) == 0 else { return nil }
        return bytes
    }

    private static func value(of character: UInt8) -> UInt32? {
        switch character {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): UInt32(character - UInt8(ascii: "A"))
        case UInt8(ascii: "a")...UInt8(ascii: "z"): UInt32(character - UInt8(ascii: "a")) + 26
        case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt32(character - UInt8(ascii: "0")) + 52
        case UInt8(ascii: "-"): 62
        case UInt8(ascii: "_"): 63
        default: nil
        }
    }
}
