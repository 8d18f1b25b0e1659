import Contracts
import Service
import Testing

@testable import token_registry

@Suite struct `The newest state of a participant` {
    @Test(arguments: Life.allCases)
    func `lim-burst: the newest state waits in the ledger`(life: Life) throws {
        let harness = try Harness(life)
        let run = try harness.joined()
        var updates: [Int64] = []
        for n in 1...100 {
            updates.append(try harness.update(run, "{\"n\":\(n)}"))
            try harness.advance(milliseconds: 100)
        }
        try harness.advance(seconds: 50)
        #expect(harness.states == ["{\"n\":1}", "{\"n\":100}"])
        #expect(harness.sent.map(\.at) == [Harness.epoch, Harness.epoch + 15_000])
        let counts = updates.compactMap { harness.counts($0) }
        #expect(counts.count == 100)
        #expect(counts.filter { $0 == .of(superseded: 1) }.count == 98)
    }

    @Test(arguments: Life.allCases)
    func `lim-silent-tail: the last state goes with no further call`(life: Life) throws {
        let harness = try Harness(life)
        let run = try harness.joined()
        try harness.update(run, "{\"n\":1}")
        try harness.advance(seconds: 4)
        try harness.update(run, "{\"n\":2}")
        try harness.advance(milliseconds: 10_750)
        #expect(harness.heldTargets.count == 1, "a row is handed over a quarter second before its slot")
        try harness.advance(milliseconds: 250)
        #expect(harness.sent.map(\.at) == [Harness.epoch, Harness.epoch + 15_000])
    }

    @Test(arguments: Life.allCases)
    func `lim-late-older-update: the older one is superseded, however late it comes`(life: Life) throws {
        for slotBetween in [false, true] {
            let harness = try Harness(life)
            let run = try harness.joined()
            try harness.update(run, "{\"n\":0}", timestamp: harness.now.wallSeconds - 60)
            let time = harness.now.wallSeconds
            try harness.update(run, "{\"n\":2}", timestamp: time)
            if slotBetween { try harness.advance(seconds: 16) }
            let older = try harness.update(run, "{\"n\":1}", timestamp: time - 10)
            try harness.advance(seconds: 40)
            #expect(harness.states == ["{\"n\":0}", "{\"n\":2}"])
            #expect(harness.counts(older) == .of(superseded: 1))
        }
    }

    @Test(arguments: Life.allCases)
    func `lim-neighbours-unaffected: another activity of the device goes at once`(life: Life) throws {
        let harness = try Harness(life)
        let x = try harness.joined(Token.a, "dev-1", activity: "x")
        let y = try harness.joined(Token.b, "dev-1", activity: "y")
        try harness.startToken(Token.startA)
        for n in 1...50 {
            try harness.update(x, "{\"x\":\(n)}")
            try harness.advance(milliseconds: 20)
        }
        let called = harness.now.wall
        try harness.update(y, "{\"y\":1}")
        try harness.start(["dev-1"], state: "{\"z\":1}")
        try harness.advance(seconds: 1)
        let others = harness.sent.filter { !$0.state.contains("x") }
        #expect(others.map(\.state) == ["{\"y\":1}", "{\"z\":1}"])
        #expect(others.allSatisfy { $0.at - called < 1_000 })
    }

    @Test(arguments: Life.allCases)
    func `lim-failed-then-newer: only the newer goes, and no slot is lost`(life: Life) throws {
        let harness = try Harness(life)
        let run = try harness.joined()
        harness.apns = { _ in .retry(503, "ServiceUnavailable", after: 5_000) }
        let first = try harness.update(run, "{\"n\":1}")
        try harness.advance(seconds: 2)
        harness.apns = { _ in .ok }
        let second = try harness.update(run, "{\"n\":2}")
        try harness.advance(seconds: 30)
        #expect(harness.states == ["{\"n\":1}", "{\"n\":2}"])
        #expect(harness.sent.last?.at == Harness.epoch + 5_000)
        #expect(harness.counts(first) == .of(superseded: 1))
        #expect(harness.counts(second) == .of(delivered: 1))
    }

    @Test(arguments: Life.allCases)
    func `carries the highest priority and the newest alert of what it replaced`(life: Life) throws {
        let harness = try Harness(life)
        let run = try harness.joined()
        try harness.update(run, "{\"n\":0}")
        try harness.update(run, "{\"n\":1}", alert: "\"one\"", priority: 10)
        try harness.update(run, "{\"n\":2}", alert: "\"two\"", priority: 5)
        try harness.update(run, "{\"n\":3}", priority: 5)
        try harness.advance(seconds: 15)
        let last = try #require(harness.sent.last)
        #expect(last.state == "{\"n\":3}")
        #expect(last.alert == "\"two\"")
        #expect(last.target.priority == 10)
    }

