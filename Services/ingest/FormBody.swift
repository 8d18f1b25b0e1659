/// The names and values of an `application/x-www-form-urlencoded` body (WHATWG, URL, section 5.1).
struct FormBody {
    private var values: [String: String] = [:]

    /// Reads a body; nil if a name stands there twice, or an escape or the UTF-8 is broken.
    init?(_ body: [UInt8]) {
        for part in body.split(separator: UInt8(ascii: "&")) {
            let sides = part.split(
                separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
            guard let name = FormBody.decoded(sides[0]),
                let value = FormBody.decoded(sides.count > 1 ? sides[1] : []),
                values.updateValue(value, forKey: name) == nil
            else { return nil }
        }
    }

    /// The value of a name.
    subscript(name: String) -> String? { values[name] }

    private static func decoded(_ text: ArraySlice<UInt8>) -> String? {
        var bytes: [UInt8] = []
        var rest = text
        while let byte = rest.popFirst() {
            switch byte {
            case UInt8(ascii: "+"): bytes.append(UInt8(ascii: " "))
            case UInt8(ascii: "%"):
                guard let high = rest.popFirst().flatMap(digit), let low = rest.popFirst().flatMap(digit)
                else {
                    return nil
                }
                bytes.append(high << 4 | low)
            default: bytes.append(byte)
            }
        }
        return String(validating: bytes, as: UTF8.self)
    }

    private static func digit(_ byte: UInt8) -> UInt8? {
        Character(UnicodeScalar(byte)).hexDigitValue.map(UInt8.init)
    }
}
