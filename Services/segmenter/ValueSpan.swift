import Contracts
import Store

/// A stretch of a tag's values, as a condition that SQLite answers from the index on values.
///
/// Numbers are compared with numbers and texts with texts; SQLite orders every number before every text.
struct ValueSpan: Equatable {
    /// The condition, with the column as `value`; nil for every value.
    let condition: String?
    let operands: [Value]
    /// Whether it is one value, whose devices the index holds in order.
    let isPoint: Bool

    /// Every value.
    static let any = ValueSpan(nil, [])

    private init(_ condition: String?, _ operands: [Value], isPoint: Bool = false) {
        self.condition = condition
        self.operands = operands
        self.isPoint = isPoint
    }

    /// One value.
    private static func equal(_ value: Value) -> ValueSpan {
        ValueSpan("value = ?", [value], isPoint: true)
    }

    /// The number as a member of a list, whose members are texts.
    private static func member(_ text: String) -> ValueSpan {
        ValueSpan("value = ? AND kind = \(TagKind.list.rawValue)", [.text(text)], isPoint: true)
    }

    // MARK: Conditions

    /// What equals a value.
    static func equal(_ value: TagValue, today: Int64) -> [ValueSpan] {
        switch value {
        case .string(let text):
            guard let end = endOfDay(text) else { return [equal(.text(text))] }
            return [ValueSpan("value >= ? AND value < ?", [.text(text), .text(end)])]
        case .integer(let number):
            return [equal(.int(number)), member(String(number))] + days(number, number, today)
        case .number(let number): return [equal(.double(number)), member(String(number))]
        case .boolean(let truth): return [equal(Value(truth))]
        case .list(let members): return members.map { equal(.text($0)) }
        }
    }

    /// What is at most a value.
    static func atMost(_ value: TagValue, today: Int64) -> [ValueSpan] {
        switch value.operand {
        case .text(let text):
            guard let end = endOfDay(text) else {
                return [ValueSpan("value >= '' AND value <= ?", [.text(text)])]
            }
            return [ValueSpan("\(isDate) AND value >= '0' AND value < ?", [.text(end)])]
        case let number:
            return [ValueSpan("value <= ?", [number])] + days(nil, value.whole, today)
        }
    }

    /// What is at least a value.
    static func atLeast(_ value: TagValue, today: Int64) -> [ValueSpan] {
        switch value.operand {
        case .text(let text):
            guard endOfDay(text) != nil else { return [ValueSpan("value >= ?", [.text(text)])] }
            return [ValueSpan("\(isDate) AND value >= ? AND value < ':'", [.text(text)])]
        case let number:
            return [ValueSpan("value >= ? AND value < ''", [number])] + days(value.whole, nil, today)
        }
    }

    /// What lies between two values of one kind, both included; nothing lies between two kinds.
    static func between(_ low: TagValue, _ high: TagValue, today: Int64) -> [ValueSpan] {
        switch (low.operand, high.operand) {
        case (.text(let low), .text(let high)):
            guard let end = endOfDay(high) else {
                return [ValueSpan("value >= ? AND value <= ?", [.text(low), .text(high)])]
            }
            return [ValueSpan("value >= ? AND value < ?", [.text(low), .text(end)])]
        case (.text, _), (_, .text): return []
        case (let from, let to):
            let span = ValueSpan("value >= ? AND value <= ?", [from, to])
            guard let first = low.whole, let last = high.whole else { return [span] }
            return [span] + days(first, last, today)
        }
    }

    // MARK: Dates

    /// What begins like a date: a text such as `never` lies neither before nor behind a day.
    private static let isDate = "value GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]*'"

    /// The text behind all that begin with a day: a date may have a time of day.
    private static func endOfDay(_ text: String) -> String? {
        let bytes = Array(text.utf8)
        let isDay =
            bytes.count == 10
            && bytes.indices.allSatisfy { index in
                index == 4 || index == 7
                    ? bytes[index] == UInt8(ascii: "-")
                    : (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(bytes[index])
            }
        // Behind the digit 9 comes the colon, which serves as well.
        guard isDay else { return nil }
        return String(decoding: bytes.dropLast() + [bytes[9] + 1], as: UTF8.self)
    }

    /// The most days that are counted, about 2,700 years.
    private static let daysMax: Int64 = 1_000_000

    /// Dates that lie so many days before today, in UTC; a negative number is a day to come.
    ///
    /// Without a bound nothing is meant where the other is no whole number either.
    private static func days(_ least: Int64?, _ most: Int64?, _ today: Int64) -> [ValueSpan] {
        let known = [least, most].compactMap { $0 }
        guard !known.isEmpty, known.allSatisfy({ (-daysMax...daysMax).contains($0) }) else { return [] }
        var condition = isDate
        var operands: [Value] = []
        if let most {
            condition += " AND value >= date(?, 'unixepoch')"
            operands.append(.int((today - most) * 86_400))
        } else {
            condition += " AND value >= '0'"
        }
        if let least {
            condition += " AND value < date(?, 'unixepoch')"
            operands.append(.int((today - least + 1) * 86_400))
        } else {
            condition += " AND value < ':'"
        }
        return [ValueSpan(condition, operands)]
    }
}

extension TagValue {
    /// What a condition compares with.
    fileprivate var operand: Value {
        switch self {
        case .string(let text): .text(text)
        case .integer(let number): .int(number)
        case .number(let number): .double(number)
        case .boolean(let truth): .int(truth ? 1 : 0)
        case .list(let members): .text(members.first ?? "")
        }
    }

    fileprivate var whole: Int64? {
        if case .integer(let number) = self { number } else { nil }
    }
}
