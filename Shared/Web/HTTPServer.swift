/// An HTTP/1.1 server inside one outer poll loop, on libmicrohttpd.
///
/// A handler gets each request when it is complete and answers it through the exchange, now or in a later turn. Bodies
/// are held in memory, except those that an upload handler takes as they arrive. Requests that are malformed, too large or too slow never reach the handler. Everything happens
/// inside `process`; nothing blocks.
///
/// Its time limits are its own, since libmicrohttpd's begins again with each byte. A line without a space instead of a
/// request line ends the connection without an answer, which is how libmicrohttpd treats it.
public final class HTTPServer: Pollable {
    /// What is called with each complete request.
    public typealias Handler = (HTTPRequest, HTTPExchange) -> Void
    /// What is asked about each request once its header fields are there, and returns whether it takes the body as it
    /// arrives; the complete request then goes to nobody else.
    public typealias UploadHandler = (HTTPUpload) -> Bool

    private let core: ServerCore

    /// Listens at an address.
    ///
    /// - Parameters:
    ///   - address: Where to listen.
    ///   - limits: What clients are granted.
    ///   - identity: The certificate and key to speak TLS with; plain HTTP without.
    ///   - uploads: Called inside `process` for requests with large bodies; none without.
    ///   - handler: Called inside `process`. It may answer, keep the exchange, or stop the server.
    /// - Throws: `HTTPServerError` if it cannot listen there or the identity does not serve.
    public init(
        _ address: HTTPAddress, limits: HTTPServerLimits = HTTPServerLimits(), identity: TLSIdentity? = nil,
        uploads: UploadHandler? = nil, handler: @escaping Handler
    ) throws(HTTPServerError) {
        core = try ServerCore(
            address, limits: limits, identity: identity, uploads: uploads, handler: handler)
    }

    deinit { core.close() }

    /// The port that a TCP server listens on; `nil` for a Unix socket and once it has stopped accepting.
    public var port: UInt16? { core.port }

    /// How many connections are open.
    public var connectionCount: Int { core.connections.count }

    /// The descriptor to poll for reading; -1 once closed.
    public var descriptor: CInt { core.descriptor }

    /// When `process` must be called even if the descriptor is silent.
    public var nextDeadlineMilliseconds: Int64? { core.nextDeadlineMilliseconds }

    /// Accepts, reads, calls the handler, writes, and ends what is too slow.
    public func process(nowMilliseconds: Int64) {
        core.process(nowMilliseconds: nowMilliseconds)
    }

    /// Shows another certificate to those who connect from now on; open connections go on as they are.
    ///
    /// A server that speaks plain HTTP goes on doing so.
    ///
    /// - Throws: `HTTPServerError` if certificate and key do not serve; the former ones are shown then.
    public func replaceIdentity(_ identity: TLSIdentity) throws(HTTPServerError) {
        try core.replaceIdentity(identity)
    }

    /// Stops accepting connections; requests on open ones are still served, and their answers end the connection.
    public func quiesce() {
        core.quiesce()
    }

    /// Ends everything: what is not answered yet is answered 503.
    ///
    /// Called inside a handler, it takes effect when `process` is about to return.
    public func close() {
        core.close()
    }
}
