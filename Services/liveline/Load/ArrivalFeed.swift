import JSON
import Service
import Web

/// Follows the pushes that the simulator accepts.
final class ArrivalFeed: Pollable {
    /// One of them.
    struct Arrival: Equatable {
        /// The integer in its content state.
        var number: Int
        /// UNIX microseconds.
        var atMicroseconds: Int64
        /// Whether the phone showed it.
        var isVisible: Bool
    }

    /// How often it asks, ms.
    private static let intervalMilliseconds: Int64 = 250

    private let client: HTTPClient
    private let control: SimulatorControl
    private let take: (Arrival) -> Void
    private var next: Int64
    private var due: Int64? = 0
    /// How many arrivals were lost because it did not ask in time.
    private(set) var lost: Int64 = 0
    /// How many updates arrived.
    private(set) var updates = 0
    /// How many updates phones did not show, by the simulator's word for why.
    private(set) var unseen: [String: Int] = [:]

    /// Asks in the first turn of the loop.
    ///
    /// - Parameters:
    ///   - client: where calls are made.
    ///   - control: the simulator.
    ///   - next: the number of the first arrival that matters.
    ///   - take: takes each arrival of an update.
    init(_ client: HTTPClient, _ control: SimulatorControl, next: Int64, take: @escaping (Arrival) -> Void) {
        (self.client, self.control, self.next, self.take) = (client, control, next, take)
    }

    /// The number that the simulator's next arrival will have.
    ///
    /// - Throws: `CommandFailure` if the simulator does not tell.
    static func newest(_ control: SimulatorControl, _ loop: CallLoop) throws(CommandFailure) -> Int64 {
        let answer = try loop.call(control.get("/arrivals?limit=1"))
        guard let newest = try SimulatorControl.read(answer)["newest"]?.int64 else {
            throw CommandFailure(.data, "the simulator's answer is no list of arrivals")
        }
        return newest
    }

    var descriptor: CInt { -1 }
    var nextDeadlineMilliseconds: Int64? { due }

    func process(nowMilliseconds: Int64) {
        guard let due, due <= nowMilliseconds else { return }
        self.due = nil
        client.send(control.get("/arrivals?since=\(next)&limit=10000")) { [weak self] in self?.answered($0) }
    }

    private func answered(_ result: Result<HTTPClientResponse, HTTPClientError>) {
        due = MonotonicClock.nowMilliseconds() + Self.intervalMilliseconds
        guard case .success(let answer) = result, let root = try? SimulatorControl.read(answer),
            let first = root["first"]?.int64, let after = root["next"]?.int64
        else { return }
        lost += max(0, first - next)
        next = after
        if let newest = root["newest"]?.int64, newest > after { due = 0 }
        for value in root["arrivals"]?.elements.map(Array.init) ?? [] { read(value) }
    }

    private func read(_ value: JSONValue) {
        guard value["event"]?.string == "update", let number = value["n"]?.int64,
            let at = value["receivedAtMicroseconds"]?.int64
        else { return }
        updates += 1
        let verdict = value["verdict"]?.string ?? ""
        if verdict != "updated" { unseen[verdict, default: 0] += 1 }
        take(Arrival(number: Int(number), atMicroseconds: at, isVisible: verdict == "updated"))
    }
}
