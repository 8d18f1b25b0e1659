internal import CCurl

/// Why there is no answer.
public struct HTTPClientError: Error, Equatable, CustomStringConvertible {
    /// The kinds of causes.
    public enum Reason: String, Sendable, Equatable {
        /// The request cannot be sent as it is: its URL, method or header fields.
        case invalidRequest
        /// The name of the host, or of the proxy, has no address.
        case unresolved
        /// Nobody listens there, or the way there is closed, or the proxy opens none.
        case connectionFailed
        /// The time of the request is over.
        case timedOut
        /// The TLS handshake failed, or the certificate is not to be trusted.
        case tls
        /// The connection ended before the answer.
        case connectionLost
        /// The answer exceeds the client's limit.
        case tooLarge
        /// The answer is not HTTP.
        case malformedAnswer
        /// The client was closed before the answer.
        case closed
        /// Anything else that libcurl reports.
        case other
    }

    /// The kind of cause.
    public let reason: Reason
    /// libcurl's code, or 0.
    public let code: Int
    /// What libcurl says about it.
    public let message: String

    /// One line for a log.
    public var description: String { message.isEmpty ? reason.rawValue : "\(reason.rawValue): \(message)" }

    init(_ reason: Reason, code: Int = 0, message: String = "") {
        self.reason = reason
        self.code = code
        self.message = message
    }

    init(_ code: CURLcode, message: String) {
        let fallback = unsafe String(cString: curl_easy_strerror(code))
        self.init(
            HTTPClientError.reason(of: code), code: Int(code.rawValue),
            message: message.isEmpty ? fallback : message)
    }

    private static func reason(of code: CURLcode) -> Reason {
        switch code {
        case CURLE_URL_MALFORMAT, CURLE_UNSUPPORTED_PROTOCOL: .invalidRequest
        case CURLE_COULDNT_RESOLVE_HOST, CURLE_COULDNT_RESOLVE_PROXY: .unresolved
        case CURLE_COULDNT_CONNECT: .connectionFailed
        case CURLE_OPERATION_TIMEDOUT: .timedOut
        case CURLE_SSL_CONNECT_ERROR, CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_CACERT_BADFILE,
            CURLE_SSL_CERTPROBLEM:
            .tls
        case CURLE_GOT_NOTHING, CURLE_SEND_ERROR, CURLE_RECV_ERROR, CURLE_PARTIAL_FILE: .connectionLost
        case CURLE_WRITE_ERROR: .tooLarge
        case CURLE_WEIRD_SERVER_REPLY, CURLE_UNSUPPORTED_PROTOCOL, CURLE_HTTP2: .malformedAnswer
        default: .other
        }
    }
}
