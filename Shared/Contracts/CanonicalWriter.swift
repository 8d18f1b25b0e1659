/// Writes JSON just as `JSONEncoder` does with sorted keys, ten times faster, for the few types that every push is in.
///
/// It knows only what these need: objects whose members the caller names in order, numbers, and strings without
/// characters that JSON escapes. Anything else makes it give up, and the usual encoder takes over.
struct CanonicalWriter {
    private(set) var bytes: [UInt8] = []
    /// Whether all that was written is what the usual encoder would have written.
    private(set) var isCanonical = true

    /// Punctuation and names, as they stand in the text.
    mutating func text(_ text: String) { bytes.append(contentsOf: text.utf8) }

    mutating func byte(_ scalar: Unicode.Scalar) { bytes.append(UInt8(ascii: scalar)) }

    /// Bytes that are JSON already.
    mutating func raw(_ json: [UInt8]) { bytes.append(contentsOf: json) }

    /// Leaves the writing to the usual encoder.
    mutating func giveUp() { isCanonical = false }

    mutating func number(_ number: some FixedWidthInteger) {
        var rest = UInt64(number.magnitude)
        if number < 0 { byte("-") }
        var length = 1
        var power: UInt64 = 10
        while length < 20, rest >= power {
            length += 1
            power = length < 20 ? power * 10 : power
        }
        let start = bytes.count
        for _ in 0..<length { bytes.append(UInt8(ascii: "0")) }
        for place in stride(from: start + length - 1, through: start, by: -1) {
            bytes[place] += UInt8(truncatingIfNeeded: rest % 10)
            rest /= 10
        }
    }

    /// A name with its punctuation, then a string.
    mutating func string(_ name: String, _ value: String) {
        text(name)
        byte("\"")
        for byte in value.utf8 where byte < 0x20 || byte == 0x22 || byte == 0x5C || byte == 0x7F {
            return giveUp()
        }
        bytes.append(contentsOf: value.utf8)
        byte("\"")
    }

    mutating func string(_ name: String, _ value: String?) {
        if let value { string(name, value) }
    }

    /// A name with its punctuation, then a number.
    mutating func number(_ name: String, _ value: some FixedWidthInteger) {
        text(name)
        number(value)
    }

    mutating func number(_ name: String, _ value: (some FixedWidthInteger)?) {
        if let value { number(name, value) }
    }

    /// A name with its punctuation, then `true` or `false`.
    mutating func bool(_ name: String, _ value: Bool) {
        text(name)
        text(value ? "true" : "false")
    }

    /// A name with its punctuation, then a value that writes itself.
    mutating func value(_ name: String, _ value: some Canonical) {
        text(name)
        value.write(to: &self)
    }

    mutating func value(_ name: String, _ value: (some Canonical)?) {
        if let value { self.value(name, value) }
    }

    /// An array of values that write themselves.
    mutating func array(_ values: some Sequence<some Canonical>) {
        byte("[")
        var isFirst = true
        for value in values {
            if !isFirst { byte(",") }
            isFirst = false
            value.write(to: &self)
        }
        byte("]")
    }
}

/// A type that is written and read without the usual coders where that is possible.
protocol Canonical {
    /// Writes the value as `JSONEncoder` would with sorted keys.
    func write(to writer: inout CanonicalWriter)
    /// Reads exactly what `write` writes; nil for everything else, which the usual decoder then looks at.
    init?(from reader: inout CanonicalReader)
}
