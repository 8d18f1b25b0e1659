import Contracts
import Testing

@testable import liveline

struct ChaosPlanTests {
    private func actions(seed: UInt64, seconds: Int64 = 1_800) -> [ChaosPlan.Action] {
        var parameters = ChaosParameters()
        parameters.seed = seed
        var plan = ChaosPlan(parameters)
        var all: [ChaosPlan.Action] = []
        while plan.nextMilliseconds < seconds * 1_000 { all += plan.due(plan.nextMilliseconds) }
        return all
    }

    @Test func `the same seed plans the same, another one something else`() {
        #expect(actions(seed: 7) == actions(seed: 7))
        #expect(actions(seed: 7) != actions(seed: 8))
    }

    @Test func `half an hour has 300 kills and more, spread evenly over the five services`() {
        var kills: [ServiceName: Int] = [:]
        for case .kill(let service) in actions(seed: 1) { kills[service, default: 0] += 1 }
        #expect(kills.values.reduce(0, +) >= 300)
        #expect(kills.count == 5)
        #expect((kills.values.max() ?? 0) - (kills.values.min() ?? 0) <= 1)
    }

    @Test func `every kind of action and of fault comes`() {
        let all = actions(seed: 3)
        var faults: Set<ChaosFault> = []
        for case .fault(let fault) in all { faults.insert(fault) }
        #expect(faults == Set(ChaosFault.allCases))
        #expect(all.contains { if case .hold = $0 { true } else { false } })
        #expect(all.contains { if case .restart = $0 { true } else { false } })
        for change in [TokenChange.rotated, .rotatedUnnoticed, .dismissed] {
            #expect(all.contains { if case .token(_, change) = $0 { true } else { false } })
        }
    }

    @Test func `what was missed is all due at once`() {
        var parameters = ChaosParameters()
        parameters.seed = 1
        var plan = ChaosPlan(parameters)
        let kills = plan.due(60_000).count { if case .kill = $0 { true } else { false } }
        #expect((10...11).contains(kills))
        #expect(plan.due(60_000) == [])
    }

    @Test func `a number says which message it is of`() {
        let number = ChaosNumber(serial: 123_456, step: 789)
        #expect(ChaosNumber(packed: number.packed) == number)
    }

    @Test func `an activity whose tokens change has one phone`() {
        for slot in 0..<100 where ChaosParameters.isStraying(slot) {
            #expect(ChaosParameters.phones(ofSlot: slot) == 1)
        }
        #expect(ChaosParameters.phones(ofSlot: 0) == 3)
        #expect((0..<100).contains(where: ChaosParameters.isFiltered))
        #expect((0..<100).contains(where: ChaosParameters.isBroadcast))
        #expect(!(0..<5_000).contains { ChaosParameters.isFiltered($0) && ChaosParameters.isBroadcast($0) })
    }
}

struct ChaosTimelineTests {
    private var timeline = ChaosTimeline()

    private mutating func note(
        _ kind: ChaosTimeline.Kind, _ service: ServiceName, _ from: Int64, ended: Int64? = nil, to: Int64
    ) {
        let place = timeline.begin(kind, service, at: from)
        if let ended { timeline.ended(place, at: ended) }
        timeline.over(place, at: to)
    }

    private func reach(_ arrived: Int64, answered: Int64? = nil, connectedAt: Int64? = nil) -> ChaosBook.Reach
    {
        ChaosBook.Reach(
            step: 1, apnsID: "", arrived: arrived, answered: answered ?? arrived,
            connectedAt: connectedAt ?? arrived, isTold: true)
    }

    private func end(_ arrived: Int64, until: Int64 = 100_000) -> Int64? {
        timeline.end(ofGatewayWith: reach(arrived), until: until)
    }

