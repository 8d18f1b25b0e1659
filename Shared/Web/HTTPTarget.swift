/// The target of a request line, taken apart.
struct HTTPTarget: Equatable {
    let path: String
    let segments: [String]
    let queryItems: [HTTPField]

    /// Decodes a target in origin or absolute form.
    ///
    /// - Returns: `nil` if it holds white space or control characters, a `%` is not followed by two hex digits, or the decoded text is not UTF-8 or holds a zero.
    init?(_ target: String) {
        let bytes = Array(target.utf8)
        guard bytes.allSatisfy({ $0 > 0x20 && $0 != 0x7F }) else { return nil }
        var rest = bytes[...]
        if rest.first != UInt8(ascii: "/") { rest = HTTPTarget.withoutAuthority(rest) }
        rest = rest.prefix { $0 != UInt8(ascii: "#") }
        let mark = rest.firstIndex(of: UInt8(ascii: "?")) ?? rest.endIndex
        let rawPath = rest[..<mark]
        guard let path = HTTPTarget.decode(rawPath) else { return nil }
        var segments: [String] = []
        for raw in rawPath.split(separator: UInt8(ascii: "/")) {
            guard let segment = HTTPTarget.decode(raw) else { return nil }
            segments.append(segment)
        }
        guard let items = HTTPTarget.items(rest[mark...].dropFirst()) else { return nil }
        (self.path, self.segments, queryItems) = (path, segments, items)
    }

    private static func withoutAuthority(_ target: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        for scheme in ["http://", "https://"] where target.starts(with: scheme.utf8) {
            let path = target.dropFirst(scheme.utf8.count).drop {
                $0 != UInt8(ascii: "/") && $0 != UInt8(ascii: "?")
            }
            return path.isEmpty ? [UInt8(ascii: "/")] : path
        }
        return target
    }

    private static func items(_ query: ArraySlice<UInt8>) -> [HTTPField]? {
        var items: [HTTPField] = []
        for raw in query.split(separator: UInt8(ascii: "&")) {
            let mark = raw.firstIndex(of: UInt8(ascii: "=")) ?? raw.endIndex
            guard let name = decode(raw[..<mark], plusIsSpace: true),
                let value = decode(raw[mark...].dropFirst(), plusIsSpace: true)
            else { return nil }
            items.append(HTTPField(name: name, value: value))
        }
        return items
    }

    private static func decode(_ text: ArraySlice<UInt8>, plusIsSpace: Bool = false) -> String? {
        let special: (UInt8) -> Bool = { $0 == 0x25 || $0 == 0 || (plusIsSpace && $0 == 0x2B) || $0 >= 0x80 }
        guard text.contains(where: special) else { return String(decoding: text, as: UTF8.self) }
        var bytes: [UInt8] = []
        var rest = text
        while let byte = rest.popFirst() {
            guard byte == 0x25 else {
                bytes.append(plusIsSpace && byte == 0x2B ? 0x20 : byte)
                continue
            }
            guard let high = rest.popFirst().flatMap(digit), let low = rest.popFirst().flatMap(digit) else {
                return nil
            }
            bytes.append(high << 4 | low)
        }
        guard !bytes.contains(0) else { return nil }
        return String(validating: bytes, as: UTF8.self)
    }

    private static func digit(_ byte: UInt8) -> UInt8? {
        switch byte {
        case 0x30...0x39: byte - 0x30
        case 0x41...0x46: byte - 0x37
        case 0x61...0x66: byte - 0x57
        default: nil
        }
    }
}
