import Contracts
import FoundationEssentials

/// What the values of a filter expression mean.
enum FilterOperands {
    /// A value without quotes: a number, a date or a truth value.
    static func value(_ word: String) -> TagValue? {
        switch word.lowercased() {
        case "true": return .boolean(true)
        case "false": return .boolean(false)
        default: break
        }
        if CalendarDay.isWellFormed(word) { return .string(word) }
        guard let last = word.utf8.last, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(last) else {
            return nil
        }
        // Decimal notation only: Swift would take "0x1" too.
        let isDecimal = word.utf8.allSatisfy { Array("0123456789+-.eE".utf8).contains($0) }
        guard isDecimal else { return nil }
        if let integer = Int64(word) { return .integer(integer) }
        guard let number = Double(word), number.isFinite else { return nil }
        return Int64(exactly: number).map(TagValue.integer) ?? .number(number)
    }

    /// A condition on a tag; values that are written in more than one way are looked for in each.
    ///
    /// The vendor's clients write a day as its first second, and a truth value as a text.
    static func tag(_ name: String, _ comparison: Filter.Comparison, _ values: [TagValue]) -> Filter {
        switch comparison {
        case .equal, .oneOf:
            let all = spelled(values)
            return .tag(
                name: name, comparison: comparison == .equal && all.count == 1 ? .equal : .oneOf, values: all)
        case .notEqual, .noneOf:
            let all = spelled(values)
            return .tag(
                name: name, comparison: comparison == .notEqual && all.count == 1 ? .notEqual : .noneOf,
                values: all)
        case .lessOrEqual, .greaterOrEqual, .between, .notSet:
            return .tag(name: name, comparison: comparison, values: values.map { day($0) ?? $0 })
        }
    }

    /// Whether values can lie on one scale: all are texts, or none is.
    static func areComparable(_ values: [TagValue]) -> Bool {
        let texts = values.count { if case .string = $0 { true } else { false } }
        return texts == 0 || texts == values.count
    }

    private static func spelled(_ values: [TagValue]) -> [TagValue] {
        var all = values
        for value in values {
            for other in [day(value), truth(value)].compactMap({ $0 }) where !all.contains(other) {
                all.append(other)
            }
        }
        return all
    }

    /// The day of a text that names its first second.
    private static func day(_ value: TagValue) -> TagValue? {
        guard case .string(let text) = value, text.hasSuffix(" 00:00:00") else { return nil }
        let day = String(text.dropLast(" 00:00:00".count))
        return CalendarDay.isWellFormed(day) ? .string(day) : nil
    }

    private static func truth(_ value: TagValue) -> TagValue? {
        switch value {
        case .string("true"): .boolean(true)
        case .string("false"): .boolean(false)
        default: nil
        }
    }
}
