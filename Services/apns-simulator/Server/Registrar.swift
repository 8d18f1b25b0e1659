import JSON
import Web

/// Makes the calls that the apps on the phones owe, a limited number at a time, and lets the fleet tidy up.
final class Registrar: Pollable {
    private static let sweepMilliseconds: Int64 = 1000
    private static let timeoutMilliseconds: Int64 = 10_000

    private let client: HTTPClient
    private let stage: Stage
    private let limit: Int
    private var underWay = 0
    private var sweepDue: Int64 = 0

    init(_ stage: Stage, connectionsMax: Int) {
        self.stage = stage
        limit = connectionsMax
        client = HTTPClient(connectionsMax: connectionsMax, answerBytesMax: 1 << 20)
    }

    var descriptor: CInt { client.descriptor }

    var nextDeadlineMilliseconds: Int64? {
        var due = [client.nextDeadlineMilliseconds]
        if !stage.simulator.fleet.activities.isEmpty { due.append(sweepDue) }
        if underWay < limit, let call = stage.simulator.fleet.registrations.nextDue {
            due.append(MonotonicClock.nowMilliseconds() + max(0, call - Stage.nowMilliseconds()))
        }
        return due.compactMap { $0 }.min()
    }

    func process(nowMilliseconds: Int64) {
        client.process(nowMilliseconds: nowMilliseconds)
        sendDue()
        if nowMilliseconds >= sweepDue {
            stage.simulator.fleet.sweep(nowMilliseconds: Stage.nowMilliseconds())
            sweepDue = nowMilliseconds + Self.sweepMilliseconds
        }
    }

    /// Ends all calls.
    func close() { client.close() }

    private func sendDue() {
        while underWay < limit {
            let now = Stage.nowMilliseconds()
            guard let call = stage.simulator.fleet.nextRegistration(nowMilliseconds: now) else { return }
            underWay += 1
            client.send(Self.request(call)) { [weak self] in self?.finish(call, RegistrationOutcome($0)) }
        }
    }

    private func finish(_ call: Registration, _ outcome: RegistrationOutcome) {
        underWay -= 1
        stage.simulator.fleet.finish(call, outcome, nowMilliseconds: Stage.nowMilliseconds())
    }

    private static func request(_ call: Registration) -> HTTPClientRequest {
        var headers: HTTPHeaders = ["Content-Type": "application/json; charset=utf-8"]
        if let authorization = call.authorization { headers.add("Authorization", authorization) }
        return HTTPClientRequest(
            method: "POST", url: call.url, headers: headers, body: call.body,
            timeoutMilliseconds: timeoutMilliseconds)
    }
}

extension RegistrationOutcome {
    /// Reads what came of an HTTP call.
    init(_ result: Result<HTTPClientResponse, HTTPClientError>) {
        switch result {
        case .failure: self = .failed
        case .success(let answer): self.init(status: answer.status, body: answer.body)
        }
    }

    /// Judges an answer: only HTTP 200 with `status_code` 200 is a success, and only 5xx is worth another attempt.
    init(status: Int, body: [UInt8]) {
        let code = (try? JSONDocument(body))?.root["status_code"]?.int64
        if status == 200 {
            self = code == 200 ? .accepted : .refused
        } else {
            self = status >= 500 || status == 429 ? .failed : .refused
        }
    }
}
