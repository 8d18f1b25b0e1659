/// How a client connection behaves; every wait and size has its limit here.
public struct HTTP2ConnectionOptions: Sendable, Equatable {
    /// The longest that TCP, proxy and TLS may take together, in milliseconds.
    public var connectTimeoutMilliseconds: Int64 = 10_000
    /// The longest that the answer to a PING may take, in milliseconds.
    public var pingTimeoutMilliseconds: Int64 = 10_000
    /// How many streams may be open before the peer's first SETTINGS.
    ///
    /// One, because APNs allows no more until a valid token was seen (Apple, Sending notification requests to APNs).
    public var initialStreamLimit = 1
    /// How many streams may be open at most, whatever the peer allows.
    public var streamCap = 1_000
    /// How many bytes of a response body are kept.
    public var maxResponseBodyBytes = 65_536
    /// How many bytes the fields that are kept of a response may have, as SETTINGS_MAX_HEADER_LIST_SIZE counts them.
    public var maxResponseHeaderBytes = 8_192
    /// The names of the response fields to keep, in lower case.
    public var responseHeaders = [
        "apns-id", "apns-unique-id", "apns-channel-id", "retry-after", "content-type",
    ]
    /// A proxy to tunnel through; the address given to the connection is then the proxy's.
    public var proxy: HTTP2Proxy?

    /// Makes the defaults.
    public init() {}
}

/// A proxy that opens tunnels with HTTP CONNECT.
public struct HTTP2Proxy: Sendable, Equatable {
    /// Its port; its address is what the connection is given.
    public var port: Int
    /// The value of `proxy-authorization`, if the proxy wants one.
    public var authorization: String?

    /// Describes a proxy.
    public init(port: Int, authorization: String? = nil) {
        self.port = port
        self.authorization = authorization
    }
}
