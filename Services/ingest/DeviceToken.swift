import JSON

/// Push tokens in the one spelling that is stored and compared: lower-case hex digits.
///
/// Apple asks not to assume a length (Sending notification requests to APNs); 160 digits were seen for activities.
enum DeviceToken {
    /// The most digits a token may have.
    static let digitsMax = 1_024

    /// The canonical spelling; angle brackets and spaces, which old apps print, are left out.
    ///
    /// - Returns: nil for what is no token.
    static func canonical(_ text: String) -> String? {
        var digits: [UInt8] = []
        guard text.utf8.count <= 2 * digitsMax else { return nil }
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "f"):
                digits.append(byte)
            case UInt8(ascii: "A")...UInt8(ascii: "F"): digits.append(byte | 0x20)
            case UInt8(ascii: "<"), UInt8(ascii: ">"), UInt8(ascii: " "): continue
            default: return nil
            }
        }
        guard !digits.isEmpty, digits.count % 2 == 0, digits.count <= digitsMax else { return nil }
        return String(decoding: digits, as: UTF8.self)
    }

    /// The token that a value of a request holds.
    static func read(_ value: JSONValue, field: String? = nil) throws(Refusal) -> String {
        let field = field ?? ObjectReader.name(value.path)
        guard let text = value.string else { throw Refusal(field, "must be a string", label: "type") }
        guard let token = canonical(text) else {
            throw Refusal(
                field, "must be an even number of hex digits, from 2 to \(digitsMax)", label: "token")
        }
        return token
    }
}
