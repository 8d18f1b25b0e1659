internal import FoundationEssentials

/// Where an APNs host is.
public struct Endpoint: Equatable, Sendable {
    /// The name or numeric address, without brackets.
    public var host: String
    /// The port.
    public var port: Int

    /// Reads `https://host` or `https://host:port`; nil for anything else.
    public init?(_ text: String) {
        guard text.unicodeScalars.allSatisfy(\.isVisible), let url = URL(string: text),
            url.scheme == "https", url.user == nil, url.query == nil, url.fragment == nil,
            let host = url.host, !host.isEmpty, url.path.isEmpty || url.path == "/"
        else { return nil }
        // URL keeps the brackets of an IPv6 address in some versions and drops them in others.
        self.host = host.hasPrefix("[") ? String(host.dropFirst().dropLast()) : host
        port = url.port ?? 443
        guard (1...65_535).contains(port) else { return nil }
    }

    /// The value of `:authority`.
    public var authority: String {
        let name = host.contains(":") ? "[\(host)]" : host
        return port == 443 ? name : "\(name):\(port)"
    }
}
