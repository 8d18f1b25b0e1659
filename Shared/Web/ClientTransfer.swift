internal import CCurl

/// One place for a request under way; libcurl's handle is used again for later ones.
@safe final class ClientTransfer {
    let easy: UnsafeMutableRawPointer
    private let message: UnsafeMutablePointer<CChar>
    private var headerList: UnsafeMutablePointer<curl_slist>?
    private let answerBytesMax: Int
    private var headers = HTTPHeaders()
    private var body: [UInt8] = []
    /// Where the body of the request comes from, if it is not held.
    private var source: HTTPClient.BodySource?
    /// Set while a request is under way.
    private(set) var completion: HTTPClient.Completion?

    /// - Returns: `nil` if memory is exhausted.
    init?(answerBytesMax: Int) {
        guard let easy = unsafe curl_easy_init() else { return nil }
        unsafe self.easy = unsafe easy
        self.answerBytesMax = answerBytesMax
        unsafe message = .allocate(capacity: Int(CURL_ERROR_SIZE))
        unsafe message.initialize(repeating: 0, count: Int(CURL_ERROR_SIZE))
    }

    deinit {
        unsafe curl_easy_cleanup(easy)
        unsafe curl_slist_free_all(headerList)
        unsafe message.deallocate()
    }

    /// Sets the handle up for a request.
    func prepare(
        _ request: HTTPClientRequest, body source: HTTPClient.BodySource?, timeoutMilliseconds: Int64,
        completion: @escaping HTTPClient.Completion
    ) {
        self.completion = completion
        self.source = source
        unsafe curl_easy_reset(easy)
        setUpHandle()
        set(CURLOPT_URL, request.url)
        // An empty one keeps those of the environment out.
        set(CURLOPT_PROXY, request.proxy ?? "")
        if request.offersHTTP2 { set(CURLOPT_HTTP_VERSION, CLong(CURL_HTTP_VERSION_2TLS)) }
        set(CURLOPT_TIMEOUT_MS, CLong(max(1, timeoutMilliseconds)))
        set(CURLOPT_CONNECTTIMEOUT_MS, CLong(max(1, timeoutMilliseconds)))
        if let path = request.unixSocketPath { set(CURLOPT_UNIX_SOCKET_PATH, path) }
        if let file = request.caFile { set(CURLOPT_CAINFO, file) }
        setMethod(request)
        setHeaders(request.headers)
    }

    /// Ends the request.
    ///
    /// - Returns: What its sender is to be told, and how.
    func finish(_ code: CURLcode) -> (HTTPClient.Completion?, Result<HTTPClientResponse, HTTPClientError>) {
        defer { forget() }
        guard code == CURLE_OK else {
            return (completion, .failure(failure(code)))
        }
        let status = unsafe Int(liveline_curl_status(easy))
        return (completion, .success(HTTPClientResponse(status: status, headers: headers, body: body)))
    }

    private func failure(_ code: CURLcode) -> HTTPClientError {
        let text = unsafe String(cString: message)
        // libcurl has no code of its own for a proxy that opens no tunnel.
        guard unsafe liveline_curl_connect_status(easy) >= 300 else {
            return HTTPClientError(code, message: text)
        }
        return HTTPClientError(.connectionFailed, code: Int(code.rawValue), message: text)
    }

    func forget() {
        completion = nil
        source = nil
        headers = HTTPHeaders()
        body = []
        unsafe message.pointee = 0
    }

    private func setUpHandle() {
        set(CURLOPT_NOSIGNAL, 1)
        set(CURLOPT_PROTOCOLS_STR, "http,https")
        set(CURLOPT_HTTP_VERSION, CLong(CURL_HTTP_VERSION_1_1))
        set(CURLOPT_SSLVERSION, CLong(CURL_SSLVERSION_TLSv1_2))
        let context = unsafe Unmanaged.passUnretained(self).toOpaque()
        unsafe liveline_curl_set_context(easy, CURLOPT_PRIVATE, context)
        unsafe liveline_curl_set_context(easy, CURLOPT_ERRORBUFFER, message)
        unsafe liveline_curl_set_context(easy, CURLOPT_WRITEDATA, context)
        unsafe liveline_curl_set_context(easy, CURLOPT_HEADERDATA, context)
        unsafe liveline_curl_set_sink(easy, CURLOPT_WRITEFUNCTION) { bytes, size, count, context in
            let piece = unsafe UnsafeRawBufferPointer(start: bytes, count: size * count)
            return unsafe ClientTransfer.from(context)?.takeBody(piece) ?? 0
        }
        unsafe liveline_curl_set_sink(easy, CURLOPT_HEADERFUNCTION) { bytes, size, count, context in
            let line = unsafe UnsafeRawBufferPointer(start: bytes, count: size * count)
            return unsafe ClientTransfer.from(context)?.takeHeader(line) ?? 0
        }
    }

