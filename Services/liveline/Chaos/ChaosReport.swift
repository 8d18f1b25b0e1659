import Contracts

/// What a chaos run showed.
struct ChaosReport: Sendable {
    var parameters: ChaosParameters
    var tally: ChaosTally
    var timeline: ChaosTimeline
    /// Calls that went again after no answer, and after one that says: later.
    var unknown: Int
    var busy: Int
    var faults: [ChaosFault: Int]
    var tokensChanged: Int
    var dismissals: Int
    /// The first breaches in words, and how many there are.
    var breaches: [String]
    var breachCount: Int

    /// Whether every promise was kept.
    var isGood: Bool { breachCount == 0 }

    /// Tables and breaches as people read them.
    var text: String {
        ([head, counts.text, services.text, "faults of APNs: \(played)"] + verdict).joined(separator: "\n\n")
    }

    private var head: String {
        "chaos: seed \(parameters.seed), \(parameters.seconds) s, \(Numbers.grouped(Int(parameters.rate))) calls a "
            + "second, \(Numbers.grouped(parameters.activities)) activities on "
            + "\(Numbers.grouped(parameters.phoneCount)) phones"
    }

    private var counts: Table {
        var table = Table([("messages", .left), ("", .right), ("pushes", .left), ("", .right)])
        let messages = [
            ("sent", tally.sent), ("accepted", tally.accepted), ("refused (tokens changed)", tally.refused),
            ("sent again: no answer", unknown), ("sent again: busy", busy), ("settled", tally.settled),
            ("not settled", tally.unsettled), ("deliveries: delivered", tally.delivered),
            ("deliveries: superseded", tally.superseded), ("deliveries: others", tally.errors),
        ]
        let pushes = [
            ("came to APNs", tally.arrivals), ("reached a phone", tally.pushes),
            ("refused for the moment", tally.notTaken), ("410", tally.gone),
            ("410 again, not known", tally.goneAgain),
            ("twice", tally.repeated), ("after a gateway's end", tally.repeatedAfterEnd),
            ("after a lost answer", tally.repeatedAfterLostAnswer),
            ("oldest answer lost with a gateway, ms", Int(tally.oldestLostMilliseconds)),
            ("phones looked at in the end", tally.phones),
        ]
        for (left, right) in zip(messages, pushes) {
            table.add(left.0, Numbers.grouped(left.1), right.0, Numbers.grouped(right.1))
        }
        return table
    }

    private var services: Table {
        var table = Table([("service", .left)] + ["kills", "holds", "restarts"].map { ($0, .right) })
        for service in Deployment.goingDown {
            table.add(
                [service.rawValue] + ChaosTimeline.Kind.allCases.map { "\(timeline.count($0, service))" })
        }
        let sums = ChaosTimeline.Kind.allCases.map { kind in "\(timeline.incidents.count { $0.kind == kind })"
        }
        table.add(["all five"] + sums)
        return table
    }

    private var played: String {
        let all = ChaosFault.allCases.filter { faults[$0] != nil }.map { "\($0.rawValue) \(faults[$0] ?? 0)" }
        return (all + ["tokens changed \(tokensChanged)", "dismissed \(dismissals)"]).joined(separator: ", ")
    }

    private var verdict: [String] {
        guard !isGood else { return ["every promise kept: 0 breaches, 0 lost"] }
        return ["\(breachCount) breaches:\n" + breaches.map { "  \($0)" }.joined(separator: "\n")]
    }
}
