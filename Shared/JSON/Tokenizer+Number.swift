extension Tokenizer {
    /// Reads a number by the grammar of RFC 8259, section 6; its size is no concern of the grammar.
    mutating func number() throws(Fault) {
        if bytes[position] == UInt8(ascii: "-") { position += 1 }
        let leadsWithZero = try current() == UInt8(ascii: "0")
        let start = position
        try digits()
        guard !leadsWithZero || position == start + 1 else {
            throw Fault(kind: .invalidNumber, offset: start + 1)
        }
        if position < bytes.count, bytes[position] == UInt8(ascii: ".") {
            position += 1
            try digits()
        }
        try exponent()
    }

    private mutating func exponent() throws(Fault) {
        guard position < bytes.count, bytes[position] | 0x20 == UInt8(ascii: "e") else { return }
        position += 1
        let sign = try current()
        if sign == UInt8(ascii: "+") || sign == UInt8(ascii: "-") { position += 1 }
        try digits()
    }

    private mutating func digits() throws(Fault) {
        guard isDigit(try current()) else { throw fault(.invalidNumber) }
        while position < bytes.count, isDigit(bytes[position]) { position += 1 }
    }

    private func isDigit(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
    }
}
