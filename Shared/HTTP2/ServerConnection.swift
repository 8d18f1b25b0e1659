internal import CNghttp2
internal import Glibc

/// One request on its way in or its answer on its way out.
struct ServerStream: SlotStream {
    var id: Int32 = 0
    var headers = HTTP2Headers()
    var body: [UInt8] = []
    var bodyBytes = 0
    var isTooLong = false
    var isDelivered = false
    var isAnswered = false
    var answer: [UInt8] = []
    var answerOffset = 0
}

/// Where connections put what happens.
final class ServerInbox {
    var events: [HTTP2ServerEvent] = []
}

/// One client of a server.
@safe final class ServerConnection {
    enum Phase: Equatable {
        case delayed(until: Int64)
        case handshaking(until: Int64)
        case open
        /// All is said; what the client still sends is thrown away, so that the kernel's RST does not overtake our
        /// last frames.
        case lingering(until: Int64)
        case closed
    }

    let id: Int
    let options: HTTP2ServerOptions
    let inbox: ServerInbox
    let socket: TLSSocket
    let output = FrameOutput()
    var session: Session?
    var streams = Slots<ServerStream>()
    var streamLimit: Int
    var phase: Phase
    var isQueued = false
    private(set) var wantsWrite = false

    private static let lingerMilliseconds: Int64 = 1_000

    init(id: Int, socket: TLSSocket, options: HTTP2ServerOptions, inbox: ServerInbox, phase: Phase) {
        self.id = id
        self.socket = socket
        self.options = options
        self.inbox = inbox
        self.phase = phase
        streamLimit = options.streamLimit
    }

    /// When something must happen without input.
    var timer: Int64? {
        switch phase {
        case .delayed(let until), .handshaking(let until), .lingering(let until): until
        case .open, .closed: nil
        }
    }

    /// Goes on with whatever the socket is ready for; true when more input may be waiting.
    func advance(_ input: FrameInput) -> Bool {
        if case .handshaking = phase { shakeHands() }
        if case .lingering = phase, !input.discard(from: socket) { phase = .closed }
        guard phase == .open, let session else { return false }
        switch input.read(from: socket, into: session) {
        case .drained: return false
        case .more: return true
        case .ended(let text): close(text)
        case .broken: close("nghttp2 cannot go on")
        }
        return false
    }

    /// Writes what is queued, and closes when nothing more can come.
    func flush(at now: Int64) {
        guard phase == .open, let session else { return }
        switch unsafe output.flush(session, into: socket, inspect: { unsafe announceLimit($0, $1) }) {
        case .flushed: wantsWrite = false
        case .blocked: wantsWrite = true
        case .failed(let text): return close(text)
        }
        guard session.isFinished && output.isEmpty else { return }
        close("finished")
        socket.endWriting()
        phase = .lingering(until: now + Self.lingerMilliseconds)
    }

    /// Ends the connection; its requests go with it.
    func close(_ reason: String) {
        switch phase {
        case .delayed, .handshaking: inbox.events.append(.handshakeFailed(connectionID: id, reason: reason))
        case .open: inbox.events.append(.closed(connectionID: id, reason: reason))
        case .lingering, .closed: break
        }
        phase = .closed
    }

    func announce(_ limit: Int) {
        streamLimit = limit
        session?.settings([(NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, UInt32(Int32.max))])
    }

    func respond(_ stream: Int32, status: Int, headers: HTTP2Headers, body: [UInt8]) -> Bool {
        guard let session, let slot = slot(of: stream), streams[slot].isDelivered, !streams[slot].isAnswered
        else { return false }
        streams[slot].isAnswered = true
        streams[slot].answer = body
        return session.submitResponse(
            stream, status: status, headers, hasBody: !body.isEmpty)
    }

    func reset(_ stream: Int32, code: UInt32) -> Bool {
        guard let session, let slot = slot(of: stream) else { return false }
        streams[slot].isAnswered = true
        session.reset(stream, code: code)
        return true
    }

    func slot(of stream: Int32) -> Int? {
        guard let slot = session?.slot(of: stream), streams.holds(slot, stream) else { return nil }
        return slot
    }

    private func shakeHands() {
        switch socket.handshake() {
        case .done where socket.isHTTP2: open()
        case .done: close("the client does not offer h2")
        case .wantsRead: wantsWrite = false
        case .wantsWrite: wantsWrite = true
        case .closed: close("closed during the handshake")
        case .failed(let text): close(text)
        }
    }

    private func open() {
        guard let session = Session(.server, handler: self) else { return close("nghttp2 has no memory") }
        self.session = session
        phase = .open
        wantsWrite = false
        session.settings([
            (NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, UInt32(Int32.max)),
            (NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE, UInt32(clamping: options.maxHeaderListBytes)),
        ])
        if options.connectionWindowBytes > 65_535 {
            session.setConnectionWindow(options.connectionWindowBytes)
        }
        inbox.events.append(.opened(connectionID: id))
    }

    /// Puts the real stream limit into a SETTINGS frame on its way out.
    ///
    /// nghttp2 is told that there is none: it would end the whole connection over one stream too many, where only
    /// that stream is to be refused.
    private func announceLimit(_ frame: UnsafeMutablePointer<UInt8>, _ count: Int) {
        guard unsafe frame[3] == FrameType.settings, unsafe frame[4] & 1 == 0 else { return }
        for entry in stride(from: 9, to: count - 5, by: 6)
        where unsafe frame[entry] == 0 && frame[entry + 1] == 3 {
            for byte in 0..<4 {
                unsafe frame[entry + 2 + byte] = UInt8(truncatingIfNeeded: streamLimit >> (24 - 8 * byte))
            }
        }
    }
}
