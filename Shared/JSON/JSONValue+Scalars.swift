extension JSONValue {
    /// The text of a string after unescaping, not normalised; `nil` for every other kind.
    public var string: String? {
        let node = node
        guard node.kind == .string else { return nil }
        let content = storage.bytes[Int(node.start) + 1..<Int(node.end) - 1]
        return node.hasEscape
            ? String(decoding: unescaped(content), as: UTF8.self) : String(decoding: content, as: UTF8.self)
    }

    /// The value of a number that is written without fraction and exponent and fits; `nil` for everything else.
    ///
    /// So `12.0` and `1e3` have none, and neither has `9223372036854775808`.
    public var int64: Int64? {
        guard kind == .number else { return nil }
        var digits = storage.bytes[node.range]
        let isNegative = digits.first == UInt8(ascii: "-")
        if isNegative { digits.removeFirst() }
        var value: Int64 = 0
        for digit in digits {
            guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(digit) else { return nil }
            let unit = Int64(digit - UInt8(ascii: "0"))
            let (product, tooLarge) = value.multipliedReportingOverflow(by: 10)
            // Towards its own sign, so that the least number is reached without passing the greatest.
            let (sum, overflow) = product.addingReportingOverflow(isNegative ? -unit : unit)
            guard !tooLarge, !overflow else { return nil }
            value = sum
        }
        return value
    }

    /// The nearest floating-point value of a number; `nil` for every other kind and where it would be infinite.
    public var double: Double? {
        guard kind == .number else { return nil }
        let value = Double(String(decoding: storage.bytes[node.range], as: UTF8.self))
        return value.flatMap { $0.isFinite ? $0 : nil }
    }

    /// The value of `true` or `false`; `nil` for every other kind.
    public var bool: Bool? {
        guard kind == .bool else { return nil }
        return storage.bytes[Int(node.start)] == UInt8(ascii: "t")
    }

    /// Whether the value is `null`.
    public var isNull: Bool { kind == .null }
}
