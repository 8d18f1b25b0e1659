import Contracts

/// A condition with how deep it is nested.
struct FilterTree {
    var filter: Filter
    var depth = 0

    /// Joins operands by one operator; runs of the same one become one level.
    static func joined(_ operands: [FilterTree], by sign: UInt8) -> FilterTree {
        guard operands.count > 1 else { return operands.first ?? FilterTree(filter: .everyone) }
        switch sign {
        case UInt8(ascii: "*"): return all(operands)
        case UInt8(ascii: "+"): return any(operands)
        default: return difference(operands[0], any(Array(operands.dropFirst())))
        }
    }

    private static func all(_ operands: [FilterTree]) -> FilterTree {
        join(operands, Filter.all) { if case .all(let inner) = $0 { inner } else { nil } }
    }

    private static func any(_ operands: [FilterTree]) -> FilterTree {
        guard operands.count > 1 else { return operands[0] }
        // Nobody, which is a union of none, stays a condition of its own.
        return join(operands, Filter.any) {
            if case .any(let inner) = $0, !inner.isEmpty { inner } else { nil }
        }
    }

    private static func join(
        _ operands: [FilterTree], _ make: ([Filter]) -> Filter, inner: (Filter) -> [Filter]?
    ) -> FilterTree {
        var filters: [Filter] = []
        var depth = 0
        for operand in operands {
            if let same = inner(operand.filter) {
                filters += same
                depth = max(depth, operand.depth)
            } else {
                filters.append(operand.filter)
                depth = max(depth, operand.depth + 1)
            }
        }
        return FilterTree(filter: make(filters), depth: depth)
    }

    /// What is taken away one after the other is taken away together.
    private static func difference(_ first: FilterTree, _ taken: FilterTree) -> FilterTree {
        guard case .except(let from, let minus) = first.filter else {
            return FilterTree(
                filter: .except(first.filter, minus: taken.filter), depth: max(first.depth, taken.depth) + 1)
        }
        let former = FilterTree(filter: minus, depth: max(first.depth - 1, 0))
        let all = any([former, taken])
        return FilterTree(
            filter: .except(from, minus: all.filter), depth: max(first.depth, all.depth + 1))
    }
}
