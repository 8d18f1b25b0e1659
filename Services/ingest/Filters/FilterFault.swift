/// What is wrong with a filter expression, and where.
struct FilterFault: Error, Equatable {
    /// Where it stands, in bytes of UTF-8 from the start of the expression.
    var offset: Int
    /// What is wrong; it shows nothing of the expression.
    var problem: String

    /// Both in one line.
    var text: String { "at byte \(offset): \(problem)" }
}

/// How large a filter expression may be.
enum FilterLimits {
    /// The longest expression, in bytes.
    static let bytesMax = 16_384
    /// How many parentheses may be open at once.
    static let parenthesesMax = 100
    /// How deep what is meant may be nested, once runs of one operator count as one level.
    ///
    /// SQLite's parser gives up at ten such levels of subqueries.
    static let depthMax = 8
    /// The most conditions.
    static let termsMax = 200
    /// The most values in one list.
    static let valuesMax = 1_000
}
