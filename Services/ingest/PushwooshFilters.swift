import Contracts
import JSON

/// Reads what `createFilter` and `compileFilter` ask for: an expression, or in the older form conditions and an operator.
struct PushwooshFilters {
    /// The most conditions of one filter.
    static let conditionsMax = 100

    let members: ObjectReader
    /// The code of the application whose filter it is.
    let application: String

    /// A filter that has been read.
    struct Definition: Equatable {
        var name: String
        var filter: Filter
        /// `YYYY-MM-DD`, the last day on which the filter is there.
        var expiresOn: String?
    }

    /// Reads a filter.
    func definition() throws(Refusal) -> Definition {
        let name = try members.requiredText("name")
        try members.refuseUnknown(known: [
            "application", "auth", "name", "conditions", "operator", "expiration_date", "filter_expression",
        ])
        return Definition(name: name, filter: try filter(), expiresOn: try expiration())
    }

    /// Reads the filter of a dry run, which is kept under no name.
    func dryRun() throws(Refusal) -> Filter {
        try members.refuseUnknown(known: [
            "application", "auth", "name", "conditions", "operator", "filter_expression", "devices_filter",
        ])
        // The vendor's Python client calls it so.
        guard let value = members.lenient("devices_filter") else { return try filter() }
        for other in ["filter_expression", "conditions"] where members.lenient(other) != nil {
            throw members.wrong(other, "only one of devices_filter and \(other)", label: "filter")
        }
        return try expression(value)
    }

    private func filter() throws(Refusal) -> Filter {
        guard let value = members.lenient("filter_expression") else {
            guard members.lenient("conditions") != nil else {
                throw members.wrong(
                    "filter_expression", "missing; filter_expression or conditions is needed",
                    label: "missing")
            }
            return try joinedConditions()
        }
        guard members.lenient("conditions") == nil else {
            throw members.wrong("conditions", "only one of filter_expression and conditions", label: "filter")
        }
        return try expression(value)
    }

    private func expression(_ value: JSONValue) throws(Refusal) -> Filter {
        guard let text = value.string else { throw ObjectReader.wrong(value, "must be a string") }
        do {
            return try FilterExpression.parse(text, application: application)
        } catch {
            throw ObjectReader.wrong(value, error.text, label: "filter")
        }
    }

    private func joinedConditions() throws(Refusal) -> Filter {
        let filters = try conditions()
        let joined: Filter = try joinsByAny() ? .any(filters) : .all(filters)
        return filters.count == 1 ? filters[0] : joined
    }

    private func joinsByAny() throws(Refusal) -> Bool {
        guard let value = members.lenient("operator") else { return false }
        switch value.string?.uppercased() {
        case "AND": return false
        case "OR": return true
        default: throw ObjectReader.wrong(value, "must be \"AND\" or \"OR\"", label: "filter")
        }
    }

    private func conditions() throws(Refusal) -> [Filter] {
        let value = try members.required("conditions")
        guard let elements = value.elements else { throw ObjectReader.wrong(value, "must be an array") }
        guard (1...PushwooshFilters.conditionsMax).contains(elements.count) else {
            throw ObjectReader.wrong(
                value, "must have 1 to \(PushwooshFilters.conditionsMax) elements", label: "filter")
        }
        var filters: [Filter] = []
        for element in elements { filters.append(try condition(element)) }
        return filters
    }

    /// `[tag, operator, operand]`; `NOTSET` has no operand.
    private func condition(_ value: JSONValue) throws(Refusal) -> Filter {
        guard let parts = value.elements.map(Array.init), (2...3).contains(parts.count) else {
            throw ObjectReader.wrong(value, "must be [tag, operator, operand]", label: "filter")
        }
        let tag = try Texts.text(parts[0])
        guard let comparison = parts[1].string.flatMap({ Filter.Comparison(rawValue: $0.uppercased()) })
        else {
            let known = Filter.Comparison.allCases.map(\.rawValue).joined(separator: ", ")
            throw ObjectReader.wrong(parts[1], "must be one of \(known)", label: "filter")
        }
        guard (parts.count == 3) == (comparison != .notSet) else {
            throw ObjectReader.wrong(value, "has too few or too many parts", label: "filter")
        }
        guard parts.count == 3 else { return .tag(name: tag, comparison: .notSet, values: []) }
        return try compared(tag, comparison, parts[2])
    }

    private func compared(_ tag: String, _ comparison: Filter.Comparison, _ operand: JSONValue)
        throws(Refusal)
        -> Filter
    {
        switch comparison {
        case .oneOf, .noneOf:
            return .tag(name: tag, comparison: comparison, values: try list(operand, counts: 1...1_000))
        case .between:
            let values = try list(operand, counts: 2...2)
            guard FilterOperands.areComparable(values) else {
                throw ObjectReader.wrong(operand, "must be two texts or two numbers", label: "filter")
            }
            return .tag(name: tag, comparison: .between, values: values)
        case .equal where operand.kind == .array:
            // A list is a documented operand of EQ: it means any of its members.
            return .tag(name: tag, comparison: .oneOf, values: try list(operand, counts: 1...1_000))
        default:
            return .tag(name: tag, comparison: comparison, values: [try PushwooshTags.scalar(operand)])
        }
    }

    private func list(_ value: JSONValue, counts: ClosedRange<Int>) throws(Refusal) -> [TagValue] {
        guard let elements = value.elements else { throw ObjectReader.wrong(value, "must be an array") }
        guard counts.contains(elements.count) else {
            throw ObjectReader.wrong(
                value, "must have \(counts.lowerBound) to \(counts.upperBound) elements", label: "filter")
        }
        var values: [TagValue] = []
        for element in elements { values.append(try PushwooshTags.scalar(element)) }
        return values
    }

    private func expiration() throws(Refusal) -> String? {
        guard let value = members.lenient("expiration_date") else { return nil }
        guard let text = value.string, CalendarDay.isWellFormed(text) else {
            throw ObjectReader.wrong(value, "must be a date, YYYY-MM-DD", label: "filter")
        }
        return text
    }
}
