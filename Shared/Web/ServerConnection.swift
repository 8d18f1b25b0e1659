internal import CMicrohttpd
internal import Glibc

/// An answer that waits for its connection.
struct HTTPAnswer {
    var status: Int
    var headers: HTTPHeaders = [:]
    var body: [UInt8] = []

    static func text(_ status: Int, _ text: String) -> HTTPAnswer {
        HTTPAnswer(status: status, headers: ["Content-Type": "text/plain"], body: Array("\(text)\n".utf8))
    }
}

/// Tells a server that it has work of which its descriptor says nothing.
///
/// In external epoll mode libmicrohttpd wakes nobody when a connection is resumed, and accepts again after its limit was
/// reached only from the run that follows the one in which a connection ended.
final class WorkSignal {
    var isSet = false
}

/// One open connection and the request on it; libmicrohttpd has at most one at a time.
@safe final class ServerConnection {
    enum Phase {
        /// Between two requests.
        case idle
        /// The first byte of a request has come.
        case receiving
        /// A handler has the request.
        case handling
        /// The answer is being written.
        case answering
        /// Shut down; libmicrohttpd has yet to notice.
        case cut
    }

    let descriptor: CInt
    let isEncrypted: Bool
    private let handle: OpaquePointer
    private let work: WorkSignal
    /// What its TLS session was given, which must live as long; nil for what the server has begun with.
    private let credentials: TLSCredentials?

    private(set) var phase = Phase.idle
    /// When the phase began, monotonic ms.
    private(set) var sinceMilliseconds: Int64
    /// The place in the server's list.
    var index = 0
    /// What is still to come of a refused body must be read and dropped after the answer.
    var lingers = false

    private(set) var isOpen = true
    private(set) var isSuspended = false
    /// The body that is taken as it arrives, of the current request.
    var upload: HTTPUpload?
    /// What has arrived of it since the last piece of progress, bytes.
    var progressBytes = 0
    /// Counts the requests, so that an exchange that is late cannot answer another one.
    private(set) var serial = 0

    /// What is asked for; nil if it is not well formed.
    var target: HTTPTarget?
    /// The header fields, once all have come.
    var headers: HTTPHeaders?
    var body: [UInt8] = []
    private(set) var answer: HTTPAnswer?
    /// Whether the request can have changed nothing.
    var onlyReads = false
    /// The bytes of its answer that count as not written yet.
    var answeringBytes = 0

    init(
        handle: OpaquePointer, isEncrypted: Bool, credentials: TLSCredentials?, work: WorkSignal,
        nowMilliseconds: Int64
    ) {
        unsafe self.handle = unsafe handle
        self.credentials = credentials
        self.work = work
        self.isEncrypted = isEncrypted
        descriptor = unsafe liveline_mhd_connection_descriptor(handle)
        sinceMilliseconds = nowMilliseconds
        // A session that cannot take the new certificate shows the former one, which still has its key.
        _ = unsafe credentials?.show(on: handle)
    }

    func enter(_ phase: Phase, at nowMilliseconds: Int64) {
        guard self.phase != .cut else { return }
        self.phase = phase
        sinceMilliseconds = nowMilliseconds
    }

    /// How long a connection may do nothing before it can be spared, ms: a new one is about to ask.
    private static let restMilliseconds: Int64 = 100
    /// How long it may be at one request or answer, ms.
    private static let slowMilliseconds: Int64 = 1_000

    /// Whether it can be ended in favour of a new one: it does nothing, or what it does takes long.
    func canBeSpared(nowMilliseconds: Int64) -> Bool {
        let elapsedMilliseconds = nowMilliseconds - sinceMilliseconds
        return switch phase {
        case .idle: elapsedMilliseconds >= ServerConnection.restMilliseconds
        case .receiving, .answering: elapsedMilliseconds >= ServerConnection.slowMilliseconds
        case .handling, .cut: false
        }
    }

    /// Keeps the answer of the current request and lets libmicrohttpd fetch it.
    func keep(_ answer: HTTPAnswer, serial: Int) {
        guard isOpen, serial == self.serial, self.answer == nil else { return }
        self.answer = answer
        resume()
    }

    /// Has the body of an upload read again.
    func goOnReading(serial: Int) {
        guard isOpen, serial == self.serial, answer == nil, phase == .receiving else { return }
        resume()
    }

    private func resume() {
        guard isSuspended else { return }
        isSuspended = false
        work.isSet = true
        unsafe MHD_resume_connection(handle)
    }

    /// Takes the connection out of libmicrohttpd's loop until there is an answer.
    func suspend() {
        isSuspended = true
        unsafe MHD_suspend_connection(handle)
    }

    /// Forgets the request that ended.
    func finishRequest(at nowMilliseconds: Int64) {
        serial += 1
        target = nil
        headers = nil
        body = []
        answer = nil
        onlyReads = false
        endUpload()
        enter(.idle, at: nowMilliseconds)
    }

    func markClosed() {
        isOpen = false
        body = []
        answer = nil
        endUpload()
    }

    private func endUpload() {
        upload?.end(.cut)
        upload = nil
        progressBytes = 0
    }

    /// Ends the connection; what has been asked for and not answered gets a last word where that is possible.
    func cut(saying answer: HTTPAnswer? = nil) {
        if let answer { sendRaw(answer) }
        phase = .cut
        shutdown(descriptor, CInt(SHUT_RDWR))
    }

    /// Writes an answer past libmicrohttpd, which takes none while a body is arriving.
    ///
    /// - Returns: Whether it was written; never on an encrypted connection.
    @discardableResult
    func sendRaw(_ answer: HTTPAnswer) -> Bool {
        guard !isEncrypted else { return false }
        let reason = unsafe String(cString: MHD_get_reason_phrase_for(CUnsignedInt(answer.status)))
        let fields = answer.headers.fields.map { "\($0.name): \($0.value)\r\n" }.joined()
        let head =
            "HTTP/1.1 \(answer.status) \(reason)\r\nConnection: close\r\n\(fields)"
            + "Content-Length: \(answer.body.count)\r\n\r\n"
        let bytes = Array(head.utf8) + answer.body
        let flags = CInt(MSG_DONTWAIT | MSG_NOSIGNAL)
        return unsafe send(descriptor, bytes, bytes.count, flags) == bytes.count
    }
}
