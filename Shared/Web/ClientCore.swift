import Collections
internal import CCurl
internal import Glibc

/// The state behind an `HTTPClient`, which the callbacks of libcurl reach.
@safe final class ClientCore {
    private struct Waiting {
        let request: HTTPClientRequest
        let body: HTTPClient.BodySource?
        let endMilliseconds: Int64
        let completion: HTTPClient.Completion
    }

    /// How often requests that wait for a connection are looked at for being too late, ms.
    private static let checkMilliseconds: Int64 = 50
    /// How often one `process` goes on with what completions have sent, before others of the loop get their turn.
    private static let roundsMax = 8

    private let connectionsMax: Int
    private let answerBytesMax: Int
    private let events: EventSet
    private var multi: UnsafeMutableRawPointer?
    private var transfers: [ClientTransfer] = []
    private var idle: [ClientTransfer] = []
    private var waiting = FIFO<Waiting>()
    private var refused: [(HTTPClient.Completion, HTTPClientError)] = []
    private var timerMilliseconds: Int64?
    private var checkMilliseconds: Int64 = 0
    private var isInside = false

    init(connectionsMax: Int, answerBytesMax: Int) {
        CurlLibrary.start()
        guard let events = EventSet(), let multi = unsafe curl_multi_init() else {
            preconditionFailure("no descriptor or memory left for an HTTP client")
        }
        self.connectionsMax = connectionsMax
        self.answerBytesMax = answerBytesMax
        self.events = events
        unsafe self.multi = unsafe multi
        unsafe liveline_curl_multi_set_long(multi, CURLMOPT_MAXCONNECTS, CLong(connectionsMax))
        let context = unsafe Unmanaged.passUnretained(self).toOpaque()
        unsafe liveline_curl_multi_set_callbacks(
            multi,
            { _, descriptor, what, context, _ in
                unsafe ClientCore.from(context)?.watch(descriptor, what)
                return 0
            },
            { _, milliseconds, context in
                unsafe ClientCore.from(context)?.setTimer(milliseconds)
                return 0
            }, context)
    }

    var pendingCount: Int { transfers.count - idle.count + waiting.count + refused.count }

    var descriptor: CInt { unsafe multi == nil ? -1 : events.descriptor }

    var nextDeadlineMilliseconds: Int64? {
        guard unsafe multi != nil else { return nil }
        if !refused.isEmpty || canStart { return 0 }
        let check = waiting.isEmpty ? nil : checkMilliseconds
        return [timerMilliseconds, check].compactMap { $0 }.min()
    }

    func send(
        _ request: HTTPClientRequest, body: HTTPClient.BodySource? = nil,
        completion: @escaping HTTPClient.Completion
    ) {
        if let error = refusal(of: request) {
            refused.append((completion, error))
            return
        }
        let endMilliseconds = MonotonicClock.nowMilliseconds() + request.timeoutMilliseconds
        waiting.append(
            Waiting(
                request: request, body: body, endMilliseconds: endMilliseconds, completion: completion))
    }

    func process(nowMilliseconds: Int64) {
        guard !isInside else { return }
        isInside = true
        defer { isInside = false }
        for _ in 0..<ClientCore.roundsMax {
            refuse()
            actOnEvents()
            start()
            actOnTimer(nowMilliseconds: nowMilliseconds)
            finish()
            guard canStart || !refused.isEmpty else { break }
        }
        expireWaiting(nowMilliseconds: nowMilliseconds)
    }

    /// Ends everything.
    ///
    /// - Returns: The completions of what has no answer.
    @discardableResult
    func shutDown() -> [HTTPClient.Completion] {
        guard let multi = unsafe multi else { return [] }
        unsafe self.multi = nil
        let underWay = transfers.filter { $0.completion != nil }
        let completions =
            refused.map(\.0) + underWay.compactMap(\.completion)
            + waiting.removeAll { _ in true }.map(\.completion)
        for transfer in underWay {
            unsafe curl_multi_remove_handle(multi, transfer.easy)
            transfer.forget()
        }
        unsafe curl_multi_cleanup(multi)
        (refused, transfers, idle) = ([], [], [])
        return completions
    }

    private var canStart: Bool {
        !waiting.isEmpty && (!idle.isEmpty || transfers.count < connectionsMax)
    }

