internal import CNghttp2
internal import Glibc

/// One HTTP/2 connection of a client: TCP, TLS and frames, without a thread and without blocking.
///
/// Its owner waits until `descriptor` is readable or `nextDeadlineMilliseconds` has come, calls
/// `process(nowMilliseconds:)` and takes `drainEvents()`. Requests are queued by `submit` and written together at
/// the next `process`. `.closed` is the last event; every request that is open then has its own event before it.
///
/// The host name is resolved by the owner (see `Resolver`). PRIORITY frames are not sent, as APNs ignores them
/// (Apple, Sending notification requests to APNs).
@safe public final class HTTP2Connection {
    enum Phase { case connecting, tunnelling, handshaking, open, closed }

    /// The host whose certificate is expected.
    public let host: String
    let options: HTTP2ConnectionOptions
    let wantedHeaders: [[UInt8]]
    let tls: HTTP2ClientTLS
    private let readiness = Readiness()
    private let input = FrameInput()
    let output = FrameOutput()
    var session: Session?
    var streams = ClientStreams()
    /// Requests whose last frame was gathered, in that order, until `takeWritten` has told of them.
    var complete: [CompleteRequest] = []
    var events: [HTTP2Event] = []
    var streamLimit: Int
    var hasSettings = false
    var goAwayReceived = false
    var ownErrorCode = ErrorCode.none
    var pingSentAt: Int64?
    var now: Int64
    var needsFlush = false
    var phase = Phase.closed
    var tcp: CInt = -1
    var socket: TLSSocket?
    var tunnel: ProxyTunnel?
    private let connectDeadline: Int64
    private var isEnding = false
    private var endReason = HTTP2CloseReason.goAway
    var wantsWrite = true
    private var watchesWrite = true
    private var hasMoreInput = false

    /// Begins to connect; whatever fails becomes a `.closed` event.
    ///
    /// - Parameters:
    ///   - host: The name for SNI and for the check of the certificate; an address is checked as one.
    ///   - port: The port at the host.
    ///   - address: Where to connect to, as a numeric address: the host's, or the proxy's when there is one.
    ///   - tls: Whom to trust.
    ///   - options: Limits and proxy.
    ///   - nowMilliseconds: The monotonic clock; the connect deadline is counted from it.
    public init(
        host: String, port: Int, address: String, tls: HTTP2ClientTLS,
        options: HTTP2ConnectionOptions = HTTP2ConnectionOptions(), nowMilliseconds: Int64
    ) {
        self.host = host
        self.tls = tls
        self.options = options
        wantedHeaders = options.responseHeaders.map { Array($0.utf8) }
        streamLimit = min(options.initialStreamLimit, options.streamCap)
        now = nowMilliseconds
        connectDeadline = nowMilliseconds + options.connectTimeoutMilliseconds
        do {
            tcp = try Sockets.connect(address: address, port: options.proxy?.port ?? port)
            readiness.add(tcp, id: 0, wantsWrite: true)
            phase = .connecting
        } catch {
            events.append(.closed(.connectFailed(error.context)))
        }
        if let proxy = options.proxy {
            tunnel = ProxyTunnel(host: host, port: port, authorization: proxy.authorization)
        }
    }

    deinit {
        if socket == nil && tcp >= 0 { Glibc.close(tcp) }
    }

    /// Becomes readable when there is something to do.
    public var descriptor: CInt { readiness.descriptor }

    /// True from `.ready` until the end, while new requests are taken.
    public var isOpen: Bool { phase == .open && !isEnding && session?.mayOpenStreams == true }

    /// True after the end.
    public var isClosed: Bool { phase == .closed }

    /// The number of requests that have no answer yet.
    public var openStreams: Int { streams.slots.openCount }

    /// How many requests `submit` would take now.
    public var availableStreams: Int { isOpen ? max(0, streamLimit - streams.slots.openCount) : 0 }

    /// Takes the requests whose last byte has gone to the kernel since the last call, by their tokens; none that has had its
    /// event.
    ///
    /// A request may wait long for that, also where nothing is left to write: the peer's window holds back its body
    /// (RFC 9113, 5.2).
    public func takeWritten() -> [Int] {
        let count = complete.prefix { $0.completeAt <= output.accepted }.count
        defer { complete.removeFirst(count) }
        return complete.prefix(count).compactMap(streams.token)
    }

    /// When `process` must be called even if the descriptor is not readable; 0 means at once.
    public var nextDeadlineMilliseconds: Int64? {
        guard phase != .closed else { return nil }
        guard phase == .open else { return connectDeadline }
        if hasMoreInput || (needsFlush && !wantsWrite) { return 0 }
        let ping = pingSentAt.map { $0 + options.pingTimeoutMilliseconds } ?? .max
        let next = min(ping, streams.earliestDeadline)
        return next == .max ? nil : next
    }

    /// Takes the events since the last call.
    public func drainEvents() -> [HTTP2Event] {
        var taken: [HTTP2Event] = []
        swap(&taken, &events)
        return taken
    }

