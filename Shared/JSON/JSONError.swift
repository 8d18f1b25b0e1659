/// Says why some bytes are not an acceptable JSON text, and where.
///
/// Neither the error nor its description holds a value of the text; of the text it shows member names only.
public struct JSONError: Error, Equatable, Sendable {
    /// What is wrong with the text.
    public enum Kind: String, Equatable, Sendable, CaseIterable {
        /// The text has 4 GiB or more.
        case tooLarge
        /// The text begins with a byte order mark, which RFC 8259, section 8.1 forbids to send.
        case byteOrderMark
        /// The text stops before its value is complete.
        case unexpectedEnd
        /// No value begins here.
        case expectedValue
        /// An object goes on with something else than a member name in quotes.
        case expectedName
        /// No colon stands after a member name.
        case expectedColon
        /// Neither a comma nor the closing bracket stands after a value.
        case expectedSeparator
        /// A word is none of `true`, `false` and `null`.
        case invalidLiteral
        /// A number departs from the grammar, such as `01`, `1.` or `+1`.
        case invalidNumber
        /// A string holds a byte below 0x20 that is not escaped.
        case controlCharacter
        /// A backslash begins no escape that JSON knows.
        case invalidEscape
        /// A `\u` escape is one half of a surrogate pair without the other.
        case loneSurrogate
        /// A string holds bytes that are not UTF-8, overlong forms and encoded surrogates included.
        case invalidUTF8
        /// An object has two members whose names are the same after unescaping.
        case repeatedMember
        /// Arrays and objects stand in each other deeper than the limit.
        case tooDeep
        /// Something other than white space follows the value.
        case trailingBytes
    }

    /// What is wrong.
    public let kind: Kind

    /// Where the first wrong byte stands, counted from 0; the number of bytes when the text stops too early.
    ///
    /// An escape, a UTF-8 sequence, a literal and a repeated name count as wrong from their first byte.
    public let byteOffset: Int

    /// The value in which it stands, as `notifications[0].live_activity_id`; empty for the outermost one.
    public let path: String

    /// Makes an error from its parts.
    public init(kind: Kind, byteOffset: Int, path: String) {
        self.kind = kind
        self.byteOffset = byteOffset
        self.path = path
    }
}

extension JSONError: CustomStringConvertible {
    /// One line for a caller or a log, such as `repeated member request.auth, at byte 41`.
    public var description: String {
        let place = "at byte \(byteOffset)"
        if kind == .repeatedMember { return "repeated member \(path), \(place)" }
        return path.isEmpty ? "\(kind.phrase), \(place)" : "\(kind.phrase) in \(path), \(place)"
    }
}

extension JSONError.Kind {
    fileprivate var phrase: String {
        switch self {
        case .tooLarge: "text too large"
        case .byteOrderMark: "byte order mark"
        case .unexpectedEnd: "unexpected end"
        case .expectedValue: "expected a value"
        case .expectedName: "expected a member name in quotes"
        case .expectedColon: "expected a colon"
        case .expectedSeparator: "expected a comma or a closing bracket"
        case .invalidLiteral: "invalid literal"
        case .invalidNumber: "invalid number"
        case .controlCharacter: "control character that is not escaped"
        case .invalidEscape: "invalid escape"
        case .loneSurrogate: "half of a surrogate pair"
        case .invalidUTF8: "invalid UTF-8"
        case .repeatedMember: "repeated member"
        case .tooDeep: "nested too deep"
        case .trailingBytes: "bytes after the value"
        }
    }
}