    private func refusal(of request: HTTPClientRequest) -> HTTPClientError? {
        guard unsafe multi != nil else { return HTTPClientError(.closed) }
        let isURLPlain = request.url.utf8.allSatisfy { $0 > 0x20 && $0 != 0x7F }
        let isMethodToken = !request.method.isEmpty && request.method.utf8.allSatisfy(HTTPHeaders.isTokenByte)
        guard isURLPlain, isMethodToken, request.headers.areWritable else {
            return HTTPClientError(
                .invalidRequest, message: "a URL, method or header field with forbidden bytes")
        }
        return nil
    }

    private func refuse() {
        let now = refused
        refused = []
        for (completion, error) in now { completion(.failure(error)) }
    }

    private func actOnEvents() {
        for (number, ready) in events.ready() {
            guard let multi = unsafe multi else { return }
            var mask: CInt = 0
            if ready.contains(.read) { mask |= CURL_CSELECT_IN }
            if ready.contains(.write) { mask |= CURL_CSELECT_OUT }
            if !ready.isDisjoint(with: .failure) { mask |= CURL_CSELECT_ERR }
            var running: CInt = 0
            _ = unsafe curl_multi_socket_action(multi, curl_socket_t(number), mask, &running)
        }
    }

    private func actOnTimer(nowMilliseconds: Int64) {
        // What has just been started asks for a turn at once, which counts from the clock's own now.
        let now = max(nowMilliseconds, MonotonicClock.nowMilliseconds())
        guard let multi = unsafe multi, let due = timerMilliseconds, due <= now else { return }
        timerMilliseconds = nil
        var running: CInt = 0
        _ = unsafe curl_multi_socket_action(multi, -1, 0, &running)
    }

    private func finish() {
        var code = CURLE_OK
        while let multi = unsafe multi, let easy = unsafe liveline_curl_next_finished(multi, &code) {
            guard let pointer = unsafe liveline_curl_private(easy) else { continue }
            let transfer = unsafe Unmanaged<ClientTransfer>.fromOpaque(pointer).takeUnretainedValue()
            unsafe curl_multi_remove_handle(multi, easy)
            let (completion, result) = transfer.finish(code)
            idle.append(transfer)
            completion?(result)
        }
    }

    private func start() {
        let now = MonotonicClock.nowMilliseconds()
        while canStart, let multi = unsafe multi, let next = waiting.popFirst() {
            guard let transfer = idle.popLast() ?? makeTransfer() else {
                refused.append((next.completion, HTTPClientError(.other, message: "no memory left")))
                return
            }
            transfer.prepare(
                next.request, body: next.body, timeoutMilliseconds: next.endMilliseconds - now,
                completion: next.completion)
            unsafe curl_multi_add_handle(multi, transfer.easy)
        }
    }

    private func makeTransfer() -> ClientTransfer? {
        guard let transfer = ClientTransfer(answerBytesMax: answerBytesMax) else { return nil }
        transfers.append(transfer)
        return transfer
    }

    private func expireWaiting(nowMilliseconds: Int64) {
        guard !waiting.isEmpty, checkMilliseconds <= nowMilliseconds else { return }
        checkMilliseconds = nowMilliseconds + ClientCore.checkMilliseconds
        for late in waiting.removeAll(where: { $0.endMilliseconds <= nowMilliseconds }) {
            late.completion(.failure(HTTPClientError(.timedOut, message: "no connection was free in time")))
        }
    }

    private func watch(_ descriptor: CInt, _ what: CInt) {
        switch what {
        case CURL_POLL_IN: _ = events.put(descriptor, .read, number: Int(descriptor))
        case CURL_POLL_OUT: _ = events.put(descriptor, .write, number: Int(descriptor))
        case CURL_POLL_INOUT: _ = events.put(descriptor, [.read, .write], number: Int(descriptor))
        default: events.remove(descriptor)
        }
    }

    private func setTimer(_ milliseconds: CLong) {
        timerMilliseconds = milliseconds < 0 ? nil : MonotonicClock.nowMilliseconds() + Int64(milliseconds)
    }

    private static func from(_ context: UnsafeMutableRawPointer?) -> ClientCore? {
        unsafe context.map { unsafe Unmanaged<ClientCore>.fromOpaque($0).takeUnretainedValue() }
    }
}
