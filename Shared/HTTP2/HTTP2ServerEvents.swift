/// How a server behaves; every wait and size has its limit here.
public struct HTTP2ServerOptions: Sendable, Equatable {
    /// SETTINGS_MAX_CONCURRENT_STREAMS that a connection begins with.
    public var streamLimit = 1_000
    /// SETTINGS_MAX_HEADER_LIST_SIZE, above which a list is answered 431.
    ///
    /// APNs was seen to say 8,000 (published frame logs of several clients).
    public var maxHeaderListBytes = 8_000
    /// How many bytes of a body are kept; the rest is counted only.
    public var maxBodyBytes = 65_536
    /// The flow-control window of a connection, from 65,535 bytes on.
    public var connectionWindowBytes: Int32 = 65_535
    /// The longest that a handshake may take, in milliseconds.
    public var handshakeTimeoutMilliseconds: Int64 = 10_000
    /// How many connections are kept; further ones are closed at once.
    public var maxConnections = 1_024

    /// Makes the defaults.
    public init() {}
}

/// One thing that happened on a server.
public enum HTTP2ServerEvent: Sendable, Equatable {
    /// A client has shaken hands and agreed on `h2`.
    case opened(connectionID: Int)
    /// A request is complete and waits for `respond`.
    case request(HTTP2ServerRequest)
    /// A stream above the announced limit was refused.
    case refused(connectionID: Int, streamID: Int)
    /// A request that was not answered is gone: reset by the client or cut off by a GOAWAY.
    case streamClosed(connectionID: Int, streamID: Int, errorCode: UInt32)
    /// A connection is gone, with all its requests.
    case closed(connectionID: Int, reason: String)
    /// A client did not get as far as `opened`: no TLS, no `h2`, or too slow.
    case handshakeFailed(connectionID: Int, reason: String)
}

/// One complete request.
public struct HTTP2ServerRequest: Sendable, Equatable {
    /// The connection it came on; numbered from 1 and never used again.
    public var connectionID: Int
    /// Its stream there.
    public var streamID: Int
    /// All its fields in their order, pseudo fields too; names that stand twice are there twice.
    public var headers: HTTP2Headers
    /// The body, cut at `maxBodyBytes`.
    public var body: [UInt8]
    /// How long the body was.
    public var bodyBytes: Int

    /// Describes a request.
    public init(
        connectionID: Int, streamID: Int, headers: HTTP2Headers, body: [UInt8] = [], bodyBytes: Int? = nil
    ) {
        self.connectionID = connectionID
        self.streamID = streamID
        self.headers = headers
        self.body = body
        self.bodyBytes = bodyBytes ?? body.count
    }

    /// The value of `:method`.
    public var method: String { headers[":method"] ?? "" }

    /// The value of `:path`.
    public var path: String { headers[":path"] ?? "" }

    /// The value of `:authority`, else of `host`.
    public var authority: String { headers[":authority"] ?? headers["host"] ?? "" }
}
