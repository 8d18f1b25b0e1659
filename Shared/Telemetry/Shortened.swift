/// The beginning of a token, as logs show it: its first six hexadecimal digits and an ellipsis.
///
/// Six digits tell tokens apart in a log and are worth nothing to who reads them. The rest is not kept, and what is
/// not hexadecimal is not shown: of `sk-secret` only the ellipsis is left.
public struct Shortened: LogValue, CustomStringConvertible, Equatable {
    /// How many digits are shown at the most.
    public static let digitsMax = 6

    /// The shortened text.
    public let description: String

    /// Shortens a token.
    public init(_ token: some StringProtocol) {
        let digits = token.utf8.prefix(Shortened.digitsMax).prefix { byte in
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "f"),
                UInt8(ascii: "A")...UInt8(ascii: "F"):
                true
            default: false
            }
        }
        description = String(decoding: digits, as: UTF8.self) + "…"
    }

    /// The shortened text.
    public var logText: String { description }

    /// Never: it is text.
    public var isJSONLiteral: Bool { false }
}
