import Contracts

extension Filter {
    /// The filter in the language it is written in, fully parenthesised.
    ///
    /// `application` is the code of the application whose filter it is.
    func expression(application: String) -> String {
        switch self {
        case .everyone: return "A(\(Filter.quoted(application)))"
        case .any(let filters) where filters.isEmpty:
            // Nobody: here every device is an iOS device.
            return "A(\(Filter.quoted(application)), [\"Android\"])"
        case .tag(let name, let comparison, let values):
            return
                "T(\(([Filter.quoted(name)] + Filter.members(comparison, values)).joined(separator: ", ")))"
        case .all(let filters): return Filter.joined(filters, " * ", application)
        case .any(let filters): return Filter.joined(filters, " + ", application)
        case .except(let from, let minus): return Filter.joined([from, minus], " \\ ", application)
        }
    }

    private static func joined(_ filters: [Filter], _ sign: String, _ application: String) -> String {
        guard !filters.isEmpty else { return Filter.everyone.expression(application: application) }
        return "(\(filters.map { $0.expression(application: application) }.joined(separator: sign)))"
    }

    private static func members(_ comparison: Comparison, _ values: [TagValue]) -> [String] {
        let printed = values.map(\.printed)
        switch comparison {
        case .notSet: return [comparison.rawValue]
        case .between, .oneOf, .noneOf:
            return [comparison.rawValue, "[\(printed.joined(separator: ", "))]"]
        case .equal, .notEqual, .lessOrEqual, .greaterOrEqual: return [comparison.rawValue] + printed
        }
    }

    fileprivate static func quoted(_ text: String) -> String {
        // By scalars: a quote with a combining mark on it is another character.
        var quoted = "\""
        for scalar in text.unicodeScalars {
            if scalar == "\\" || scalar == "\"" { quoted.unicodeScalars.append("\\") }
            quoted.unicodeScalars.append(scalar)
        }
        quoted.unicodeScalars.append("\"")
        return quoted
    }
}

extension TagValue {
    fileprivate var printed: String {
        switch self {
        case .string(let text): Filter.quoted(text)
        case .integer(let number): String(number)
        case .number(let number): String(number)
        case .boolean(let truth): String(truth)
        case .list(let members): "[\(members.map(Filter.quoted).joined(separator: ", "))]"
        }
    }
}
