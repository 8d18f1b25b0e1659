/// Reads back exactly what `CanonicalWriter` writes, and nothing else.
///
/// Members in another order, white space, escapes or unknown members are no errors of the sender's: they make it give
/// up, and the usual decoder takes over.
struct CanonicalReader {
    private let bytes: [UInt8]
    private var position = 0

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
    }

    var isAtEnd: Bool { position == bytes.count }

    /// Steps over a text if it is what comes next.
    mutating func skip(_ text: String) -> Bool {
        let length = text.utf8.count
        guard position + length <= bytes.count else { return false }
        var place = position
        for byte in text.utf8 {
            guard bytes[place] == byte else { return false }
            place += 1
        }
        position = place
        return true
    }

    /// A whole number within the bounds of its type.
    mutating func number<Number: FixedWidthInteger>(_ type: Number.Type = Number.self) -> Number? {
        let isNegative = skip("-")
        let start = position
        var value: Int64 = 0
        while position < bytes.count, (0x30...0x39).contains(bytes[position]) {
            let digit = Int64(bytes[position] - 0x30)
            let (product, tooLarge) = value.multipliedReportingOverflow(by: 10)
            // Towards its own sign, so that the least number is reached without passing the greatest.
            let (sum, overflow) = product.addingReportingOverflow(isNegative ? -digit : digit)
            guard !tooLarge, !overflow else { return nil }
            value = sum
            position += 1
        }
        let length = position - start
        // A leading zero is no JSON, and "-0" is one that is left to the usual decoder.
        guard length > 0, bytes[start] != 0x30 || (length == 1 && !isNegative) else { return nil }
        // A fraction or exponent makes it another number.
        guard position == bytes.count || (bytes[position] != 0x2E && bytes[position] | 0x20 != 0x65) else {
            return nil
        }
        return Number(exactly: value)
    }

    /// The content of a string without escapes, as bytes.
    private mutating func content() -> ArraySlice<UInt8>? {
        guard skip("\"") else { return nil }
        let start = position
        while position < bytes.count {
            let byte = bytes[position]
            if byte == 0x22 {
                position += 1
                return bytes[start..<position - 1]
            }
            guard byte >= 0x20, byte != 0x5C, byte != 0x7F else { return nil }
            position += 1
        }
        return nil
    }

    mutating func string() -> String? {
        guard let content = content() else { return nil }
        return String(validating: content, as: UTF8.self)
    }

    mutating func bool() -> Bool? {
        if skip("true") { return true }
        return skip("false") ? false : nil
    }

    /// A string that is one of a few words.
    mutating func word<Word: RawRepresentable<String>>(_ type: Word.Type = Word.self) -> Word? {
        string().flatMap { Word(rawValue: $0) }
    }

    // MARK: Members: a name with its punctuation, then a value

    mutating func number<Number: FixedWidthInteger>(after name: String) -> Number? {
        skip(name) ? number() : nil
    }

    mutating func string(after name: String) -> String? { skip(name) ? string() : nil }

    mutating func bool(after name: String) -> Bool? { skip(name) ? bool() : nil }

    mutating func word<Word: RawRepresentable<String>>(after name: String) -> Word? {
        skip(name) ? word() : nil
    }

    mutating func value<Value: Canonical>(after name: String) -> Value? {
        skip(name) ? Value(from: &self) : nil
    }

    /// What follows a name that may be missing: `.some(nil)` if it is, nil if what follows does not fit.
    mutating func ifThere<Value>(
        _ name: String, _ read: (inout CanonicalReader) -> Value?
    ) -> Value?? {
        guard skip(name) else { return .some(nil) }
        return read(&self).map { .some($0) }
    }

    /// A value that another member follows.
    mutating func first<Value>(_ read: (inout CanonicalReader) -> Value?) -> Value? {
        let value = read(&self)
        return skip(",") ? value : nil
    }

    /// A member that may be missing, of an object whose members stand in a fixed order.
    mutating func member<Value>(
        _ name: String, _ object: inout ObjectPlace, _ read: (inout CanonicalReader) -> Value?
    ) -> Value? {
        guard object.mayGoOn, skip(name) else { return nil }
        guard let value = read(&self) else {
            object = ObjectPlace(mayGoOn: false, mayEnd: false)
            return nil
        }
        let isMore = skip(",")
        object = ObjectPlace(mayGoOn: isMore, mayEnd: !isMore)
        return value
    }

    /// What may come next in an object all of whose members may be missing.
    struct ObjectPlace {
        var mayGoOn = true
        var mayEnd = true
    }

    /// A number with a fraction and without an exponent.
    mutating func fraction() -> Double? {
        let start = position
        while position < bytes.count, (0x2D...0x39).contains(bytes[position]), bytes[position] != 0x2F {
            position += 1
        }
        let digits = bytes[start..<position].drop { $0 == 0x2D }
        // One sign at most, no leading zero, and a digit on both sides of the point, as JSON has it.
        guard position - start - digits.count <= 1, let point = digits.firstIndex(of: 0x2E),
            point > digits.startIndex, point + 1 < digits.endIndex,
            digits.first != 0x30 || point == digits.startIndex + 1
        else { return nil }
        // What is whole, or goes on with an exponent, is left to the usual decoder.
        guard let number = Double(String(decoding: bytes[start..<position], as: UTF8.self)),
            number != number.rounded(), position == bytes.count || bytes[position] | 0x20 != 0x65
        else { return nil }
        return number
    }

    /// Goes back where it stood if nothing was read.
    mutating func attempt<Value>(_ read: (inout CanonicalReader) -> Value?) -> Value? {
        let start = position
        guard let value = read(&self) else {
            position = start
            return nil
        }
        return value
    }

    /// An array of values that read themselves.
    mutating func array<Value: Canonical>(of type: Value.Type = Value.self) -> [Value]? {
        array { Value(from: &$0) }
    }

    mutating func array<Value>(_ read: (inout CanonicalReader) -> Value?) -> [Value]? {
        guard skip("[") else { return nil }
        var values: [Value] = []
        if skip("]") { return values }
        repeat {
            guard let value = read(&self) else { return nil }
            values.append(value)
        } while skip(",")
        return skip("]") ? values : nil
    }

    /// The bytes of an object, which end with its own closing brace; what is inside is not looked at.
    mutating func object() -> ArraySlice<UInt8>? {
        let start = position
        guard start < bytes.count, bytes[start] == UInt8(ascii: "{") else { return nil }
        var depth = 0
        var isInString = false
        while position < bytes.count {
            let byte = bytes[position]
            position += 1
            if isInString {
                // What a backslash escapes may be a quote.
                if byte == 0x5C { position += 1 } else if byte == 0x22 { isInString = false }
                continue
            }
            switch byte {
            case 0x22: isInString = true
            case 0x7B: depth += 1
            case 0x7D: depth -= 1
            default: break
            }
            if depth == 0 { return bytes[start..<position] }
        }
        return nil
    }
}
