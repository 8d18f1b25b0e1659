internal import Glibc

/// Where a server listens.
public enum HTTPAddress: Sendable, Equatable, CustomStringConvertible {
    /// An IPv4 or IPv6 address in digits, and a port; 0 lets the kernel choose.
    case tcp(host: String, port: UInt16)
    /// The path of a Unix socket, at most 107 bytes.
    case unix(path: String)

    /// The longest path of a Unix socket, bytes (`unix(7)`: `sun_path` holds 108 with its zero).
    public static let pathBytesMax = 107

    /// Reads `127.0.0.1:8080`, `[::1]:8080` or `unix:/run/liveline/admin.sock`.
    ///
    /// - Throws: `HTTPServerError` with the text if it is none of these.
    public init(parsing text: String) throws(HTTPServerError) {
        let address = text.hasPrefix("unix:") ? HTTPAddress.unix(text) : HTTPAddress.tcp(text)
        guard let address else {
            throw HTTPServerError(reason: .malformedAddress, call: "address", code: 0, context: text)
        }
        self = address
    }

    /// The form that `init(parsing:)` reads.
    public var description: String {
        switch self {
        case .tcp(let host, let port): host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)"
        case .unix(let path): "unix:\(path)"
        }
    }

    private static func unix(_ text: String) -> HTTPAddress? {
        let path = String(text.dropFirst("unix:".count))
        guard !path.isEmpty, path.utf8.count <= pathBytesMax, !path.utf8.contains(0) else { return nil }
        return .unix(path: path)
    }

    private static func tcp(_ text: String) -> HTTPAddress? {
        guard let colon = text.lastIndex(of: ":") else { return nil }
        let digits = text[text.index(after: colon)...]
        guard digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let port = UInt16(digits) else {
            return nil
        }
        let name = text[..<colon]
        let isBracketed = name.hasPrefix("[") && name.hasSuffix("]")
        let host = isBracketed ? String(name.dropFirst().dropLast()) : String(name)
        let family = isBracketed ? AF_INET6 : AF_INET
        var binary = in6_addr()
        guard unsafe inet_pton(family, host, &binary) == 1 else { return nil }
        return .tcp(host: host, port: port)
    }
}
