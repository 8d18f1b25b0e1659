import Service
import Web

/// One poll loop of a command that makes many calls, beside everything else that has to be polled.
final class CallLoop {
    /// Where calls are made.
    let client: HTTPClient
    private let others: [any Pollable]
    /// Why the loop is to end early; asked for in each turn.
    private let failure: () -> CommandFailure?

    init(
        connectionsMax: Int = 64, with others: [any Pollable] = [],
        failure: @escaping () -> CommandFailure? = { nil }
    ) {
        client = HTTPClient(connectionsMax: connectionsMax, answerBytesMax: 64 << 20)
        self.others = others
        self.failure = failure
    }

    /// Runs until the condition holds or the time is over.
    ///
    /// - Returns: whether the condition holds.
    /// - Throws: `CommandFailure` if the loop is to end early.
    @discardableResult
    func run(
        forMilliseconds time: Int64, with more: [any Pollable] = [], until condition: () -> Bool = { false }
    ) throws(CommandFailure) -> Bool {
        var reason: CommandFailure?
        let holds = Poller([client] + others + more).run(timeoutMilliseconds: time) {
            reason = failure()
            return reason != nil || condition()
        }
        if let reason { throw reason }
        return holds
    }

    /// Makes a call and runs the loop until it is answered.
    ///
    /// - Throws: `CommandFailure` if there is no answer.
    func call(
        _ request: HTTPClientRequest, body: HTTPClient.BodySource? = nil
    ) throws(CommandFailure) -> HTTPClientResponse {
        var result: Result<HTTPClientResponse, HTTPClientError>?
        if let body {
            client.send(request, body: body, completion: { result = $0 })
        } else {
            client.send(request) { result = $0 }
        }
        try run(forMilliseconds: request.timeoutMilliseconds + 5_000) { result != nil }
        switch result {
        case .success(let answer): return answer
        case .failure(let error): throw CommandFailure(.unavailable, "\(request.url): \(error)")
        case nil: throw CommandFailure(.unavailable, "\(request.url): no answer")
        }
    }

    /// Makes calls, a limited number at a time, and runs the loop until all are answered.
    ///
    /// - Parameters:
    ///   - count: how many.
    ///   - atOnce: how many are under way at a time.
    ///   - request: makes one, by its number.
    ///   - take: takes the answer of one.
    /// - Throws: `CommandFailure` if the loop is to end early, or what `take` throws.
    func calls(
        _ count: Int, atOnce: Int = 64, request: (Int) -> HTTPClientRequest,
        take: (Int, Result<HTTPClientResponse, HTTPClientError>) throws(CommandFailure) -> Void
    ) throws(CommandFailure) {
        var answers: [(Int, Result<HTTPClientResponse, HTTPClientError>)] = []
        var (sent, done) = (0, 0)
        while done < count {
            while sent < count, sent - done - answers.count < atOnce {
                let number = sent
                client.send(request(number)) { answers.append((number, $0)) }
                sent += 1
            }
            try run(forMilliseconds: 60_000) { !answers.isEmpty }
            let ready = answers
            answers = []
            done += ready.count
            for (number, result) in ready { try take(number, result) }
        }
    }
}
