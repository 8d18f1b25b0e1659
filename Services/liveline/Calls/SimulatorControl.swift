import JSON
import Service
import Web

/// The control port of a simulator.
struct SimulatorControl: Sendable, Equatable {
    /// `http://HOST:PORT`, without a slash at its end.
    var url: String

    /// How long a call may take, ms.
    static let timeoutMilliseconds: Int64 = 60_000

    /// A call that asks.
    func get(_ path: String) -> HTTPClientRequest {
        HTTPClientRequest(url: "\(url)\(path)", timeoutMilliseconds: Self.timeoutMilliseconds)
    }

    /// A call that changes something.
    func post(_ path: String, _ members: (inout JSONWriter) -> Void = { _ in }) -> HTTPClientRequest {
        HTTPClientRequest(
            method: "POST", url: "\(url)\(path)", headers: ["Content-Type": "application/json"],
            body: JSONWriter.object(members), timeoutMilliseconds: Self.timeoutMilliseconds)
    }

    /// The path of one phone.
    static func phone(_ hardwareID: String) -> String { "/phones/\(URLText.segment(hardwareID))" }

    /// Makes a call and waits for its answer.
    ///
    /// - Throws: `CommandFailure` if nobody answers, or if the simulator refuses.
    func perform(_ request: HTTPClientRequest) throws(CommandFailure) -> JSONValue {
        let answer: HTTPClientResponse
        do throws(HTTPClientError) {
            answer = try HTTPClient.perform(request)
        } catch {
            throw CommandFailure(.unavailable, "\(url): \(error)")
        }
        return try Self.read(answer)
    }

    /// Reads an answer.
    ///
    /// - Throws: `CommandFailure` with what the simulator says against it.
    static func read(_ answer: HTTPClientResponse) throws(CommandFailure) -> JSONValue {
        guard let root = (try? JSONDocument(answer.body))?.root else {
            throw CommandFailure(.data, "the simulator's answer is no JSON")
        }
        guard (200..<300).contains(answer.status) else {
            throw CommandFailure(.data, root["error"]?.string ?? "HTTP \(answer.status)")
        }
        return root
    }
}
