import Contracts
import Foundation

/// What APNs and the phones behind it do in the simulation: they answer, show, rotate tokens and check the promises.
struct SimulatedPhones {
    /// One activity as a phone knows it.
    struct Shown {
        var token: String?
        var n: [Int] = []
        var ended = false
        var lastTimestamp: Int64 = 0
        var start: String
        /// The channel that it listens to.
        var channel: String?
    }

    /// What APNs says to a push by itself, and the activity that it started, if it did.
    struct Verdict {
        var status = 200
        var reason: String?
        var timestamp: Int64?
        var started: (hwid: String, activity: String)?

        static let unknownToken = Verdict(status: 400, reason: "BadDeviceToken")
    }

    /// One activity on one phone.
    struct Place: Hashable {
        var hwid: String
        var activity: String
    }

    private(set) var startTokens: [String: String] = [:]
    private(set) var activityTokens: [String: Place] = [:]
    private(set) var dead: [String: Int64] = [:]
    /// Which activities listen to a channel.
    private(set) var listeners: [String: [Place]] = [:]
    private(set) var shown: [String: [String: Shown]] = [:]
    private(set) var arrivals = Arrivals()
    private(set) var violations: [String] = []
    private(set) var duplicates = 0
    private var highest: [Place: Int] = [:]
    private var registeredDead: Set<String> = []
    private var tokensMade = 0
    /// How long the pace of a participant is, in milliseconds.
    let intervalMilliseconds: Int64
    /// How long a token that was registered only after its death may be pushed to: until the next one is registered.
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
    ///
    /// A token that `isToBeTold` to the door only after its death counts as registered anew then: APNs refuses it
    /// once more.
    mutating func rotate(
        _ hwid: String, _ activity: String, at now: Int64, isToBeTold: (String) -> Bool
    ) -> String? {
        guard var state = shown[hwid]?[activity], !state.ended else { return nil }
        let token = newToken()
        if let old = state.token {
            dead[old] = now
            if isToBeTold(old) { registeredDead.insert(old) }
        }
        state.token = token
        activityTokens[token] = Place(hwid: hwid, activity: activity)
        shown[hwid]?[activity] = state
        return token
    }

    /// The token that an activity has by now on the phone that had this one.
    func successor(of token: String?) -> String? {
        guard let place = token.flatMap({ activityTokens[$0] }) else { return nil }
        return shown[place.hwid]?[place.activity]?.token
    }

    /// Notes that a gateway has died: what it alone knew, nobody knows any more.
    mutating func died(_ gateway: InstanceName, isKnown: (Arrival) -> Bool) {
        arrivals.lose(gateway) { !isKnown($0) }
    }

    /// Notes pushes of which nobody knows which gateway has them: the registry has heard nothing of them, and the
    /// limiter has died, or the report was lost on its way.
    mutating func nobodyKnows(_ isUnknown: (Arrival) -> Bool) { arrivals.orphan(where: isUnknown) }

    /// Takes a push that APNs accepts or refuses by itself.
    ///
    /// - Returns: what APNs answers, whether or not the answer reaches the gateway.
    mutating func receive(_ arrival: Arrival, activity: String?) -> Verdict {
        var arrival = arrival
        let verdict = judge(arrival, activity)
        arrival.status = verdict.status
        arrival.place = place(arrival, activity)
        if verdict.status == 200 { checkRepeat(arrival) }
        arrivals.add(arrival)
        return verdict
    }

    private func place(_ arrival: Arrival, _ activity: String?) -> Place? {
        if let channel = arrival.broadcast { return Place(hwid: "", activity: channel) }
        guard let hwid = startTokens[arrival.token], let activity else {
            return activityTokens[arrival.token]
        }
        return Place(hwid: hwid, activity: activity)
    }

