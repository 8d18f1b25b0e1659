import Contracts
import Foundation

/// What APNs and the phones behind it do in the simulation: they answer, show, rotate tokens and check the promises.
struct SimulatedPhones {
    /// One push as it arrived.
    struct Arrival {
        var at: Int64
        var apnsID: String
        var token: String
        var event: String
        var n: Int
        var timestamp: Int64
        var priority: Int
    }

    /// One activity as a phone knows it.
    struct Shown {
        var token: String?
        var n: [Int] = []
        var ended = false
        var lastTimestamp: Int64 = 0
    }

    private(set) var startTokens: [String: String] = [:]
    private(set) var activityTokens: [String: (hwid: String, activity: String)] = [:]
    private(set) var dead: [String: Int64] = [:]
    private(set) var shown: [String: [String: Shown]] = [:]
    private(set) var arrivals: [Arrival] = []
    private(set) var violations: [String] = []
    private(set) var duplicates = 0
    private var seen: Set<String> = []
    private var lastTen: [String: Int64] = [:]
    private var highest: [String: (n: Int, apnsID: String)] = [:]
    private var tokensMade = 0
    /// How long the pace of a participant is, in milliseconds.
    let intervalMilliseconds: Int64
    /// Pushes to a dead token are a breach only after its 410 could be known everywhere.
    let deadGraceMilliseconds: Int64 = 150_000

    init(intervalMilliseconds: Int64) { self.intervalMilliseconds = intervalMilliseconds }

    mutating func add(_ hwid: String) -> String {
        let token = newToken()
        startTokens[token] = hwid
        shown[hwid] = [:]
        return token
    }

    private mutating func newToken() -> String {
        tokensMade += 1
        return String(repeating: "0", count: 60) + String(format: "%04x", tokensMade)
    }

    /// The activity's new token on a phone; the former one is dead from now on.
    mutating func rotate(_ hwid: String, _ activity: String, at now: Int64) -> String? {
        guard var state = shown[hwid]?[activity], !state.ended else { return nil }
        let token = newToken()
        if let old = state.token { dead[old] = now }
        state.token = token
        activityTokens[token] = (hwid, activity)
        shown[hwid]?[activity] = state
        return token
    }

    /// Takes a push that APNs accepts or refuses by itself.
    ///
    /// - Returns: the status, the reason and the 410's timestamp, and the activity that was started, if one was.
    mutating func receive(_ arrival: Arrival, activity: String?) -> (
        status: Int, reason: String?, timestamp: Int64?, started: (hwid: String, activity: String)?
    ) {
        if let since = dead[arrival.token] {
            if arrival.at - since > deadGraceMilliseconds { breach("a dead token is used again", arrival) }
            return (410, "Unregistered", since, nil)
        }
        arrivals.append(arrival)
        if !seen.insert(arrival.apnsID).inserted { duplicates += 1 }
        if arrival.event == "start" { return start(arrival, activity) }
        guard let (hwid, activity) = activityTokens[arrival.token] else {
            return (400, "BadDeviceToken", nil, nil)
        }
        checkOrder(arrival, hwid, activity)
        checkPace(arrival, hwid, activity)
        show(arrival, hwid, activity)
        return (200, nil, nil, nil)
    }

    private mutating func start(_ arrival: Arrival, _ activity: String?) -> (
        Int, String?, Int64?, (hwid: String, activity: String)?
    ) {
        guard let hwid = startTokens[arrival.token], let activity else {
            return (400, "BadDeviceToken", nil, nil)
        }
        guard shown[hwid]?[activity] == nil else { return (200, nil, nil, nil) }
        shown[hwid]?[activity] = Shown(n: [arrival.n], lastTimestamp: arrival.timestamp)
        return (200, nil, nil, (hwid, activity))
    }

    private mutating func show(_ arrival: Arrival, _ hwid: String, _ activity: String) {
        guard var state = shown[hwid]?[activity], !state.ended else { return }
        if arrival.event == "end" {
            state.ended = true
            state.n.append(arrival.n)
        } else if arrival.timestamp > state.lastTimestamp {
            state.n.append(arrival.n)
            state.lastTimestamp = arrival.timestamp
        }
        shown[hwid]?[activity] = state
    }

    private mutating func checkOrder(_ arrival: Arrival, _ hwid: String, _ activity: String) {
        let key = "\(hwid) \(activity)"
        if let last = highest[key], arrival.n < last.n { breach("an older state after \(last.n)", arrival) }
        if arrival.n >= highest[key]?.n ?? 0 { highest[key] = (arrival.n, arrival.apnsID) }
    }

    private mutating func checkPace(_ arrival: Arrival, _ hwid: String, _ activity: String) {
        guard arrival.event == "update", arrival.priority == 10 else { return }
        let key = "\(hwid) \(activity)"
        let repeated = arrivals.dropLast().contains { $0.apnsID == arrival.apnsID }
        if let last = lastTen[key], !repeated, arrival.at - last < intervalMilliseconds - 50 {
            breach("the pace is exceeded: \(arrival.at - last) ms", arrival)
        }
    }

    /// Notes that APNs answered 200 to an update, which is what counts for the pace.
    mutating func accepted(_ arrival: Arrival) {
        guard arrival.event == "update", arrival.priority == 10,
            let (hwid, activity) = activityTokens[arrival.token]
        else { return }
        lastTen["\(hwid) \(activity)"] = max(lastTen["\(hwid) \(activity)"] ?? 0, arrival.at)
    }

    private mutating func breach(_ what: String, _ arrival: Arrival) {
        violations.append("\(what): \(arrival.event) n=\(arrival.n) \(arrival.apnsID) at \(arrival.at)")
    }
}
