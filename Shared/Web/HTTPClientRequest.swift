/// One request to send.
public struct HTTPClientRequest: Sendable {
    /// The method.
    public var method: String
    /// An `http:` or `https:` URL.
    public var url: String
    /// Header fields; Host and Content-Length are added.
    public var headers: HTTPHeaders
    /// The body.
    public var body: [UInt8]
    /// The time for everything, from `send` to the last byte of the answer, ms.
    public var timeoutMilliseconds: Int64
    /// A Unix socket to connect to instead of the URL's host.
    public var unixSocketPath: String?
    /// The PEM file of the authorities that `https:` servers are checked against; the system's without.
    public var caFile: String?
    /// The URL of a proxy that `https:` goes through by CONNECT, perhaps with user and password; none without.
    public var proxy: String?
    /// Whether an `https:` server is offered HTTP/2 too: some speak nothing else.
    public var offersHTTP2 = false

    /// Makes a request.
    public init(
        method: String = "GET", url: String, headers: HTTPHeaders = [:], body: [UInt8] = [],
        timeoutMilliseconds: Int64 = 10_000, unixSocketPath: String? = nil, caFile: String? = nil,
        proxy: String? = nil
    ) {
        self.method = method
        self.url = url
        self.headers = headers
        self.body = body
        self.timeoutMilliseconds = timeoutMilliseconds
        self.unixSocketPath = unixSocketPath
        self.caFile = caFile
        self.proxy = proxy
    }
}

/// What a server answered, whatever the status.
public struct HTTPClientResponse: Sendable, Equatable {
    /// The status code.
    public let status: Int
    /// The header fields.
    public let headers: HTTPHeaders
    /// The body.
    public let body: [UInt8]
}
