/// An HTTP/1.1 client inside one outer poll loop, on libcurl.
///
/// Many requests run at once, each on a connection of its own that is kept for the next one; what exceeds the limit
/// waits, in order, and its waiting counts towards its time. Redirects are not followed, proxies of the environment are
/// not used, names are resolved on a thread of libcurl's. Completions are called inside `process`, never inside `send`.
public final class HTTPClient: Pollable {
    /// What is called once with the answer, or the cause why there is none.
    public typealias Completion = (Result<HTTPClientResponse, HTTPClientError>) -> Void

    /// Gives the next bytes of a body: at most so many, none at its end, and nil to break off.
    public typealias BodySource = (Int) -> [UInt8]?

    private let core: ClientCore

    /// Makes a client.
    ///
    /// - Parameters:
    ///   - connectionsMax: How many requests run at once, and how many connections are kept.
    ///   - answerBytesMax: The largest body of an answer, bytes.
    public init(connectionsMax: Int = 64, answerBytesMax: Int = 16 << 20) {
        core = ClientCore(connectionsMax: max(1, connectionsMax), answerBytesMax: answerBytesMax)
    }

    deinit { core.shutDown() }

    /// How many requests have no answer yet.
    public var pendingCount: Int { core.pendingCount }

    /// The descriptor to poll for reading; -1 once closed.
    public var descriptor: CInt { core.descriptor }

    /// When `process` must be called even if the descriptor is silent; libcurl reads the real monotonic clock.
    public var nextDeadlineMilliseconds: Int64? { core.nextDeadlineMilliseconds }

    /// Connects, writes, reads, and calls completions.
    public func process(nowMilliseconds: Int64) {
        core.process(nowMilliseconds: nowMilliseconds)
    }

    /// Sends a request.
    ///
    /// - Parameters:
    ///   - request: What to send.
    ///   - completion: Called once, in a later `process` or in `close`; not if the client is released before.
    public func send(_ request: HTTPClientRequest, completion: @escaping Completion) {
        core.send(request, completion: completion)
    }

    /// Sends a request whose body is given piece by piece, in chunks; the request's own body is not sent.
    ///
    /// - Parameters:
    ///   - request: What to send.
    ///   - body: Asked inside `process`; it may wait for a file.
    ///   - completion: As for `send`.
    public func send(
        _ request: HTTPClientRequest, body: @escaping BodySource, completion: @escaping Completion
    ) {
        core.send(request, body: body, completion: completion)
    }

    /// Ends everything; what has no answer is completed with `.closed`.
    public func close() {
        for completion in core.shutDown() { completion(.failure(HTTPClientError(.closed))) }
    }

    /// Sends one request and waits for its answer, for command-line tools.
    ///
    /// - Throws: `HTTPClientError` if there is none.
    public static func perform(_ request: HTTPClientRequest) throws(HTTPClientError) -> HTTPClientResponse {
        let client = HTTPClient(connectionsMax: 1)
        var result: Result<HTTPClientResponse, HTTPClientError>?
        client.send(request) { result = $0 }
        // The client ends the request itself; the loop's own limit is only a net.
        Poller(client).run(timeoutMilliseconds: request.timeoutMilliseconds + 5_000) { result != nil }
        return try (result ?? .failure(HTTPClientError(.timedOut))).get()
    }
}
