internal import FoundationEssentials

/// Where an HTTP proxy is that opens tunnels, and how it is told who asks.
public struct ProxyAddress: Equatable, Sendable {
    /// The name or numeric address, without brackets.
    public var host: String
    /// The port.
    public var port: Int
    /// The value of `Proxy-Authorization` (RFC 7617, Basic), a secret; nil for a proxy that asks nobody.
    public var authorization: String?

    /// Reads `http://host:port` or `http://user:password@host:port`; nil for anything else.
    ///
    /// What cannot stand in a user's name or password of a URL is percent-encoded there.
    public init?(_ text: String) {
        guard text.unicodeScalars.allSatisfy(\.isVisible), let url = URL(string: text),
            url.scheme == "http", url.query == nil, url.fragment == nil, let host = url.host, !host.isEmpty,
            url.path.isEmpty || url.path == "/", let port = url.port, (1...65_535).contains(port)
        else { return nil }
        // As in `Endpoint`: some versions keep the brackets of an IPv6 address.
        self.host = host.hasPrefix("[") ? String(host.dropFirst().dropLast()) : host
        self.port = port
        guard url.user != nil || url.password != nil else { return }
        guard let user = url.user(percentEncoded: false), !user.isEmpty, !user.contains(":"),
            let password = url.password(percentEncoded: false)
        else { return nil }
        authorization = "Basic " + Data("\(user):\(password)".utf8).base64EncodedString()
    }
}
