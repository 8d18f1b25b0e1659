internal import Glibc

/// An HTTP/2 server over TLS, without a thread and without blocking.
///
/// Its owner waits until `descriptor` is readable or `nextDeadlineMilliseconds` has come, calls
/// `process(nowMilliseconds:)`, takes `drainEvents()` and answers requests then or at any time later, or never.
/// Answers are written together by `flush()`, or at the next `process`. A client that does not offer `h2` is dropped,
/// as APNs does.
@safe public final class HTTP2Server {
    /// Limits of connections that come from now on.
    public var options: HTTP2ServerOptions
    /// How long the handshake of connections that come from now on is left alone, in milliseconds.
    public var handshakeDelayMilliseconds: Int64 = 0
    /// The port it listens on.
    public let port: Int
    /// How many connections were accepted so far.
    public internal(set) var acceptedConnections = 0

    let tls: HTTP2ServerTLS
    let readiness = Readiness()
    let input = FrameInput()
    let inbox = ServerInbox()
    var listener: CInt
    var isListening = true
    var connections: [Int: ServerConnection] = [:]
    var queue: [ServerConnection] = []
    var unread: [ServerConnection] = []
    var earliestTimer = Int64.max
    var now: Int64 = 0

    static let acceptsEachTurn = 64
    static let acceptPauseMilliseconds: Int64 = 100

    /// Listens on a numeric address.
    ///
    /// - Parameters:
    ///   - address: A numeric address of this host.
    ///   - port: The port; 0 lets the system choose one.
    ///   - tls: Certificate and key.
    ///   - options: Limits.
    /// - Throws: `HTTP2Error` when the address cannot be listened on.
    public init(
        address: String = "127.0.0.1", port: Int = 0, tls: HTTP2ServerTLS,
        options: HTTP2ServerOptions = HTTP2ServerOptions()
    ) throws(HTTP2Error) {
        listener = try Sockets.listen(address: address, port: port)
        self.port = Sockets.port(of: listener)
        self.tls = tls
        self.options = options
        readiness.add(listener, id: 0)
    }

    deinit {
        if listener >= 0 { Glibc.close(listener) }
    }

    /// Becomes readable when there is something to do.
    public var descriptor: CInt { readiness.descriptor }

    /// When `process` must be called even if the descriptor is not readable; 0 means at once.
    public var nextDeadlineMilliseconds: Int64? {
        if !queue.isEmpty || !unread.isEmpty { return 0 }
        return earliestTimer == .max ? nil : earliestTimer
    }

    /// The ids of the connections that have shaken hands, oldest first.
    public var connectionIDs: [Int] {
        connections.values.filter { $0.phase == .open }.map(\.id).sorted()
    }

    /// How many streams of a connection are open.
    public func openStreams(connectionID: Int) -> Int { connections[connectionID]?.streams.openCount ?? 0 }

    /// Does all that can be done without waiting.
    public func process(nowMilliseconds: Int64) {
        now = nowMilliseconds
        if now >= earliestTimer { runTimers() }
        var again: [ServerConnection] = []
        swap(&again, &unread)
        for connection in again { advance(connection) }
        readiness.forEachReady { id in
            if id == 0 { acceptAll() } else if let connection = connections[Int(id)] { advance(connection) }
        }
        flush()
    }

    /// Writes the answers given since the last call.
    public func flush() {
        var queued: [ServerConnection] = []
        swap(&queued, &queue)
        for connection in queued {
            let before = connection.wantsWrite
            connection.isQueued = false
            connection.flush(at: now)
            settle(connection, wantedWrite: before)
        }
    }

    /// Takes the events since the last call.
    public func drainEvents() -> [HTTP2ServerEvent] {
        var taken: [HTTP2ServerEvent] = []
        swap(&taken, &inbox.events)
        return taken
    }

    /// Answers a request; without a body that is one HEADERS frame with END_STREAM.
    ///
    /// - Returns: False when the request is gone or was answered already.
    @discardableResult
    public func respond(
        connectionID: Int, streamID: Int, status: Int, headers: HTTP2Headers = HTTP2Headers(),
        body: [UInt8] = []
    ) -> Bool {
        withOpen(connectionID) {
            $0.respond(Int32(truncatingIfNeeded: streamID), status: status, headers: headers, body: body)
        }
    }

    /// Ends a stream with RST_STREAM.
    ///
    /// - Returns: False when the stream is gone.
    @discardableResult
    public func reset(connectionID: Int, streamID: Int, code: UInt32) -> Bool {
        withOpen(connectionID) { $0.reset(Int32(truncatingIfNeeded: streamID), code: code) }
    }

    /// Announces another SETTINGS_MAX_CONCURRENT_STREAMS; streams above it are refused from now on.
    @discardableResult
    public func setStreamLimit(connectionID: Int, _ limit: Int) -> Bool {
        withOpen(connectionID) {
            $0.announce(limit)
            return true
        }
    }

    /// Sends a GOAWAY; the connection closes when the streams up to the last id are answered.
    ///
    /// - Parameters:
    ///   - connectionID: The connection.
    ///   - lastStreamID: The last stream that is still processed; nil for the last one begun.
    ///   - code: The error code, 0 for none.
    ///   - debugData: What APNs fills with `{"reason":"…"}`.
    /// - Returns: False when the connection is gone.
    @discardableResult
    public func goAway(
        connectionID: Int, lastStreamID: Int? = nil, code: UInt32 = 0, debugData: [UInt8] = []
    ) -> Bool {
        withOpen(connectionID) {
            let last = lastStreamID.map { Int32(truncatingIfNeeded: $0) }
            $0.session?.goAway(lastStreamID: last, code: code, debugData: debugData)
            return true
        }
    }

    /// Writes what is queued, as far as that goes without waiting, and closes.
    public func closeConnection(_ connectionID: Int) {
        guard let connection = connections[connectionID] else { return }
        connection.flush(at: now)
        connection.close("closed here")
        settle(connection, wantedWrite: connection.wantsWrite)
    }

    /// Takes no more connections.
    public func stopListening() {
        guard listener >= 0 else { return }
        if isListening { readiness.remove(listener) }
        Glibc.close(listener)
        listener = -1
    }

    /// Stops listening and closes all connections.
    public func close() {
        stopListening()
        for id in connections.keys.sorted() { closeConnection(id) }
    }
}
