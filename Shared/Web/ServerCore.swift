internal import CMicrohttpd
internal import Glibc

/// The state behind an `HTTPServer`, which the callbacks of libmicrohttpd reach.
@safe final class ServerCore {
    /// How often libmicrohttpd may go on without new readiness before other members of the loop get their turn.
    private static let roundsMax = 16
    /// How many connections beyond the limit are accepted: those for which others are ended.
    private static let overflow = 64
    /// Which part of the connections is ended at once when there are too many.
    private static let roomPart = 64

    let limits: HTTPServerLimits
    let handler: HTTPServer.Handler
    let uploads: HTTPServer.UploadHandler?
    let isEncrypted: Bool

    private(set) var connections: [ServerConnection] = []
    private(set) var nowMilliseconds: Int64
    private(set) var isQuiesced = false
    /// What new connections show; none without TLS.
    private(set) var credentials: TLSCredentials?
    /// Nothing may wait for an answer any more: libmicrohttpd aborts the process if it is stopped with suspended
    /// connections.
    private(set) var isClosing = false
    /// The bytes of bodies that are still arriving.
    var arrivingBytes = 0
    /// The bytes of answers that are still being written.
    var answeringBytes = 0

    let work = WorkSignal()
    private var daemon: OpaquePointer?
    private var listener: ListeningSocket?
    private var watch: FirstByteWatch
    private var lingering = LingeringSockets()
    private var message: UnsafeMutablePointer<CChar>
    private var sweepMilliseconds: Int64 = 0
    private var isInside = false
    private var mustClose = false
    /// The connections that were shut down and that libmicrohttpd has not ended yet.
    private var cutCount = 0
    private var hasPendingWork = false

    init(
        _ address: HTTPAddress, limits: HTTPServerLimits, identity: TLSIdentity?,
        uploads: HTTPServer.UploadHandler? = nil, handler: @escaping HTTPServer.Handler
    ) throws(HTTPServerError) {
        self.limits = limits
        self.handler = handler
        self.uploads = uploads
        isEncrypted = identity != nil
        if let identity { credentials = try TLSCredentials(identity) }
        nowMilliseconds = MonotonicClock.nowMilliseconds()
        watch = try FirstByteWatch()
        let socket = try ListeningSocket(address)
        // libmicrohttpd closes what it is given when it fails, so that it gets a copy.
        let listenerDescriptor = fcntl(socket.descriptor, F_DUPFD_CLOEXEC, 0)
        listener = consume socket
        unsafe message = .allocate(capacity: Int(LIVELINE_MHD_MESSAGE_BYTES))
        unsafe message.initialize(repeating: 0, count: Int(LIVELINE_MHD_MESSAGE_BYTES))
        unsafe daemon = unsafe start(listener: listenerDescriptor, identity: identity)
        guard unsafe daemon != nil else {
            let said = unsafe String(cString: message).trimmedEnd
            throw HTTPServerError(reason: .library, call: "MHD_start_daemon", code: 0, context: said)
        }
    }

    deinit { unsafe message.deallocate() }

    var port: UInt16? { listener?.port }

    var descriptor: CInt {
        guard let daemon = unsafe daemon else { return -1 }
        return unsafe liveline_mhd_epoll_descriptor(daemon)
    }

    var nextDeadlineMilliseconds: Int64? {
        guard unsafe daemon != nil else { return nil }
        if hasPendingWork || work.isSet { return 0 }
        let sweep = connections.isEmpty ? nil : sweepMilliseconds
        return [sweep, lingering.nextDeadlineMilliseconds].compactMap { $0 }.min()
    }

    func process(nowMilliseconds: Int64) {
        guard let daemon = unsafe daemon, !isInside else { return }
        self.nowMilliseconds = nowMilliseconds
        isInside = true
        watch.collect(nowMilliseconds: nowMilliseconds)
        unsafe run(daemon)
        sweep()
        lingering.process(nowMilliseconds: nowMilliseconds)
        isInside = false
        if mustClose { close() }
    }

    func replaceIdentity(_ identity: TLSIdentity) throws(HTTPServerError) {
        guard isEncrypted else { return }
        credentials = try TLSCredentials(identity)
    }

    func quiesce() {
        guard let daemon = unsafe daemon, !isQuiesced else { return }
        isQuiesced = true
        _ = Glibc.close(unsafe MHD_quiesce_daemon(daemon))
        listener = nil
    }

    func close() {
        guard !isInside else {
            mustClose = true
            return
        }
        quiesce()
        guard let daemon = unsafe daemon else { return }
        isInside = true
        isClosing = true
        for connection in connections where connection.phase == .handling || connection.isSuspended {
            connection.keep(.text(503, "stopping"), serial: connection.serial)
        }
        unsafe run(daemon)
        unsafe MHD_stop_daemon(daemon)
        unsafe self.daemon = nil
        isInside = false
    }

