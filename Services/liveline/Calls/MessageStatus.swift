import Contracts
import JSON
import Service
import Web

/// How a message stands, as `GET /v1/messages/{code}` tells.
struct MessageStatus: Sendable, Equatable {
    /// `accepted`, `taken`, `settled`, or `lost` where the ledger that had it is gone.
    var state: String
    /// How many deliveries ended in each way.
    var counts: OutcomeCounts

    /// Whether every delivery has an outcome.
    var isSettled: Bool { state == "settled" }
    /// Whether nothing will become of it any more.
    var isLost: Bool { state == "lost" }

    /// Reads an answer's body; nil if it is none.
    init?(_ body: [UInt8]) {
        guard let root = (try? JSONDocument(body))?.root, let state = root["state"]?.string else {
            return nil
        }
        self.state = state
        counts = OutcomeCounts()
        for outcome in Outcome.allCases {
            counts[outcome] = root["outcomes"]?[outcome.rawValue]?.int64.map { Int($0) } ?? 0
        }
    }

    /// Asks once.
    ///
    /// - Throws: `CommandFailure` if the door does not tell.
    static func fetch(_ code: String, from door: Door) throws(CommandFailure) -> MessageStatus {
        let answer: HTTPClientResponse
        do throws(HTTPClientError) {
            answer = try HTTPClient.perform(door.statusRequest(code))
        } catch {
            throw CommandFailure(.unavailable, "\(door.url): \(error)")
        }
        guard answer.status == 200, let status = MessageStatus(answer.body) else {
            let text = (try? JSONDocument(answer.body))?.root["error"]?.string
            throw CommandFailure(.data, "\(code): \(text ?? "HTTP \(answer.status)")")
        }
        return status
    }

    /// One line for people, such as `settled: delivered 3, superseded 1`.
    var text: String {
        let parts = Outcome.allCases.filter { counts[$0] > 0 }.map { "\($0.rawValue) \(counts[$0])" }
        return parts.isEmpty ? state : "\(state): \(parts.joined(separator: ", "))"
    }
}
