/// A complete HTTP request, as the adapter hands it to the core.
struct HTTPCall: Sendable, Equatable {
    /// The adapter's number; the reply carries the same.
    var id: Int64
    /// Such as `POST`.
    var method: String
    /// The parts of the path between its slashes, percent-decoded.
    var path: [String]
    /// The items of the query, in their order.
    var query: [Field] = []
    /// The header fields, in their order.
    var headers: [Field] = []
    /// The body.
    var body: [UInt8] = []
    /// The codes of the applications that the access token in it was issued for; the core looks that up.
    var signedInto: [String] = []

    /// A name and its value.
    struct Field: Sendable, Equatable {
        var name: String
        var value: String
    }

    /// The value of the first header field of a name, given in lower case, whatever the case that it was sent in.
    func header(_ name: String) -> String? {
        headers.first { HTTPCall.isSame($0.name.utf8, name.utf8) }?.value
    }

    private static func isSame(_ sent: String.UTF8View, _ name: String.UTF8View) -> Bool {
        sent.count == name.count
            && zip(sent, name).allSatisfy {
                (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0) ? $0 | 0x20 == $1 : $0 == $1
            }
    }
}

/// The answer to a request.
struct HTTPReply: Sendable, Equatable {
    /// The number of the request.
    var id: Int64
    /// The HTTP status.
    var status: Int
    /// The header fields beside those that the server adds.
    var headers: [HTTPCall.Field]
    /// The body.
    var body: [UInt8]

    /// A reply of JSON.
    init(_ call: HTTPCall, _ status: Int, json body: [UInt8], headers: [HTTPCall.Field] = []) {
        id = call.id
        self.status = status
        self.headers =
            [HTTPCall.Field(name: "Content-Type", value: "application/json; charset=utf-8")] + headers
        self.body = body
    }
}

/// What the adapter hands to the core.
enum IngestEvent: Sendable {
    /// A request has arrived completely.
    case request(HTTPCall)
    /// A part of a bulk import has arrived.
    case importing(ImportPiece)
    /// So much is free where the journal is, of so much in all.
    case disk(freeBytes: Int64, sizeBytes: Int64)
}

/// What the adapter is asked to do.
enum IngestOutput: Sendable, Equatable {
    /// Answer a request.
    case reply(HTTPReply)
    /// Let a request wait: its answer comes from another service.
    case suspended(id: Int64, path: [String])
    /// Go on with a bulk import, or end it.
    case imported(id: Int64, ImportOutcome)
    /// Show how much is accepted and not taken yet.
    case waiting(Backlog.Held)
}

/// The ways in.
enum Door: String, Sendable {
    case pushwoosh = "pushwoosh"
    case firebase = "firebase"
    case own = "own"
    case signIn = "sign-in"
}