    @Test func `takes priority and alert from an older one that comes late`() throws {
        let harness = try Harness()
        let run = try harness.joined()
        let time = harness.now.wallSeconds
        try harness.update(run, "{\"n\":0}", timestamp: time - 100)
        try harness.update(run, "{\"n\":2}", priority: 5, timestamp: time)
        let older = try harness.update(run, "{\"n\":1}", alert: "\"one\"", timestamp: time - 1)
        #expect(harness.counts(older) == .of(superseded: 1))
        try harness.advance(seconds: 15)
        #expect(harness.sent.last?.alert == "\"one\"")
        #expect(harness.sent.last?.target.priority == 10)
    }

    @Test func `leaves an expired alert out`() throws {
        let harness = try Harness()
        let run = try harness.joined()
        try harness.update(run, "{\"n\":0}")
        try harness.update(
            run, "{\"n\":1}", alert: "\"one\"", expiration: harness.now.wallSeconds + 5)
        try harness.advance(seconds: 1)
        try harness.update(run, "{\"n\":2}")
        try harness.advance(seconds: 20)
        #expect(harness.sent.last?.state == "{\"n\":2}")
        #expect(harness.sent.last?.alert == "")
    }

    @Test func `leaves an alert out that does not fit beside it, and counts that`() throws {
        let harness = try Harness()
        let run = try harness.joined()
        try harness.update(run, "{\"n\":0}")
        try harness.update(run, "{\"n\":1}", alert: "\"" + String(repeating: "a", count: 2_000) + "\"")
        try harness.update(run, "{\"n\":\"" + String(repeating: "b", count: 2_000) + "\"}")
        try harness.advance(seconds: 20)
        #expect(harness.sent.last?.alert == "")
        #expect(harness.counted("alerts_left_out") == 1)
    }

    @Test func `at priority 5 waits, and lets a 10 follow at once`() throws {
        let harness = try Harness()
        let run = try harness.joined()
        try harness.update(run, "{\"n\":1}", priority: 5)
        try harness.update(run, "{\"n\":2}", priority: 5)
        try harness.advance(seconds: 1)
        #expect(harness.states == ["{\"n\":1}"])
        try harness.update(run, "{\"n\":3}", priority: 10)
        #expect(harness.states == ["{\"n\":1}", "{\"n\":3}"])
    }

    @Test func `waits the frequent interval where the person allows it`() throws {
        let harness = try Harness { $0.applications[0].frequent = true }
        var profile = Profile()
        profile.frequentPushes = false
        try harness.register(.profile(profile), "slow")
        let run = try harness.joined(Token.a, "quick")
        try harness.activityToken(Token.b, run: run, "slow")
        try harness.update(run, "{\"n\":1}")
        try harness.update(run, "{\"n\":2}")
        try harness.advance(seconds: 30)
        let seconds = harness.sent.suffix(2).map { ($0.at - Harness.epoch) / 1000 }
        #expect(seconds == [5, 15])
    }

    @Test func `expires where it waits`() throws {
        let harness = try Harness()
        let run = try harness.joined()
        try harness.update(run, "{\"n\":1}")
        let update = try harness.update(run, "{\"n\":2}", expiration: harness.now.wallSeconds + 5)
        try harness.advance(seconds: 6)
        #expect(harness.counts(update) == .of(expired: 1))
        try harness.advance(seconds: 20)
        #expect(harness.sent.count == 1)
    }

    @Test func `with an expiration of 0 has one attempt when its slot opens`() throws {
        let harness = try Harness()
        let run = try harness.joined()
        try harness.update(run, "{\"n\":1}")
        let update = try harness.update(run, "{\"n\":2}", expiration: 0)
        try harness.advance(seconds: 5)
        harness.apns = { _ in .retry(503, "ServiceUnavailable") }
        try harness.advance(seconds: 100)
        #expect(harness.states == ["{\"n\":1}", "{\"n\":2}"])
        #expect(harness.counts(update) == .of(failed: 1))
    }

    @Test func `with an expiration of 0 that was given back unsent still has its attempt`() throws {
        let harness = try Harness()
        let run = try harness.joined()
        harness.apns = { _ in .retry(nil, "send-before", after: 500, wasSent: false) }
        let update = try harness.update(run, "{\"n\":1}", expiration: 0)
        harness.apns = { _ in .ok }
        try harness.advance(seconds: 1)
        #expect(harness.counts(update) == .of(delivered: 1))
    }

    @Test func `is no older than what another message to it already said`() throws {
        let harness = try Harness()
        let run = try harness.joined()
        harness.apns = { _ in nil }
        try harness.update(run, "{\"n\":2}", timestamp: harness.now.wallSeconds)
        let older = try harness.update(run, "{\"n\":1}", timestamp: harness.now.wallSeconds - 5)
        #expect(harness.counts(older) == .of(superseded: 1))
    }
}
