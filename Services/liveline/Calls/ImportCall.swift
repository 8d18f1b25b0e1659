import JSON
import Service
import Web

/// A bulk import of devices, whose lines are sent as they are read.
enum ImportCall {
    /// How long one may take, ms.
    static let timeoutMilliseconds: Int64 = 86_400_000

    /// The request, without its lines.
    static func request(_ door: Door) -> HTTPClientRequest {
        HTTPClientRequest(
            method: "POST",
            url: "\(door.url)/v1/applications/\(URLText.segment(door.application))/devices:import",
            headers: ["Authorization": "Bearer \(door.auth)", "Content-Type": "application/x-ndjson"],
            timeoutMilliseconds: timeoutMilliseconds, caFile: door.caFile)
    }
}

/// What an import was answered.
struct ImportAnswer: Sendable, Equatable {
    /// The HTTP status.
    var status: Int
    /// Why it stopped; nil if it came to its end.
    var error: String?
    var accepted: Int
    var refused: Int
    /// The last line that was dealt with.
    var lines: Int
    /// What was wrong with the first lines that were refused.
    var faults: [String]

    /// Reads an answer.
    ///
    /// - Throws: `CommandFailure` if it is none.
    init(_ answer: HTTPClientResponse) throws(CommandFailure) {
        guard let root = (try? JSONDocument(answer.body))?.root else {
            let text = String(decoding: answer.body.prefix(200), as: UTF8.self)
            throw CommandFailure(.unavailable, "HTTP \(answer.status): \(text)")
        }
        status = answer.status
        error = root["error"]?.string
        func count(_ name: String) -> Int { root[name]?.int64.flatMap { Int(exactly: $0) } ?? 0 }
        (accepted, refused, lines) = (count("accepted"), count("refused"), count("lines"))
        faults = root["errors"]?.elements?.map(ImportAnswer.fault) ?? []
    }

    private static func fault(_ fault: JSONValue) -> String {
        let member = fault["member"]?.string ?? ""
        let place = member.isEmpty ? "" : "\(member): "
        return "line \(fault["line"]?.int64 ?? 0): \(place)\(fault["message"]?.string ?? "")"
    }

    /// How the command that sent it ends if it did not come to its end; nil if it did.
    var failure: CommandFailure? {
        guard status != 200 else { return nil }
        let reason = error ?? "HTTP \(status)"
        return CommandFailure(
            status == 503 ? .temporary : .data,
            status == 503 ? "\(reason); go on behind line \(lines), or send all of it again" : reason)
    }

    /// What people read.
    var text: String {
        let head = "accepted \(Numbers.grouped(accepted)), refused \(Numbers.grouped(refused))"
        let more = refused - faults.count
        return ([head] + faults + (more > 0 && !faults.isEmpty ? ["\(more) more lines"] : []))
            .joined(separator: "\n")
    }
}
