import Contracts
import Store

/// Writes a filter as one SQL query for device numbers, answered from the index on tag values.
///
/// A comparison holds for devices that have the tag; `NOTEQ` and `NOTIN` for those that have it with other values
/// only. Numbers are compared with numbers and texts with texts; dates are texts, `YYYY-MM-DD`.
struct FilterQuery {
    let application: Int64
    private(set) var values: [Value] = []

    init(application: Int64) { self.application = application }

    mutating func sql(_ filter: Filter) -> String {
        switch filter {
        case .everyone: return everyone()
        case .tag(let name, let comparison, let operands):
            return tag(name, comparison, operands.map(\.operand))
        case .all(let filters): return filters.isEmpty ? everyone() : joined(filters, by: "INTERSECT")
        case .any(let filters): return filters.isEmpty ? "SELECT 0 WHERE 0" : joined(filters, by: "UNION")
        case .except(let from, let minus):
            let first = sql(from)
            return "SELECT * FROM (\(first)) EXCEPT SELECT * FROM (\(sql(minus)))"
        }
    }

    private mutating func everyone() -> String {
        values.append(.int(application))
        return "SELECT id FROM devices WHERE application = ?"
    }

    private mutating func joined(_ filters: [Filter], by join: String) -> String {
        var parts: [String] = []
        for filter in filters { parts.append("SELECT * FROM (\(sql(filter)))") }
        return parts.joined(separator: " \(join) ")
    }

    private mutating func tag(_ name: String, _ comparison: Filter.Comparison, _ operands: [Value]) -> String
    {
        switch comparison {
        case .equal, .oneOf: return having(name, equal(operands.count), operands)
        case .notEqual, .noneOf:
            let set = having(name, "1", [])
            return "\(set) EXCEPT \(having(name, equal(operands.count), operands))"
        case .lessOrEqual: return having(name, "value <= ? AND \(sameType(operands.first))", operands)
        case .greaterOrEqual: return having(name, "value >= ? AND \(sameType(operands.first))", operands)
        case .between: return having(name, "value BETWEEN ? AND ? AND \(sameType(operands.first))", operands)
        case .notSet:
            let all = everyone()
            return "\(all) EXCEPT \(having(name, "1", []))"
        }
    }

    private mutating func having(_ name: String, _ condition: String, _ operands: [Value]) -> String {
        values += [.int(application), .text(name)] + operands
        return "SELECT device FROM tags WHERE application = ? AND name = ? AND kind > 0 AND (\(condition))"
    }

    private func equal(_ count: Int) -> String {
        "value IN (\(Array(repeating: "?", count: count).joined(separator: ", ")))"
    }

    /// SQLite orders every number before every text.
    private func sameType(_ operand: Value?) -> String {
        if case .text? = operand { return "value >= ''" }
        return "value < ''"
    }
}
