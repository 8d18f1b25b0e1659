import JSON
import Service
import Web

/// Requests as lines of standard input.
///
/// `{"type":"request","body":{"id":1,"method":"POST","path":"/json/1.3/setTags","headers":{…},"body":{…}}}`. The body of the
/// request is a JSON value, taken as the bytes that stand there, or a string that holds it. `{"type":"disk",
/// "body":{"freeBytes":n,"sizeBytes":n}}` says how much is free.
extension IngestEvent: LineReadable {
    static var lineTypes: [String] { ["request", "disk"] }

    init(lineType: String, body: JSONValue) throws {
        if lineType == "disk" {
            guard let free = body["freeBytes"]?.int64, let size = body["sizeBytes"]?.int64 else {
                throw LineError("freeBytes or sizeBytes is no integer")
            }
            self = .disk(freeBytes: free, sizeBytes: size)
            return
        }
        let headers: [HTTPField] =
            body["headers"]?.members?.map { HTTPField(name: $0.name, value: $0.value.string ?? "") } ?? []
        guard let path = body["path"]?.string,
            let request = HTTPRequest(
                method: body["method"]?.string ?? "POST", target: path, headers: HTTPHeaders(headers),
                body: IngestEvent.bytes(body["body"]))
        else { throw LineError("the request has no path, or one that is not well formed") }
        self = .request(HTTPCall(id: body["id"]?.int64 ?? 0, request))
    }

    private static func bytes(_ value: JSONValue?) -> [UInt8] {
        guard let value else { return [] }
        return value.string.map { Array($0.utf8) } ?? value.bytes
    }
}

/// Replies as lines of standard output.
extension IngestOutput: LineWritable {
    var lineType: String {
        switch self {
        case .reply: "reply"
        case .suspended: "suspended"
        case .imported: "imported"
        case .waiting: "waiting"
        }
    }

    func lineBody() -> [UInt8] {
        JSONWriter.object { line in
            switch self {
            case .reply(let reply):
                line.member("id", reply.id)
                line.member("status", reply.status)
                line.object("headers") { headers in
                    for header in reply.headers { headers.member(header.name, header.value) }
                }
                // Every body that ingest answers is JSON.
                line.member("body", JSONRaw(reply.body))
            case .suspended(let id, _): line.member("id", id)
            case .imported(let id, let outcome):
                line.member("id", id)
                if case .committed(let tally) = outcome { line.member("accepted", tally.accepted) }
            case .waiting(let held):
                line.member("commands", held.commands)
                line.member("registrations", held.registrations)
            }
        }
    }
}
