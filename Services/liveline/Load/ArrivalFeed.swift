import JSON
import Service
import Web

/// Follows the pushes that come to the simulator.
final class ArrivalFeed: Pollable {
    /// One of them.
    struct Arrival: Equatable {
        /// The integer in its content state.
        var number: Int
        /// UNIX microseconds.
        var atMicroseconds: Int64
        /// `start`, `update` or `end`.
        var event = "update"
        /// What the phone made of it, in one word; nil when it was refused.
        var verdict: String?
        var apnsID = ""
        /// The token that it was for, in hex; empty for one that was never given out.
        var token = ""
        /// The phone that the token leads to, or the channel of a broadcast as the registry names it.
        var hardwareID = ""
        /// The ordinal of the connection on which it came.
        var connection = 0
        /// How it was answered; 0 when it got no answer.
        var status = 200
        /// When it was answered, UNIX microseconds.
        var answeredAtMicroseconds: Int64 = 0
    }

    /// How often it asks, ms.
    private static let intervalMilliseconds: Int64 = 250

    private let client: HTTPClient
    private let control: SimulatorControl
    private let query: String
    private let take: (Arrival) -> Void
    private var next: Int64
    private var due: Int64? = 0
    private var askedAt: Int64 = 0
    /// How many arrivals were lost because it did not ask in time.
    private(set) var lost: Int64 = 0
    /// How many updates were accepted.
    private(set) var updates = 0
    /// How many updates phones did not show, by the simulator's word for why.
    private(set) var unseen: [String: Int] = [:]
    /// Everything that had come by this moment has been taken; monotonic milliseconds.
    private(set) var completeAtMilliseconds: Int64 = 0

    /// Asks in the first turn of the loop.
    ///
    /// - Parameters:
    ///   - client: where calls are made.
    ///   - control: the simulator.
    ///   - next: the number of the first arrival that matters.
    ///   - hasRefused: whether pushes that were refused matter too.
    ///   - take: takes each arrival that carries a number.
    init(
        _ client: HTTPClient, _ control: SimulatorControl, next: Int64, hasRefused: Bool = false,
        take: @escaping (Arrival) -> Void
    ) {
        (self.client, self.control, self.next, self.take) = (client, control, next, take)
        query = hasRefused ? "limit=10000&refused=1" : "limit=10000"
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
        askedAt = nowMilliseconds
        client.send(control.get("/arrivals?since=\(next)&\(query)")) { [weak self] in self?.answered($0) }
    }

    private func answered(_ result: Result<HTTPClientResponse, HTTPClientError>) {
        due = MonotonicClock.nowMilliseconds() + Self.intervalMilliseconds
        guard case .success(let answer) = result, let root = try? SimulatorControl.read(answer),
            let first = root["first"]?.int64, let after = root["next"]?.int64
        else { return }
        lost += max(0, first - next)
        next = after
        for value in root["arrivals"]?.elements.map(Array.init) ?? [] { read(value) }
        if let newest = root["newest"]?.int64, newest > after {
            due = 0
        } else {
            completeAtMilliseconds = askedAt
        }
    }

    /// The name under which a channel stands among deliveries.
    static func place(ofChannel id: String) -> String { "channel:\(id)" }

    private func read(_ value: JSONValue) {
        guard let number = value["n"]?.int64, let at = value["receivedAtMicroseconds"]?.int64 else { return }
        let arrival = Arrival(
            number: Int(number), atMicroseconds: at, event: value["event"]?.string ?? "",
            verdict: value["verdict"]?.string, apnsID: value["apnsId"]?.string ?? "",
            token: value["token"]?.string ?? "",
            hardwareID: value["hwid"]?.string ?? value["channel"]?.string.map(Self.place(ofChannel:)) ?? "",
            connection: Int(value["connection"]?.int64 ?? 0),
            status: Int(value["status"]?.int64 ?? 0),
            answeredAtMicroseconds: at + 1_000 * (value["delayMilliseconds"]?.int64 ?? 0))
        if arrival.event == "update", let verdict = arrival.verdict {
            updates += 1
            if verdict != "updated" { unseen[verdict, default: 0] += 1 }
        }
        take(arrival)
    }
}
