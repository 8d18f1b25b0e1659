import Testing

@testable import apns_simulator

@Suite struct ScriptTests {
    private func bench(_ rules: ScriptedAnswer...) -> Bench {
        var bench = Bench()
        bench.simulator.script.add(rules)
        return bench
    }

    @Test func `a rule answers from the nth request on, at its stride, as often as it may`() {
        var rule = ScriptedAnswer(
            action: .answer(status: 503, reason: "Shutdown", timestampMilliseconds: nil))
        (rule.nth, rule.every, rule.count) = (2, 2, 2)
        var bench = bench(rule)
        #expect((0..<8).map { _ in bench.send().status } == [200, 503, 200, 503, 200, 200, 200, 200])
        #expect(bench.simulator.counters.answers.map(\.name) == ["200", "503 Shutdown"])
    }

    @Test func `the first rule that fits decides`() {
        var once = ScriptedAnswer(action: .refuse)
        once.count = 1
        let rest = ScriptedAnswer(action: .silence)
        var bench = bench(once, rest)
        #expect(bench.send().outcome == .reset(isRefusal: true))
        #expect(bench.send().outcome == .silence)
        #expect(bench.simulator.counters.silent == 1)
        #expect(bench.simulator.counters.reset == 1)
    }

    @Test func `rules name phone, token, event, environment and connection`() {
        let matches: [(ScriptedAnswer.Match, Bool)] = [
            (.init(hardwareID: "p-1"), true), (.init(hardwareID: "p-2"), false),
            (.init(event: "start"), true),
            (.init(event: "end"), false), (.init(environment: .sandbox), false), (.init(connection: 1), true),
            (.init(connection: 2), false), (.init(token: "ab"), false),
        ]
        for (match, fits) in matches {
            var bench = bench(ScriptedAnswer(match: match, action: .close))
            #expect((bench.send().outcome == .close) == fits, "\(match)")
        }
        var bench = Bench()
        bench.simulator.script.add([
            ScriptedAnswer(match: .init(token: bench.startToken), action: .reset)
        ])
        #expect(bench.send().outcome == .reset(isRefusal: false))
    }

    @Test func `a delayed answer is otherwise the usual one`() {
        var rule = ScriptedAnswer()
        rule.delayMilliseconds = 500
        var bench = bench(rule)
        let reaction = bench.send()
        #expect(reaction.status == 200)
        #expect(reaction.delayMilliseconds == 500)
    }

    @Test func `a phone gets a push whose answer is scripted only when told so`() {
        var rule = ScriptedAnswer(
            action: .answer(status: 500, reason: "InternalServerError", timestampMilliseconds: nil))
        var bench = bench(rule)
        #expect(bench.send().reason == "InternalServerError")
        #expect(bench.simulator.fleet.activities.isEmpty)
        bench.simulator.script.clear()
        rule.delivers = true
        bench.simulator.script.add([rule])
        #expect(bench.send().reason == "InternalServerError")
        #expect(bench.simulator.fleet.activities.count == 1)
    }

    @Test func `GOAWAY comes instead of the answer, or after it when the push counts`() {
        var rule = ScriptedAnswer(action: .goAway(reason: "Shutdown"))
        var bench = bench(rule)
        #expect(bench.send().outcome == .goAway(reason: "Shutdown"))
        rule.delivers = true
        bench.simulator.script.clear()
        bench.simulator.script.add([rule])
        let reaction = bench.send()
        #expect(reaction.status == 200)
        #expect(reaction.goesAwayBecause == "Shutdown")
    }

    @Test func `410 carries the timestamp that the script says`() {
        var bench = bench(
            ScriptedAnswer(action: .answer(status: 410, reason: "Unregistered", timestampMilliseconds: 12)))
        #expect(bench.send().answer?.body == Array(#"{"reason":"Unregistered","timestamp":12}"#.utf8))
    }
}
