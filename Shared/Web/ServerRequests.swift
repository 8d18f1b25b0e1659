/// What happens to one request on its way to the handler.
extension ServerCore {
    func beginRequest(_ target: String, on connection: ServerConnection) {
        connection.target = HTTPTarget(target)
        if connection.phase == .idle { connection.enter(.receiving, at: nowMilliseconds) }
    }

    /// Looks at the header fields before any of the body is read.
    ///
    /// - Returns: The answer that refuses the request, which ends the connection.
    func examine(_ method: String, _ headers: HTTPHeaders, isOld: Bool, on connection: ServerConnection)
        -> HTTPAnswer?
    {
        connection.onlyReads = method == "GET" || method == "HEAD"
        var refusal = refusal(of: headers, isOld: isOld, target: connection.target)
        if refusal == nil, !offerUpload(method, headers, on: connection) {
            refusal = refusalOfLength(headers)
        }
        connection.lingers = refusal != nil
        return refusal
    }

    /// Asks whether somebody takes the body as it arrives.
    private func offerUpload(_ method: String, _ headers: HTTPHeaders, on connection: ServerConnection)
        -> Bool
    {
        guard let uploads, let target = connection.target else { return false }
        let upload = HTTPUpload(
            HTTPRequest(method: method, target: target, headers: headers, body: []), connection)
        guard uploads(upload) else {
            upload.exchange.disown()
            return false
        }
        connection.upload = upload
        return true
    }

    /// What becomes of a piece of an upload.
    enum UploadStep {
        case taken
        case waits
        case refused
        case answered
    }

    /// Takes a piece of the body of an upload, or with an empty one its end.
    func receive(_ bytes: UnsafeRawBufferPointer, of upload: HTTPUpload, on connection: ServerConnection)
        -> UploadStep
    {
        if let answer = connection.answer {
            if unsafe bytes.isEmpty { return .answered }
            // Through TLS an answer can only follow the whole body, whose rest is dropped as it comes.
            guard !isEncrypted else { return .taken }
            connection.lingers = true
            connection.sendRaw(answer)
            return .refused
        }
        guard unsafe !bytes.isEmpty else {
            upload.end(.complete)
            if connection.phase == .receiving { connection.enter(.handling, at: nowMilliseconds) }
            return .waits
        }
        guard upload.heldBytes < limits.uploadBytesMax else { return .waits }
        unsafe upload.append(bytes)
        connection.progressBytes += bytes.count
        if connection.progressBytes >= limits.uploadProgressBytes {
            connection.progressBytes = 0
            connection.enter(.receiving, at: nowMilliseconds)
        }
        return .taken
    }

    /// Takes a piece of the body.
    ///
    /// - Returns: Whether the connection goes on.
    func receive(_ bytes: UnsafeRawBufferPointer, on connection: ServerConnection) -> Bool {
        guard connection.answer == nil else { return true }
        let refusal: HTTPAnswer
        if connection.body.count + bytes.count > limits.bodyBytesMax {
            refusal = tooLarge
        } else if arrivingBytes + bytes.count > limits.arrivingBytesMax {
            refusal = .text(503, "too much is arriving at once")
        } else {
            arrivingBytes += bytes.count
            unsafe connection.body.append(contentsOf: bytes)
            return true
        }
        releaseBody(of: connection)
        connection.lingers = true
        if connection.sendRaw(refusal) { return false }
        // Through TLS an answer can only follow the whole body, whose rest is dropped as it comes.
        connection.keep(refusal, serial: connection.serial)
        return true
    }

    /// Hands the complete request to the handler.
    func handle(_ method: String, _ headers: HTTPHeaders, on connection: ServerConnection) {
        guard connection.answer == nil, let target = connection.target else { return }
        let body = connection.body
        releaseBody(of: connection)
        connection.enter(.handling, at: nowMilliseconds)
        let request = HTTPRequest(method: method, target: target, headers: headers, body: body)
        handler(request, HTTPExchange(connection))
    }

    /// The answer that is to be written: the connection's, or that there are too many.
    func takeAnswer(of connection: ServerConnection) -> HTTPAnswer? {
        guard var answer = connection.answer else { return nil }
        if connection.onlyReads, answeringBytes + answer.body.count > limits.answeringBytesMax {
            answer = .text(503, "too many answers are being read")
        }
        connection.answeringBytes = answer.body.count
        answeringBytes += connection.answeringBytes
        return answer
    }

    func releaseAnswer(of connection: ServerConnection) {
        answeringBytes -= connection.answeringBytes
        connection.answeringBytes = 0
    }

    func finishRequest(on connection: ServerConnection) {
        releaseBody(of: connection)
        releaseAnswer(of: connection)
        connection.finishRequest(at: nowMilliseconds)
    }

    private var tooLarge: HTTPAnswer { .text(413, "the body exceeds \(limits.bodyBytesMax) bytes") }

    private func releaseBody(of connection: ServerConnection) {
        arrivingBytes -= connection.body.count
        connection.body = []
    }

    /// Framing that two readers could understand differently is refused (RFC 9112, section 6.3).
    private func refusal(of headers: HTTPHeaders, isOld: Bool, target: HTTPTarget?) -> HTTPAnswer? {
        guard target != nil else { return .text(400, "malformed target") }
        let hosts = headers.values("Host").count
        guard hosts == 1 || (isOld && hosts == 0) else { return .text(400, "not one Host field") }
        let lengths = headers.values("Content-Length")
        if let coding = headers["Transfer-Encoding"] {
            guard HTTPHeaders.isSame(coding, "chunked"), headers.values("Transfer-Encoding").count == 1 else {
                return .text(501, "unknown transfer coding")
            }
            return lengths.isEmpty ? nil : .text(400, "both a length and a transfer coding")
        }
        guard let length = lengths.first else { return nil }
        return lengths.allSatisfy { $0 == length } ? nil : .text(400, "contradictory lengths")
    }

    private func refusalOfLength(_ headers: HTTPHeaders) -> HTTPAnswer? {
        guard let length = headers["Content-Length"] else { return nil }
        return UInt64(length).map { $0 > UInt64(limits.bodyBytesMax) } ?? true ? tooLarge : nil
    }
}
