/// The prepared statements of one connection.
///
/// Literals are found by address and kept for good: a program has only so many. Texts made at run time are kept up to
/// a limit and then all let go, which costs a preparation each and needs no order of use.
struct StatementCache {
    /// How many statements made at run time are kept.
    static let textCountMax = 64

    private var literals: [Int: Statement] = [:]
    private var texts: [String: Statement] = [:]

    var count: Int { literals.count + texts.count }

    subscript(sql: SQL) -> Statement? {
        switch sql.source {
        case .literal(let literal): literals[Self.address(literal)]
        case .text(let text): texts[text]
        }
    }

    mutating func insert(_ statement: Statement, for sql: SQL) {
        switch sql.source {
        case .literal(let literal):
            literals[Self.address(literal)] = statement
        case .text(let text):
            if texts.count >= Self.textCountMax { texts.removeAll(keepingCapacity: true) }
            texts[text] = statement
        }
    }

    private static func address(_ literal: StaticString) -> Int {
        unsafe Int(bitPattern: literal.utf8Start)
    }
}
