import JSON
import Service
import Web

/// The HTTP door as a server of an application sees it.
struct Door: Sendable, Equatable {
    /// `http://HOST:PORT`, without a slash at its end.
    var url: String
    /// The application's code.
    var application: String
    /// The token that it calls with.
    var auth: String
    /// A PEM file of certificates to trust for `https:`.
    var caFile: String?

    /// How long a call may take, ms.
    static let timeoutMilliseconds: Int64 = 15_000

    /// A call of the Pushwoosh door.
    func request(_ call: LiveActivityCall, idempotencyKey: String? = nil) -> HTTPClientRequest {
        post(call.method, call.body(application: application, auth: auth), idempotencyKey)
    }

    /// A call of the Pushwoosh door with the given members beside `application` and `auth`.
    func request(_ method: String, _ members: (inout JSONWriter) -> Void) -> HTTPClientRequest {
        let body = JSONWriter.object { body in
            body.object("request") { request in
                request.member("application", application)
                request.member("auth", auth)
                members(&request)
            }
        }
        return post(method, body, nil)
    }

    private func post(_ method: String, _ body: [UInt8], _ idempotencyKey: String?) -> HTTPClientRequest {
        var headers: HTTPHeaders = ["Content-Type": "application/json"]
        if let idempotencyKey { headers.add("Idempotency-Key", idempotencyKey) }
        return HTTPClientRequest(
            method: "POST", url: "\(url)/json/1.3/\(method)", headers: headers, body: body,
            timeoutMilliseconds: Self.timeoutMilliseconds, caFile: caFile)
    }

    /// Makes a broadcast channel whose newest message APNs keeps.
    func channelRequest() -> HTTPClientRequest {
        HTTPClientRequest(
            method: "POST", url: "\(url)/v1/applications/\(URLText.segment(application))/channels",
            headers: ["Content-Type": "application/json", "Authorization": "Bearer \(auth)"],
            body: JSONWriter.object { $0.member("storagePolicy", 1) },
            timeoutMilliseconds: Self.timeoutMilliseconds, caFile: caFile)
    }

    /// Asks how a message stands.
    func statusRequest(_ code: String) -> HTTPClientRequest {
        HTTPClientRequest(
            url: "\(url)/v1/messages/\(URLText.segment(code))", headers: ["Authorization": "Bearer \(auth)"],
            timeoutMilliseconds: Self.timeoutMilliseconds, caFile: caFile)
    }
}

/// What the Pushwoosh door answered.
enum DoorAnswer: Sendable, Equatable {
    /// The codes of the accepted messages; empty for calls that make none.
    case accepted([String])
    /// It says why not; a repeat would be refused as well.
    case refused(String)
    /// It cannot now; the same call may be accepted later.
    case busy(String)
    /// Nobody took the call: there was no connection.
    case unreachable(String)
    /// Whether it was accepted is not known.
    case unknown(String)

    /// Reads what came of a call.
    init(_ result: Result<HTTPClientResponse, HTTPClientError>) {
        switch result {
        case .failure(let error):
            self = error.reason == .connectionFailed ? .unreachable("\(error)") : .unknown("\(error)")
        case .success(let answer):
            let root = (try? JSONDocument(answer.body))?.root
            let text = root?["status_message"]?.string ?? "HTTP \(answer.status)"
            if answer.status == 200, root?["status_code"]?.int64 == 200 {
                self = .accepted(root?["response"]?["Messages"]?.elements?.compactMap(\.string) ?? [])
            } else if answer.status == 503 || answer.status == 429 {
                self = .busy(text)
            } else {
                self = .refused(text)
            }
        }
    }

    /// The codes of the accepted messages.
    ///
    /// - Throws: `CommandFailure` with the reason if there are none.
    func get() throws(CommandFailure) -> [String] {
        switch self {
        case .accepted(let codes): return codes
        case .refused(let reason): throw CommandFailure(.data, "refused: \(reason)")
        case .busy(let reason), .unreachable(let reason): throw CommandFailure(.temporary, reason)
        case .unknown(let reason): throw CommandFailure(.unavailable, reason)
        }
    }
}

/// Texts inside URLs.
enum URLText {
    /// A text as one segment of a path, or as a value of a query (RFC 3986, section 2.3).
    static func segment(_ text: String) -> String {
        text.utf8.reduce(into: "") { result, byte in
            let scalar = Unicode.Scalar(byte)
            let isPlain =
                scalar.isASCII && (scalar.properties.isAlphabetic || scalar.properties.numericType != nil)
            if isPlain || "-._~".unicodeScalars.contains(scalar) {
                result.unicodeScalars.append(scalar)
            } else {
                let digits = String(byte, radix: 16, uppercase: true)
                result += digits.count == 1 ? "%0\(digits)" : "%\(digits)"
            }
        }
    }
}
