/// The target of a request line, taken apart.
struct HTTPTarget: Equatable {
    let path: String
    let segments: [String]
    let queryItems: [HTTPField]

    /// Decodes a target in origin or absolute form.
    ///
    /// - Returns: `nil` if it holds white space or control characters, a `%` is not followed by two hex digits, or the decoded text is not UTF-8 or holds a zero.
    init?(_ target: String) {
        guard target.utf8.allSatisfy({ $0 > 0x20 && $0 != 0x7F }) else { return nil }
        var rest = Substring(target)
        if !rest.hasPrefix("/") { rest = HTTPTarget.withoutAuthority(rest) }
        let parts = rest.prefix { $0 != "#" }.split(
            separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        guard let rawPath = parts.first, let path = HTTPTarget.decode(rawPath) else { return nil }
        var segments: [String] = []
        for raw in rawPath.split(separator: "/") {
            guard let segment = HTTPTarget.decode(raw) else { return nil }
            segments.append(segment)
        }
        guard let items = HTTPTarget.items(parts.count > 1 ? parts[1] : "") else { return nil }
        (self.path, self.segments, queryItems) = (path, segments, items)
    }

    private static func withoutAuthority(_ target: Substring) -> Substring {
        for scheme in ["http://", "https://"] where target.hasPrefix(scheme) {
            let path = target.dropFirst(scheme.count).drop { $0 != "/" && $0 != "?" }
            return path.isEmpty ? "/" : path
        }
        return target
    }

    private static func items(_ query: Substring) -> [HTTPField]? {
        var items: [HTTPField] = []
        for raw in query.split(separator: "&") {
            let pair = raw.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard let name = decode(pair[0], plusIsSpace: true),
                let value = decode(pair.count > 1 ? pair[1] : "", plusIsSpace: true)
            else { return nil }
            items.append(HTTPField(name: name, value: value))
        }
        return items
    }

    private static func decode(_ text: Substring, plusIsSpace: Bool = false) -> String? {
        let special: (UInt8) -> Bool = { $0 == 0x25 || $0 == 0 || (plusIsSpace && $0 == 0x2B) || $0 >= 0x80 }
        guard text.utf8.contains(where: special) else { return String(text) }
        var bytes: [UInt8] = []
        var rest = text.utf8[...]
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
