/// A name and its value: a header field, or an item of a query.
public struct HTTPField: Sendable, Equatable {
    /// The name; of a header field it is compared without regard to ASCII case.
    public let name: String
    /// The value; empty if there is none.
    public let value: String

    /// Makes a field.
    public init(name: String, value: String) {
        self.name = name
        self.value = value
    }
}
