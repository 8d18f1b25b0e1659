/// One thing that happened on a client connection.
public enum HTTP2Event: Sendable, Equatable {
    /// TLS is up and `h2` agreed on; requests may be submitted.
    case ready
    /// The peer's SETTINGS arrived or changed how many streams may be open; already cut to our own cap.
    case remoteStreamLimit(Int)
    /// A request was answered.
    case response(HTTP2Response)
    /// A request ended without an answer.
    case streamFailed(token: Int, reason: HTTP2StreamFailure)
    /// The peer answered our PING, so many milliseconds after it was asked for.
    case pong(roundTripMilliseconds: Int64)
    /// The peer takes no new streams; those up to the last id may still be answered.
    case goAway(lastStreamID: Int, errorCode: UInt32, debugData: [UInt8])
    /// The connection is gone; the last event there is.
    case closed(HTTP2CloseReason)
}

/// The answer to one request.
public struct HTTP2Response: Sendable, Equatable {
    /// The number given to `submit`.
    public var token: Int
    /// The final status, from 200 to 599.
    public var status: Int
    /// The fields asked for in `HTTP2ConnectionOptions.responseHeaders`, as they came.
    public var headers: HTTP2Headers
    /// The body, cut at `maxResponseBodyBytes`.
    public var body: [UInt8]

    /// Describes an answer.
    public init(token: Int, status: Int, headers: HTTP2Headers = HTTP2Headers(), body: [UInt8] = []) {
        self.token = token
        self.status = status
        self.headers = headers
        self.body = body
    }
}

/// Why a request has no answer.
public enum HTTP2StreamFailure: Sendable, Equatable {
    /// RST_STREAM with REFUSED_STREAM: not processed (RFC 9113, 8.7).
    case refused
    /// Its id is above the last one of a GOAWAY, or it was not yet written when that came: not processed.
    case goAwayAboveLast
    /// RST_STREAM with another code, or an answer that breaks the protocol.
    case reset(UInt32)
    /// Its deadline passed; `sent` says whether its last byte had been given to TLS.
    case deadline(sent: Bool)
    /// The connection ended first; `sent` says whether its last byte had been given to TLS.
    case connectionLost(sent: Bool)

    /// True when the peer cannot have acted on the request, so that sending it again makes no second one.
    ///
    /// A request counts as sent with its last byte: APNs can do nothing with a part of a payload.
    public var isSurelyUnprocessed: Bool {
        switch self {
        case .refused, .goAwayAboveLast: true
        case .reset: false
        case .deadline(let sent), .connectionLost(let sent): !sent
        }
    }
}

/// Why a connection is gone.
public enum HTTP2CloseReason: Sendable, Equatable {
    /// TCP could not connect; the system's text.
    case connectFailed(String)
    /// TCP, proxy and TLS together took longer than `connectTimeoutMilliseconds`.
    case connectDeadline
    /// The proxy refused the tunnel; its status, or 0 for no HTTP answer.
    case proxyRefused(status: Int)
    /// The handshake failed, by a certificate for example; OpenSSL's text or the system's.
    case tls(String)
    /// The peer does not speak HTTP/2.
    case notHTTP2
    /// A PING was not answered in time.
    case pingTimeout
    /// The peer closed, or the network broke; the system's text if there is one.
    case lost(String)
    /// The peer's GOAWAY has been followed to its end.
    case goAway
    /// The peer broke the protocol, and was told so; the code of our GOAWAY.
    case protocolError(UInt32)
    /// `close()` or a finished `shutdown()`.
    case local
    /// All 2^30 stream ids of a connection are used.
    case streamIDsUsedUp
}

/// A call that failed, with what it failed on.
public struct HTTP2Error: Error, Sendable, Equatable, CustomStringConvertible {
    /// The call, as the library names it.
    public var call: String
    /// What the library or the system says.
    public var context: String

    /// `call: context`.
    public var description: String { "\(call): \(context)" }
}
