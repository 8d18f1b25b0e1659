import Contracts
import Store

/// A filter as it is answered: its conditions on tags, each a few stretches of values, and how they are joined.
struct FilterPlan {
    /// How conditions are joined.
    indirect enum Node: Sendable {
        case everyone
        /// One of `conditions`.
        case condition(Int)
        case all([Node])
        case any([Node])
        case except(Node, minus: Node)

        static let nobody = Node.any([])
    }

    /// Devices of which a tag has a value in one of these stretches.
    struct Condition {
        var tag: Int64
        var spans: [ValueSpan]
    }

    private(set) var root = Node.nobody
    private(set) var conditions: [Condition] = []
    private let application: Int64
    private let today: Int64

    /// Makes the plan of a filter.
    ///
    /// - Parameters:
    ///   - filter: the filter.
    ///   - application: the application's number.
    ///   - today: the day from which days are counted back, in days since 1970.
    ///   - database: where the numbers of tags are.
    /// - Throws: `StoreError` if the store fails.
    init(_ filter: Filter, application: Int64, today: Int64, in database: Database) throws(StoreError) {
        self.application = application
        self.today = today
        root = try node(filter, database)
    }

    private mutating func node(_ filter: Filter, _ database: Database) throws(StoreError) -> Node {
        switch filter {
        case .everyone: return .everyone
        case .tag(let name, let comparison, let values): return try tag(name, comparison, values, database)
        case .all(let filters): return filters.isEmpty ? .everyone : .all(try nodes(filters, database))
        case .any(let filters): return .any(try nodes(filters, database))
        case .except(let from, let minus):
            let from = try node(from, database)
            return .except(from, minus: try node(minus, database))
        }
    }

    private mutating func nodes(_ filters: [Filter], _ database: Database) throws(StoreError) -> [Node] {
        var nodes: [Node] = []
        for filter in filters { nodes.append(try node(filter, database)) }
        return nodes
    }

    private mutating func tag(
        _ name: String, _ comparison: Filter.Comparison, _ values: [TagValue], _ database: Database
    ) throws(StoreError) -> Node {
        guard let tag = try Profiles.tag(name, application: application, in: database) else {
            return comparison == .notSet ? .everyone : .nobody
        }
        let today = today
        switch comparison {
        case .equal, .oneOf: return having(tag, values.flatMap { ValueSpan.equal($0, today: today) })
        case .notEqual, .noneOf:
            let equal = values.flatMap { ValueSpan.equal($0, today: today) }
            return .except(having(tag, [.any]), minus: having(tag, equal))
        case .lessOrEqual:
            return having(tag, values.prefix(1).flatMap { ValueSpan.atMost($0, today: today) })
        case .greaterOrEqual:
            return having(tag, values.prefix(1).flatMap { ValueSpan.atLeast($0, today: today) })
        case .between:
            guard values.count == 2 else { return .nobody }
            return having(tag, ValueSpan.between(values[0], values[1], today: today))
        case .notSet: return .except(.everyone, minus: having(tag, [.any]))
        }
    }

    private mutating func having(_ tag: Int64, _ spans: [ValueSpan]) -> Node {
        conditions.append(Condition(tag: tag, spans: spans))
        return .condition(conditions.count - 1)
    }
}
