/// The text of one statement, which also names it in the cache of prepared statements.
///
/// A literal is recognised by its address, so that finding its prepared statement costs no hashing of text. There is
/// no interpolation: a value reaches a statement only through a placeholder.
public struct SQL: ExpressibleByStringLiteral, Sendable {
    enum Source {
        case literal(StaticString)
        case text(String)
    }

    let source: Source

    /// Takes a literal.
    public init(stringLiteral value: StaticString) { source = .literal(value) }

    /// Takes text put together at run time, for example with a varying number of placeholders.
    public init(_ text: String) { source = .text(text) }

    var text: String {
        switch source {
        case .literal(let literal): literal.description
        case .text(let text): text
        }
    }
}
