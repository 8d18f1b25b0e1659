import Foundation
import Synchronization
import Testing
import Web

/// Calls, one after the other on a thread of its own, until it is told to stop.
///
/// What has no answer, or another than a message's code, was not accepted; it is not called again.
final class Load: Sendable {
    private struct State {
        var codes: [String] = []
        var calls = 0
        var isWanted = true
        var isOver = false
    }

    private let state = Mutex(State())

    /// Begins to call.
    init(_ requests: [HTTPClientRequest]) {
        Thread.detachNewThread { [self] in
            for request in requests where state.withLock({ $0.isWanted }) {
                let answer = try? HTTPClient.perform(request)
                let code = Fleet.code(answer.map { ($0.status, String(decoding: $0.body, as: UTF8.self)) })
                state.withLock { state in
                    state.calls += 1
                    if let code { state.codes.append(code) }
                }
                // A server that is not there refuses at once.
                Thread.sleep(forTimeInterval: code == nil ? 0.02 : 0.003)
            }
            state.withLock { $0.isOver = true }
        }
    }

    /// How many calls were accepted so far.
    var accepted: Int { state.withLock { $0.codes.count } }

    /// Stops calling and waits for the last answer.
    ///
    /// - Returns: the codes of the messages that were accepted, and how many calls were made.
    func stop() throws -> (codes: [String], calls: Int) {
        state.withLock { $0.isWanted = false }
        let deadline = Date(timeIntervalSinceNow: 60)
        while !state.withLock({ $0.isOver }) {
            try #require(Date() < deadline, "the last call has no end")
            Thread.sleep(forTimeInterval: 0.01)
        }
        return state.withLock { ($0.codes, $0.calls) }
    }
}