    @Test mutating func `a kill takes what the registry is not known to have committed`() {
        timeline.committed(8_000, at: 8_500)
        note(.kill, .apnsGateway, 10_000, ended: 10_000, to: 11_000)
        #expect(end(8_000) == nil)
        #expect(end(8_001) == 10_000)
        #expect(end(10_900) == 10_000)
        #expect(end(11_001) == nil)
        #expect(end(9_500, until: 9_900) == nil)
    }

    @Test mutating func `evidence may come later, and says nothing about an earlier kill`() {
        note(.kill, .apnsGateway, 10_000, ended: 10_000, to: 11_000)
        note(.kill, .apnsGateway, 20_000, ended: 20_000, to: 21_000)
        #expect(end(9_000) == 10_000)
        timeline.committed(9_500, at: 12_000)
        #expect(end(9_000) == 10_000)
        timeline.committed(9_200, at: 9_900)
        #expect(end(9_000) == nil)
        #expect(end(9_400) == 10_000)
    }

    @Test mutating func `and what was on the wire`() {
        note(.kill, .apnsGateway, 10_000, ended: 10_000, to: 11_000)
        #expect(timeline.end(ofGatewayWith: reach(9_000, answered: 10_700), until: 20_000) == 10_000)
    }

    @Test mutating func `and what comes late on a connection of its own`() {
        note(.kill, .apnsGateway, 10_000, ended: 10_000, to: 11_000)
        #expect(timeline.end(ofGatewayWith: reach(14_000, connectedAt: 9_000), until: 20_000) == 10_000)
        #expect(timeline.end(ofGatewayWith: reach(14_000, connectedAt: 10_800), until: 20_000) == nil)
    }

    @Test mutating func `other services are no excuse`() {
        note(.kill, .rateLimiter, 5_000, ended: 5_000, to: 8_000)
        #expect(end(4_900) == nil)
    }

    @Test mutating func `a gateway that is asked to stop loses something only without its registry`() {
        note(.restart, .apnsGateway, 10_000, ended: 10_300, to: 11_000)
        #expect(end(10_100) == nil)
        note(.kill, .tokenRegistry, 20_000, ended: 20_000, to: 25_000)
        note(.restart, .apnsGateway, 20_100, ended: 22_000, to: 23_000)
        #expect(end(20_500) == 22_000)
    }

    @Test mutating func `a gateway that is held loses nothing`() {
        note(.hold, .apnsGateway, 10_000, to: 15_000)
        #expect(end(9_900) == nil)
    }

    @Test mutating func `answers are lost with their connections`() {
        timeline.closes(at: 5_000)
        timeline.closed(1, at: 7_000)
        #expect(timeline.isCutOff(answered: 6_000, since: 6_000, until: 9_000))
        #expect(timeline.isCutOff(answered: 4_600, since: 4_600, until: 9_000))
        #expect(!timeline.isCutOff(answered: 4_400, since: 4_400, until: 9_000))
        #expect(!timeline.isCutOff(answered: 4_600, since: 4_600, until: 4_900))
        #expect(!timeline.isCutOff(answered: 7_100, since: 7_100, until: 9_000))
    }

    @Test mutating func `what is taken back ends only what was played before`() {
        timeline.closes(at: 5_000)
        let played = timeline.closings.count
        timeline.closes(at: 6_000)
        timeline.closed(played, at: 6_100)
        #expect(timeline.closings == [5_000...6_100, 6_000...Int64.max])
        // An answer that is late ends what an earlier one should have, and nothing twice.
        timeline.closed(timeline.closings.count, at: 9_000)
        timeline.closed(timeline.closings.count, at: 12_000)
        #expect(timeline.closings == [5_000...6_100, 6_000...9_000])
    }

    @Test mutating func `what was done is counted by service`() {
        note(.kill, .ingest, 1, to: 2)
        note(.kill, .ingest, 3, to: 4)
        note(.hold, .segmenter, 3, to: 4)
        #expect(timeline.count(.kill, .ingest) == 2)
        #expect(timeline.count(.hold, .segmenter) == 1)
        #expect(timeline.count(.kill, .segmenter) == 0)
    }
}
