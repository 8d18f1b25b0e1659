import Contracts

/// One push as it arrived at APNs.
struct Arrival {
    /// Who can know how it was answered.
    enum Knowledge {
        /// The gateway got the answer, and the registry gets it from there.
        case told
        /// The answer never left APNs.
        case silent
        /// The gateway died before the registry knew.
        case lost
    }

    var at: Int64
    var push: PushID
    var gateway: InstanceName
    var apnsID: String
    var token: String
    var event: String
    var n: Int
    var timestamp: Int64
    var priority: Int
    /// The channel of a broadcast, or the one that a start has its phone listen to.
    var channel: String?
    var knowledge = Knowledge.told
    /// Nobody but its gateway knows of it.
    var isOrphan = false
    var status = 0
    var place: SimulatedPhones.Place?

    /// The channel that it went to; nil for a push to a token.
    var broadcast: String? { event == "start" ? nil : channel }
}

/// All pushes that arrived, found by what the checks ask for.
struct Arrivals {
    private var all: [Arrival] = []
    private var byID: [String: [Int]] = [:]
    private var byToken: [String: [Int]] = [:]
    private var byPlace: [SimulatedPhones.Place: [Int]] = [:]
    /// Those of a gateway's present life.
    private var ofLife: [InstanceName: [Int]] = [:]

    var count: Int { all.count }

    mutating func add(_ arrival: Arrival) {
        let number = all.count
        all.append(arrival)
        byID[arrival.apnsID, default: []].append(number)
        byToken[arrival.token, default: []].append(number)
        ofLife[arrival.gateway, default: []].append(number)
        if let place = arrival.place { byPlace[place, default: []].append(number) }
    }

    func of(apnsID: String) -> [Arrival] { (byID[apnsID] ?? []).map { all[$0] } }
    func of(token: String) -> [Arrival] { (byToken[token] ?? []).map { all[$0] } }
    func of(_ place: SimulatedPhones.Place) -> [Arrival] { (byPlace[place] ?? []).map { all[$0] } }

    /// Marks what is left with gateways that nobody can name.
    mutating func orphan(where isUnknown: (Arrival) -> Bool) {
        for number in ofLife.values.joined() where isUnknown(all[number]) { all[number].isOrphan = true }
    }

    /// Marks what is known nowhere any more, as the gateway has died.
    mutating func lose(_ gateway: InstanceName, where isLost: (Arrival) -> Bool) {
        for number in ofLife.removeValue(forKey: gateway) ?? []
        where all[number].knowledge == .told && isLost(all[number]) {
            all[number].knowledge = .lost
        }
    }
}
