import Contracts

/// Reads the language in which Pushwoosh's filters are written.
///
/// `T("Tag", op, value)`, `AT("APPLICATION", "Tag", op, value)` and `A("APPLICATION", ["IOS"])`, joined by `*` (in both),
/// `+` (in one of them) and `\` (in the first, not in the others), with parentheses. Pushwoosh documents no precedence, so
/// different operators side by side are refused unless parentheses say what is meant.
///
/// It works without recursion; whatever the text, it ends with a filter or a fault.
struct FilterExpression {
    private var scanner: FilterScanner
    private let application: String
    private var groups = [Group(offset: 0)]
    private var termCount = 0

    /// What stands between two parentheses, as far as it has been read.
    private struct Group {
        var offset: Int
        var sign: UInt8?
        var operands: [FilterTree] = []
    }

    /// Reads an expression.
    ///
    /// - Parameters:
    ///   - text: the expression.
    ///   - application: the code of the application whose devices are meant.
    /// - Returns: the filter that it means.
    /// - Throws: `FilterFault` for what is no expression, or too large a one.
    static func parse(_ text: String, application: String) throws(FilterFault) -> Filter {
        guard text.utf8.count <= FilterLimits.bytesMax else {
            throw FilterFault(
                offset: FilterLimits.bytesMax,
                problem: "an expression has at most \(FilterLimits.bytesMax) bytes")
        }
        var expression = FilterExpression(scanner: FilterScanner(text), application: application)
        return try expression.read()
    }

    private init(scanner: FilterScanner, application: String) {
        self.scanner = scanner
        self.application = application
    }

    private mutating func read() throws(FilterFault) -> Filter {
        while true {
            try operand()
            if let filter = try afterOperand() { return filter }
        }
    }

    /// Reads parentheses that open, and the condition behind them.
    private mutating func operand() throws(FilterFault) {
        while true {
            switch try scanner.token() {
            case .sign(UInt8(ascii: "(")):
                groups.append(Group(offset: scanner.offset))
                guard groups.count <= FilterLimits.parenthesesMax else {
                    throw scanner.fault("more than \(FilterLimits.parenthesesMax) parentheses are open")
                }
            case .word(let name):
                termCount += 1
                guard termCount <= FilterLimits.termsMax else {
                    throw scanner.fault("more than \(FilterLimits.termsMax) conditions")
                }
                var term = FilterTerm(scanner: scanner, application: application)
                append(FilterTree(filter: try term.read(name)))
                scanner = term.scanner
                return
            default: throw scanner.fault("a condition is missing here")
            }
        }
    }

    /// Reads parentheses that close, and the operator behind them; the filter if the expression is over.
    private mutating func afterOperand() throws(FilterFault) -> Filter? {
        while true {
            switch try scanner.token() {
            case .sign(UInt8(ascii: ")")):
                guard groups.count > 1 else { throw scanner.fault("no parenthesis is open") }
                append(try close())
            case .sign(let sign) where Array("*+\\".utf8).contains(sign):
                let former = groups[groups.count - 1].sign ?? sign
                guard former == sign else {
                    throw scanner.fault("different operators side by side; say by parentheses what is meant")
                }
                groups[groups.count - 1].sign = sign
                return nil
            case .end:
                guard groups.count == 1 else {
                    throw FilterFault(
                        offset: groups[groups.count - 1].offset, problem: "the parenthesis is not closed")
                }
                return try close().filter
            default: throw scanner.fault("one of * + \\ ) is missing here")
            }
        }
    }

    private mutating func append(_ tree: FilterTree) { groups[groups.count - 1].operands.append(tree) }

    private mutating func close() throws(FilterFault) -> FilterTree {
        let group = groups.removeLast()
        let tree = FilterTree.joined(group.operands, by: group.sign ?? UInt8(ascii: "*"))
        guard tree.depth <= FilterLimits.depthMax else {
            throw FilterFault(
                offset: group.offset,
                problem: "operators are nested deeper than \(FilterLimits.depthMax) levels")
        }
        return tree
    }
}