    private mutating func judge(_ arrival: Arrival, _ activity: String?) -> Verdict {
        if let since = dead[arrival.token] {
            checkDead(arrival, since)
            return Verdict(status: 410, reason: "Unregistered", timestamp: since)
        }
        if let channel = arrival.broadcast {
            let place = Place(hwid: "", activity: channel)
            checkOrder(arrival, place)
            checkPace(arrival, place)
            for listener in listeners[channel] ?? [] { show(arrival, listener) }
            return Verdict()
        }
        if arrival.event == "start" { return start(arrival, activity) }
        guard let place = activityTokens[arrival.token] else { return .unknownToken }
        checkOrder(arrival, place)
        checkPace(arrival, place)
        show(arrival, place)
        return Verdict()
    }

    private mutating func start(_ arrival: Arrival, _ activity: String?) -> Verdict {
        guard let hwid = startTokens[arrival.token], let activity else { return .unknownToken }
        if let known = shown[hwid]?[activity] {
            if known.start != arrival.apnsID { breach("an activity is started twice", arrival) }
            return Verdict()
        }
        shown[hwid]?[activity] = Shown(
            n: [arrival.n], lastTimestamp: arrival.timestamp, start: arrival.apnsID, channel: arrival.channel)
        if let channel = arrival.channel {
            listeners[channel, default: []].append(Place(hwid: hwid, activity: activity))
            return Verdict()
        }
        return Verdict(started: (hwid, activity))
    }

    private mutating func show(_ arrival: Arrival, _ place: Place) {
        guard var state = shown[place.hwid]?[place.activity], !state.ended else { return }
        if arrival.event == "end" {
            state.ended = true
            state.n.append(arrival.n)
        } else if arrival.timestamp > state.lastTimestamp {
            state.n.append(arrival.n)
            state.lastTimestamp = arrival.timestamp
        }
        shown[place.hwid]?[place.activity] = state
    }

    private mutating func breach(_ what: String, _ arrival: Arrival) {
        let place = activityTokens[arrival.token].map { "\($0.activity) at \($0.hwid)" } ?? arrival.token
        violations.append(
            "\(what): \(arrival.event) n=\(arrival.n) to \(place) at \(arrival.at - World.start)")
    }
}

// MARK: What must not happen

extension SimulatedPhones {
    private mutating func checkOrder(_ arrival: Arrival, _ place: Place) {
        if let last = highest[place], arrival.n < last { breach("an older state after \(last)", arrival) }
        highest[place] = max(highest[place] ?? 0, arrival.n)
    }

    /// What the pace counts is what the registry can know: a push whose answer nobody got, or died with its gateway
    /// before the registry had it, may be followed at once.
    private mutating func checkPace(_ arrival: Arrival, _ place: Place) {
        guard arrival.event == "update", arrival.priority == 10 else { return }
        let former = arrivals.of(place).last {
            $0.status == 200 && $0.event == "update" && $0.priority == 10 && $0.knowledge == .told
        }
        guard let former, former.apnsID != arrival.apnsID else { return }
        let passed = arrival.at - former.at
        if passed < intervalMilliseconds { breach("the pace is exceeded: \(passed) ms", arrival) }
    }

    /// APNs sees a push again only if the answer to each former one was lost, or nobody knows who has it.
    ///
    /// A repeat meets the gateway that has the push as long as a device belongs to the same one. When that has changed,
    /// what the registry still has as handed over goes to one that does not know it.
    private mutating func checkRepeat(_ arrival: Arrival) {
        let former = arrivals.of(apnsID: arrival.apnsID).filter { $0.status == 200 }
        guard !former.isEmpty else { return }
        duplicates += 1
        let isToBeKnown = former.contains {
            $0.knowledge == .told && !($0.isOrphan && $0.gateway != arrival.gateway)
        }
        if isToBeKnown { breach("a push comes twice", arrival) }
    }

    /// A token is used no more once its 410 is known.
    private mutating func checkDead(_ arrival: Arrival, _ since: Int64) {
        if arrival.at - since > deadGraceMilliseconds {
            return breach("a dead token is used for long", arrival)
        }
        guard !registeredDead.contains(arrival.token),
            arrivals.of(token: arrival.token).contains(where: { $0.status == 410 && $0.knowledge == .told })
        else { return }
        breach("a dead token is used again", arrival)
    }
}