    func add(_ connection: ServerConnection) {
        if connections.isEmpty { sweepMilliseconds = nowMilliseconds + limits.sweepMilliseconds }
        connection.index = connections.count
        connections.append(connection)
        watch.watch(connection)
        if isCrowded { makeRoom() }
    }

    func remove(_ connection: ServerConnection) {
        watch.forget(connection)
        work.isSet = true
        if connection.phase == .cut { cutCount -= 1 }
        releaseAnswer(of: connection)
        if connection.lingers {
            lingering.add(
                connection.descriptor, nowMilliseconds: nowMilliseconds,
                forMilliseconds: limits.lingerMilliseconds)
        }
        connection.markClosed()
        let last = connections.removeLast()
        guard last !== connection else { return }
        last.index = connection.index
        connections[last.index] = last
    }

    private func run(_ daemon: OpaquePointer) {
        for _ in 0..<ServerCore.roundsMax {
            work.isSet = false
            _ = unsafe MHD_run(daemon)
            hasPendingWork = unsafe liveline_mhd_has_pending_work(daemon) != 0
            guard hasPendingWork || work.isSet else { return }
        }
    }

    private func sweep() {
        guard sweepMilliseconds <= nowMilliseconds else { return }
        sweepMilliseconds = nowMilliseconds + limits.sweepMilliseconds
        for connection in connections {
            let elapsedMilliseconds = nowMilliseconds - connection.sinceMilliseconds
            switch connection.phase {
            case .idle where elapsedMilliseconds >= limits.idleMilliseconds: cut(connection)
            case .idle where elapsedMilliseconds >= limits.sweepMilliseconds: watch.watch(connection)
            // The time in which nothing is read from it does not count against its client.
            case .receiving where connection.isSuspended: connection.enter(.receiving, at: nowMilliseconds)
            case .receiving where elapsedMilliseconds >= limits.requestMilliseconds:
                cut(connection, saying: connection.answer ?? .text(408, "the request took too long"))
            case .answering where elapsedMilliseconds >= limits.answerMilliseconds: cut(connection)
            default: break
            }
        }
        if isCrowded { makeRoom() }
    }

    /// More are open than are granted; those that were shut down count no more.
    private var isCrowded: Bool { connections.count - cutCount > limits.connectionsMax }

    /// Ends some of the connections that can best be spared, so that new ones find room.
    ///
    /// Looking at all of them is paid once for a whole share of the limit.
    private func makeRoom() {
        let spare = connections.filter { $0.canBeSpared(nowMilliseconds: nowMilliseconds) }
            .sorted {
                ($0.phase == .idle ? 0 : 1, $0.sinceMilliseconds) < (
                    $1.phase == .idle ? 0 : 1, $1.sinceMilliseconds
                )
            }
        for connection in spare.prefix(max(1, limits.connectionsMax / ServerCore.roomPart)) {
            cut(connection, saying: connection.phase == .receiving ? .text(503, "too many connections") : nil)
        }
    }

    private func cut(_ connection: ServerConnection, saying answer: HTTPAnswer? = nil) {
        connection.cut(saying: answer)
        cutCount += 1
        work.isSet = true
    }

    private func start(listener: CInt, identity: TLSIdentity?) -> OpaquePointer? {
        var settings = unsafe liveline_mhd_settings()
        unsafe settings.listener = listener
        unsafe settings.connections_max = CUnsignedInt(
            clamping: limits.connectionsMax + ServerCore.overflow)
        // Half of a connection's memory is its read buffer, the other half holds what was parsed.
        unsafe settings.connection_memory_bytes = max(4_096, limits.headerBytesMax * 2)
        unsafe settings.message = unsafe message
        unsafe settings.context = unsafe Unmanaged.passUnretained(self).toOpaque()
        unsafe ServerCallbacks.install(in: &settings)
        guard let identity else { return unsafe liveline_mhd_start(&settings) }
        return unsafe identity.certificatePEM.withCString { certificate in
            unsafe identity.keyPEM.withCString { key in
                unsafe TLSIdentity.priorities.withCString { priorities in
                    unsafe settings.certificate = unsafe certificate
                    unsafe settings.key = unsafe key
                    unsafe settings.priorities = unsafe priorities
                    return unsafe liveline_mhd_start(&settings)
                }
            }
        }
    }
}

extension String {
    fileprivate var trimmedEnd: String {
        String(self.reversed().drop { $0.isNewline || $0 == " " }.reversed())
    }
}