    private func setMethod(_ request: HTTPClientRequest) {
        if request.method == "HEAD" {
            set(CURLOPT_NOBODY, 1)
            return
        }
        if source != nil {
            setSource(request)
            return
        }
        if request.method == "GET", request.body.isEmpty { return }
        if !request.body.isEmpty || ["POST", "PUT", "PATCH"].contains(request.method) {
            set(CURLOPT_POST, 1)
            unsafe request.body.withUnsafeBytes { bytes in
                _ = unsafe liveline_curl_set_body(easy, bytes.baseAddress, bytes.count)
            }
        }
        set(CURLOPT_CUSTOMREQUEST, request.method)
    }

    /// Without a length, so that the body goes in chunks.
    private func setSource(_ request: HTTPClientRequest) {
        set(CURLOPT_POST, 1)
        set(CURLOPT_CUSTOMREQUEST, request.method)
        unsafe liveline_curl_set_context(
            easy, CURLOPT_READDATA, Unmanaged.passUnretained(self).toOpaque())
        unsafe liveline_curl_set_sink(easy, CURLOPT_READFUNCTION) { bytes, size, count, context in
            guard let bytes = unsafe bytes, let transfer = unsafe ClientTransfer.from(context) else {
                return 0
            }
            return unsafe transfer.giveBody(UnsafeMutableRawBufferPointer(start: bytes, count: size * count))
        }
    }

    private func giveBody(_ room: UnsafeMutableRawBufferPointer) -> Int {
        guard let piece = source?(room.count) else { return Int(CURL_READFUNC_ABORT) }
        precondition(piece.count <= room.count, "a body source gave more than was asked for")
        unsafe room.copyBytes(from: piece)
        return piece.count
    }

    private func setHeaders(_ headers: HTTPHeaders) {
        unsafe curl_slist_free_all(headerList)
        unsafe headerList = nil
        for field in headers.fields {
            // An empty value is written with a semicolon; with a colon libcurl would leave the field out.
            append(field.value.isEmpty ? "\(field.name);" : "\(field.name): \(field.value)")
        }
        // Without these libcurl adds a form's content type, and waits for leave to send a large body.
        for name in ["Content-Type", "Expect"] where headers[name] == nil { append("\(name):") }
        unsafe liveline_curl_set_headers(easy, headerList)
    }

    private func append(_ line: String) {
        guard let list = unsafe curl_slist_append(headerList, line) else {
            preconditionFailure("curl_slist_append")
        }
        unsafe headerList = unsafe list
    }

    private func takeBody(_ piece: UnsafeRawBufferPointer) -> Int {
        guard body.count + piece.count <= answerBytesMax else { return 0 }
        unsafe body.append(contentsOf: piece)
        return piece.count
    }

    private func takeHeader(_ bytes: UnsafeRawBufferPointer) -> Int {
        if unsafe bytes.starts(with: "HTTP/".utf8) {
            // A final answer follows an interim one.
            headers = HTTPHeaders()
        } else if let colon = unsafe bytes.firstIndex(of: UInt8(ascii: ":")) {
            let name = unsafe String(decoding: bytes[..<colon], as: UTF8.self)
            let value = unsafe bytes[(colon + 1)...].trimmed
            headers.add(name, unsafe String(decoding: value, as: UTF8.self))
        }
        return bytes.count
    }

    private func set(_ option: CURLoption, _ value: String) {
        let code = unsafe liveline_curl_set_string(easy, option, value)
        precondition(code == CURLE_OK, "curl_easy_setopt")
    }

    private func set(_ option: CURLoption, _ value: CLong) {
        let code = unsafe liveline_curl_set_long(easy, option, value)
        precondition(code == CURLE_OK, "curl_easy_setopt")
    }

    private static func from(_ context: UnsafeMutableRawPointer?) -> ClientTransfer? {
        unsafe context.map { unsafe Unmanaged<ClientTransfer>.fromOpaque($0).takeUnretainedValue() }
    }
}

extension Slice<UnsafeRawBufferPointer> {
    /// Without the white space at both ends (RFC 9110, section 5.5, and the end of the line).
    fileprivate var trimmed: Slice<UnsafeRawBufferPointer> {
        let isSpace: (UInt8) -> Bool = { $0 == 0x20 || $0 == 0x09 || $0 == 0x0D || $0 == 0x0A }
        guard let first = unsafe firstIndex(where: { !isSpace($0) }),
            let last = unsafe lastIndex(where: { !isSpace($0) })
        else { return unsafe self[startIndex..<startIndex] }
        return unsafe self[first...last]
    }
}