    /// Queues one request.
    ///
    /// - Parameters:
    ///   - token: The caller's number for it; comes back in its event.
    ///   - headers: All fields with `:method`, `:scheme`, `:authority` and `:path`.
    ///   - body: The body; empty for none.
    ///   - deadlineMilliseconds: When it fails with `.deadline` if it has no answer.
    /// - Returns: False when no stream is available now; nothing has been queued then.
    public func submit(
        token: Int, headers: HTTP2Headers, body: [UInt8], deadlineMilliseconds: Int64
    ) -> Bool {
        guard availableStreams > 0, let session else { return false }
        // The id is known beforehand; nghttp2 uses it or fails.
        let id = Int32(bitPattern: session.nextStreamID)
        let slot = streams.take(
            ClientStream(id: id, token: token, deadline: deadlineMilliseconds, body: body))
        let result = session.submitRequest(
            headers, slot: slot, hasBody: !body.isEmpty)
        guard result == id else {
            _ = streams.slots.release(slot)
            return false
        }
        needsFlush = true
        return true
    }

    /// Sends a PING unless one is on its way; `.pong` or `.closed(.pingTimeout)` follows.
    public func ping(nowMilliseconds: Int64) {
        guard phase == .open, pingSentAt == nil, let session else { return }
        session.ping()
        pingSentAt = nowMilliseconds
        needsFlush = true
    }

    /// Takes no more requests, waits for the open ones and closes.
    public func shutdown() {
        guard phase == .open else { return close() }
        end(.local)
    }

    /// Closes at once; open requests become `.connectionLost`.
    public func close() {
        finish(.local)
    }

    /// Does all that can be done without waiting.
    public func process(nowMilliseconds: Int64) {
        now = nowMilliseconds
        if phase != .open && phase != .closed { establish() }
        if phase == .open { exchange() }
        if phase != .open && phase != .closed && now >= connectDeadline { finish(.connectDeadline) }
        updateInterest()
    }
}

extension HTTP2Connection {
    private func exchange() {
        if let end = readFrames() { return finish(end) }
        expireRequests()
        if let sent = pingSentAt, now >= sent + options.pingTimeoutMilliseconds {
            return finish(.pingTimeout)
        }
        guard let session, let socket else { return }
        if session.nextStreamID > UInt32(Int32.max) && !isEnding { end(.streamIDsUsedUp) }
        needsFlush = false
        let outcome = unsafe output.flush(session, into: socket) { frame, _ in unsafe noteSent(frame) }
        switch outcome {
        case .flushed: wantsWrite = false
        case .blocked: wantsWrite = true
        case .failed(let text):
            // What the peer said before it closed (GOAWAY, answers) still counts.
            return finish(readFrames() ?? (hasAgreedToEnd ? endReason : .lost(text)))
        }
        if session.isFinished && output.isEmpty { finish(endReason) }
    }

    /// Reads all there is; the reason when that was the end.
    private func readFrames() -> HTTP2CloseReason? {
        guard let session, let socket else { return nil }
        hasMoreInput = false
        switch input.read(from: socket, into: session) {
        case .drained: return nil
        case .more: hasMoreInput = true
        case .ended(let text): return hasAgreedToEnd ? endReason : .lost(text)
        case .broken: return .protocolError(ErrorCode.protocolError)
        }
        return nil
    }

    /// True when a side has said GOAWAY and all that was open then has its answer.
    private var hasAgreedToEnd: Bool { (goAwayReceived || isEnding) && openStreams == 0 }

    /// Tells the peer that nothing more comes; `reason` is reported when the open requests are done.
    private func end(_ reason: HTTP2CloseReason) {
        guard !isEnding else { return }
        isEnding = true
        endReason = reason
        session?.goAway(lastStreamID: 0, code: ErrorCode.none, debugData: [])
        needsFlush = true
    }

    private func expireRequests() {
        for slot in streams.expired(at: now) {
            let stream = streams.slots.release(slot)
            session?.reset(stream.id, code: ErrorCode.cancel)
            let sent = stream.completeAt <= output.accepted
            events.append(.streamFailed(token: stream.token, reason: .deadline(sent: sent)))
        }
    }

    private func updateInterest() {
        guard phase != .closed, wantsWrite != watchesWrite else { return }
        readiness.change(tcp, id: 0, wantsWrite: wantsWrite)
        watchesWrite = wantsWrite
    }

    func finish(_ reason: HTTP2CloseReason) {
        guard phase != .closed else { return }
        phase = .closed
        for slot in streams.slots.openSlots {
            let stream = streams.slots.release(slot)
            let sent = stream.completeAt <= output.accepted
            events.append(.streamFailed(token: stream.token, reason: .connectionLost(sent: sent)))
        }
        let isOwnVerdict = ownErrorCode != ErrorCode.none
        events.append(.closed(isOwnVerdict ? .protocolError(ownErrorCode) : reason))
        release()
    }

    private func release() {
        readiness.remove(tcp)
        session = nil
        if let socket { socket.endWriting() } else { Glibc.close(tcp) }
        socket = nil
        tcp = -1
    }
}
