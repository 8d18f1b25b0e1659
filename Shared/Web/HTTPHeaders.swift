/// The header fields of a request or an answer, in the order in which they stand on the wire.
public struct HTTPHeaders: Sendable, Equatable, ExpressibleByDictionaryLiteral {
    /// All fields; a name may stand more than once.
    public private(set) var fields: [HTTPField]

    /// Makes headers of the given fields.
    public init(_ fields: [HTTPField] = []) {
        self.fields = fields
    }

    /// Makes headers of names and values.
    public init(dictionaryLiteral elements: (String, String)...) {
        fields = elements.map { HTTPField(name: $0.0, value: $0.1) }
    }

    /// The value of the first field of that name, whatever its case.
    public subscript(name: String) -> String? {
        fields.first { HTTPHeaders.isSame($0.name, name) }?.value
    }

    /// All values of that name, whatever its case.
    public func values(_ name: String) -> [String] {
        fields.filter { HTTPHeaders.isSame($0.name, name) }.map(\.value)
    }

    /// Adds a field behind the others.
    public mutating func add(_ name: String, _ value: String) {
        fields.append(HTTPField(name: name, value: value))
    }

    /// Whether every field can be written without changing the message around it (RFC 9110, section 5).
    var areWritable: Bool {
        fields.allSatisfy { field in
            !field.name.isEmpty && field.name.utf8.allSatisfy(HTTPHeaders.isTokenByte)
                && field.value.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F }
        }
    }

    static func isSame(_ left: String, _ right: String) -> Bool {
        let (left, right) = (left.utf8, right.utf8)
        return left.count == right.count && zip(left, right).allSatisfy { lowercase($0) == lowercase($1) }
    }

    private static func lowercase(_ byte: UInt8) -> UInt8 {
        (0x41...0x5A).contains(byte) ? byte | 0x20 : byte
    }

    static func isTokenByte(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
        case 0x21, 0x23...0x27, 0x2A, 0x2B, 0x2D, 0x2E, 0x5E, 0x5F, 0x60, 0x7C, 0x7E: true
        default: false
        }
    }
}
