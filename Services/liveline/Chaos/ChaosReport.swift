import Contracts

/// What a chaos run showed.
struct ChaosReport: Sendable {
    /// What became of the calls in the time in which things broke.
    struct Pace: Equatable, Sendable {
        var milliseconds: Int64
        /// Calls that the clock made due, those that went out, and those that were accepted by the end of that time.
        var offered: Int
        var sent: Int
        var accepted: Int

        /// Accepted calls a second.
        var acceptedRate: Double { Double(accepted) * 1_000 / Double(max(1, milliseconds)) }

        /// A run that sent fewer of the calls that were due shows nothing of its rate, percent.
        static let sentPercentLeast = 95

        /// Whether enough of what was due went out.
        var isReached: Bool { sent * 100 >= offered * Self.sentPercentLeast }
    }

    var parameters: ChaosParameters
    var tally: ChaosTally
    var timeline: ChaosTimeline
    var pace: Pace
    /// How long all took to come to rest, and to be judged.
    var restMilliseconds: Int64
    var judgeMilliseconds: Int64
    /// Calls that went again after no answer, and after one that says: later, by its words.
    var unknown: Int
    var busy: [String: Int]
    var faults: [ChaosFault: Int]
    var tokensChanged: Int
    var dismissals: Int
    /// What each program has used, this one too.
    var usages: [(name: String, usage: ChaosGauge.Usage)]
    /// The first breaches in words, and how many there are.
    var breaches: [String]
    var breachCount: Int

    /// Whether every promise was kept, at the rate that was asked for.
    var isGood: Bool { breachCount == 0 && pace.isReached }

    /// Tables and breaches as people read them.
    var text: String {
        ([head, rate, counts.text, services.text, "faults of APNs: \(played)", times] + verdict)
            .joined(separator: "\n\n")
    }

    private var head: String {
        "chaos: seed \(parameters.seed), \(parameters.seconds) s, \(Numbers.grouped(Int(parameters.rate))) calls a "
            + "second, \(Numbers.grouped(parameters.activities)) activities on "
            + "\(Numbers.grouped(parameters.phoneCount)) phones, an update of each in "
            + "\(parameters.intervalSeconds) s at most"
    }

    private var rate: String {
        let late = pace.offered - pace.sent
        return
            "accepted a second: \(Numbers.fixed(pace.acceptedRate, 1)) (offered \(Numbers.grouped(pace.offered)), "
            + "sent \(Numbers.grouped(pace.sent)), accepted \(Numbers.grouped(pace.accepted)) in "
            + "\(Numbers.fixed(Double(pace.milliseconds) / 1_000, 1)) s; answered 503 \(Numbers.grouped(busy.values.reduce(0, +))), "
            + "not answered \(Numbers.grouped(unknown)), both sent again)"
            + busy.sorted { $0.key < $1.key }.map { "\n503 \"\($0)\": \(Numbers.grouped($1))" }.joined()
            + (late > 0 ? "\n\(Numbers.grouped(late)) calls that were due were not sent" : "")
    }

    private var times: String {
        "at rest after \(Numbers.fixed(Double(restMilliseconds) / 1_000, 1)) s, judged after "
            + "\(Numbers.fixed(Double(judgeMilliseconds) / 1_000, 1)) s more"
    }

    private var counts: Table {
        var table = Table([("messages", .left), ("", .right), ("pushes", .left), ("", .right)])
        let messages = [
            ("sent", tally.sent), ("accepted", tally.accepted), ("refused (dismissed)", tally.refused),
            ("settled", tally.settled),
            ("not settled", tally.unsettled), ("deliveries: delivered", tally.delivered),
            ("deliveries: superseded", tally.superseded), ("deliveries: others", tally.errors),
        ]
        let pushes = [
            ("came to APNs", tally.arrivals), ("reached a phone", tally.pushes),
            ("refused for the moment", tally.notTaken - tally.forbidden), ("403", tally.forbidden),
            ("410", tally.gone),
            ("410 again, not known", tally.goneAgain),
            ("twice", tally.repeated), ("after a gateway's end", tally.repeatedAfterEnd),
            ("in flight when gateways ended (bound)", tally.inFlightAtEnds),
            ("after a lost answer", tally.repeatedAfterLostAnswer),
            ("oldest answer lost with a gateway, ms", Int(tally.oldestLostMilliseconds)),
            ("updates held to their pace", tally.paced),
            ("closest two, ms", tally.paced > 0 ? Int(tally.shortestMilliseconds) : 0),
            ("phones looked at in the end", tally.phones),
        ]
        for row in 0..<max(messages.count, pushes.count) {
            let left = row < messages.count ? [messages[row].0, Numbers.grouped(messages[row].1)] : ["", ""]
            let right = row < pushes.count ? [pushes[row].0, Numbers.grouped(pushes[row].1)] : []
            table.add(left + right)
        }
        return table
    }

    private var services: Table {
        let heads = ["kills", "holds", "restarts", "CPU s", "µs for each accepted", "peak MB"]
        var table = Table([("program", .left)] + heads.map { ($0, .right) })
        for (name, usage) in usages {
            let service = ServiceName(rawValue: name)
            table.add(
                [name]
                    + ChaosTimeline.Kind.allCases.map { kind in
                        service.map { "\(timeline.count(kind, $0))" } ?? ""
                    } + cells(usage.cpuSeconds) + [Numbers.fixed(Double(usage.peakBytes) / 1_048_576, 1)])
        }
        let sums = ChaosTimeline.Kind.allCases.map { kind in "\(timeline.incidents.count { $0.kind == kind })"
        }
        let five = usages.filter { ServiceName(rawValue: $0.name) != nil }
        table.add(["all five"] + sums + cells(five.reduce(0) { $0 + $1.usage.cpuSeconds }))
        return table
    }

    private func cells(_ seconds: Double) -> [String] {
        let each = seconds * 1_000_000 / Double(max(1, tally.accepted))
        return [Numbers.fixed(seconds, 1), Numbers.fixed(each, 0)]
    }

    private var played: String {
        let all = ChaosFault.allCases.filter { faults[$0] != nil }.map { "\($0.rawValue) \(faults[$0] ?? 0)" }
        return (all + ["tokens changed \(tokensChanged)", "dismissed \(dismissals)"]).joined(separator: ", ")
    }

    private var verdict: [String] {
        if isGood { return ["every promise kept: 0 breaches, 0 lost"] }
        let found = breaches.map { "\n  \($0)" }.joined()
        let broken = ["\(breachCount) breaches\(found.isEmpty ? "" : ":")\(found)"]
        guard !pace.isReached else { return broken }
        let percent = Numbers.fixed(Double(pace.sent) * 100 / Double(max(1, pace.offered)), 1)
        return broken + [
            "the run does not count: it sent \(percent) % of the calls that were due, and at least "
                + "\(Pace.sentPercentLeast) % must go out; ask for a lower --rate, or for fewer faults"
        ]
    }
}
