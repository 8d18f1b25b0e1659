/// Which part of a long list a caller wants.
struct Page {
    /// The most lines of one page; the registry gives no more.
    static let limitMax = 1_000
    /// How many lines a page has if the caller does not say.
    static let limitDefault = 100

    /// The number behind which it begins.
    var after: Int64 = 0
    var limit = Page.limitDefault

    /// Reads `after` and `limit` from the query of a path.
    init(_ call: HTTPCall) throws(Refusal) {
        for item in call.query {
            switch item.name {
            case "after":
                guard let number = Int64(item.value), number >= 0 else {
                    throw Refusal("after", "must be the next of the page before", label: "value")
                }
                after = number
            case "limit":
                guard let number = Int(item.value), (1...Page.limitMax).contains(number) else {
                    throw Refusal("limit", "must be 1 to \(Page.limitMax)", label: "value")
                }
                limit = number
            default:
                throw Refusal("", "unknown item in the query; after and limit are known", label: "unknown")
            }
        }
    }

    /// Where the next page begins; nil if there is none.
    func next(_ count: Int, last: Int64?) -> Int64? { count >= limit ? last : nil }
}
