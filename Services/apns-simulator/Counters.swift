/// What the simulated APNs has answered, and to how many connections.
struct Counters: Sendable {
    var accepted = 0
    /// Broadcasts among them, and how many activities they reached.
    var broadcasts = 0
    var reached = 0
    /// Calls about channels that were accepted.
    var channelCalls = 0
    private var refusals = Array(repeating: 0, count: APNsReason.allCases.count)
    /// Scripted answers by status and reason, as `503 ServiceUnavailable`.
    private var scripted: [String: Int] = [:]
    var silent = 0
    var reset = 0
    var goneAway = 0
    var closed = 0
    var connectionsOpened = 0
    var connectionsOpen = 0

    /// Counts a refusal of the checks.
    mutating func count(_ reason: APNsReason) { refusals[Int(reason.rawValue)] += 1 }

    /// Counts an answer of the script.
    mutating func countScripted(status: Int, reason: String?) {
        scripted[reason.map { "\(status) \($0)" } ?? "\(status)", default: 0] += 1
    }

    /// How often the checks gave this reason.
    subscript(reason: APNsReason) -> Int { refusals[Int(reason.rawValue)] }

    /// All answers by status and reason, sorted, without those that never occurred.
    var answers: [(name: String, count: Int)] {
        var all = scripted
        if accepted > 0 { all["200", default: 0] += accepted }
        for reason in APNsReason.allCases where self[reason] > 0 {
            all["\(reason.status) \(reason.wireName)", default: 0] += self[reason]
        }
        return all.sorted { $0.key < $1.key }.map { (name: $0.key, count: $0.value) }
    }

    /// Sets all to zero but what is open.
    mutating func resetCounts() {
        let open = connectionsOpen
        self = Counters()
        connectionsOpen = open
    }
}
