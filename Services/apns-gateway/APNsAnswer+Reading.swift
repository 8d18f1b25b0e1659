import HTTP2
import JSON

extension APNsAnswer {
    private static let reasonBytesMax = 64

    /// Reads an answer of APNs; a body that is not the documented JSON leaves the status alone to go by.
    init(_ response: HTTP2Response) {
        self.init(status: response.status, body: response.body)
        retryAfterSeconds = response.headers["retry-after"].flatMap { Int64($0) }
        channelID = response.headers["apns-channel-id"]
        if (200..<300).contains(response.status) { content = response.body }
    }

    /// Reads a status and a body; a GOAWAY carries the same body.
    init(status: Int, body: [UInt8]) {
        self.status = status
        guard !(200..<300).contains(status), !body.isEmpty, let root = try? JSONDocument(body).root else {
            return
        }
        reason = root["reason"]?.string.flatMap(Self.reason)
        // Milliseconds since 1970 (Apple, Handling notification responses from APNs).
        timestampMilliseconds = root["timestamp"]?.int64
    }

    /// A word as it stands in Apple's table; what a stranger in between may have said is not carried on.
    static func reason(_ text: String) -> String? {
        guard (1...reasonBytesMax).contains(text.utf8.count),
            text.allSatisfy({ $0.isASCII && ($0.isLetter || $0.isNumber || $0 == " ") })
        else { return nil }
        // Seen with a blank; Apple's page has none.
        let word = text.filter { $0 != " " }
        return Ruling.reasons.index(forKey: word).map { Ruling.reasons[$0].key } ?? word
    }
}

extension APNsAnswer {
    /// Whether APNs took the provider token before it said this.
    var showsValidToken: Bool {
        status != 403 && status < 500 && reason != "TooManyProviderTokenUpdates"
    }
}
