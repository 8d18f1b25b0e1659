import Contracts
import Service
import Testing

@testable import token_registry

@Suite struct `The end of an activity` {
    @Test(arguments: Life.allCases)
    func `lim-update-after-end: nothing follows an end, and a new start is a new run`(life: Life) throws {
        let harness = try Harness(life)
        let run = try harness.running()
        let end = try harness.end(run)
        #expect(harness.counts(end) == .of(delivered: 1))
        let update = try harness.update(run, "{\"n\":1}")
        let byToken = try harness.send(
            harness.command(.update, run: run, audience: .token(Token.a), state: "{}"))
        #expect(harness.counts(byToken) == .of(superseded: 1))
        #expect(harness.counts(update)?.delivered == 0)
        #expect(harness.sent.count == 2)
        #expect(harness.factKinds == [.participantEnded])
        let again = try harness.start()
        #expect(harness.counts(again) == .of(delivered: 1))
        try harness.activityToken(Token.a, run: run)
        #expect(try harness.participant(again)?.state == .starting)
        #expect(harness.sent.count == 3)
    }

    @Test(arguments: Life.allCases)
    func `waits for no budget and lets nothing follow`(life: Life) throws {
        let harness = try Harness(life)
        let run = try harness.joined()
        try harness.update(run, "{\"n\":1}")
        let waiting = try harness.update(run, "{\"n\":2}")
        let end = try harness.end(run)
        let late = try harness.update(run, "{\"n\":3}")
        #expect(harness.states == ["{\"n\":1}", "{\"end\":true}"])
        #expect(harness.sent.last?.at == Harness.epoch)
        #expect(harness.counts(end) == .of(delivered: 1))
        #expect(harness.counts(waiting) == .of(superseded: 1))
        #expect(harness.counts(late)?.delivered == 0)
        try harness.advance(seconds: 60)
        #expect(harness.sent.count == 2)
    }

    @Test func `is not superseded by a state that is newer`() throws {
        let harness = try Harness()
        let run = try harness.joined()
        let time = harness.now.wallSeconds
        try harness.update(run, "{\"n\":1}", timestamp: time)
        try harness.update(run, "{\"n\":2}", timestamp: time + 60)
        let end = try harness.send(harness.command(.end, run: run, timestamp: time - 60))
        #expect(harness.counts(end) == .of(delivered: 1))
    }

    @Test(arguments: Life.allCases)
    func `that finds its start unsent supersedes it and reaches nobody`(life: Life) throws {
        let harness = try Harness(life)
        try harness.startToken(Token.startA)
        harness.room = Room(places: [], settledServices: [])
        let run = try harness.start()
        let end = try harness.end(run)
        harness.room = .boundless()
        try harness.settle()
        #expect(harness.counts(run) == .of(superseded: 1))
        #expect(harness.counts(end) == .of(unreachable: 1))
        #expect(try harness.row(end)?.reason == "never-started")
        #expect(harness.sent.isEmpty)
    }

    @Test(arguments: Life.allCases)
    func `that finds its start on the way waits for its report`(life: Life) throws {
        for (answer, isHeld) in [(Answered.ok, true), (.retry(503, "ServiceUnavailable"), false)] {
            let harness = try Harness(life)
            try harness.startToken(Token.startA)
            harness.apns = { _ in nil }
            let run = try harness.start()
            let end = try harness.end(run)
            #expect(harness.counts(end) == nil)
            try harness.answer(try #require(harness.unanswered.first), answer)
            #expect((harness.counts(end) == nil) == isHeld)
            #expect(harness.counts(run) == (isHeld ? .of(delivered: 1) : .of(superseded: 1)))
            try harness.advance(seconds: 601)
            #expect(harness.counts(end) == .of(unreachable: 1))
            #expect(harness.sent.count == 1)
        }
    }

    @Test func `of a start that may be on the phone waits for the token`() throws {
        let harness = try Harness()
        try harness.startToken(Token.startA)
        harness.apns = { _ in .retry(nil, "no-answer", after: 5_000) }
        let run = try harness.start()
        let end = try harness.end(run)
        #expect(harness.counts(run) == .of(superseded: 1))
        #expect(harness.counts(end) == nil)
        harness.apns = { _ in .ok }
        try harness.activityToken(Token.a, run: run)
        #expect(harness.counts(end) == .of(delivered: 1))
    }

    @Test func `is kept with a run that has not been seen yet`() throws {
        let harness = try Harness()
        try harness.startToken(Token.startA)
        let start = harness.command(.start, audience: .devices(["dev-1"]))
        let end = try harness.end(start.sequence)
        #expect(harness.counts(end) == .of())
        try harness.send(start, to: ["dev-1"])
        #expect(harness.counts(start.sequence) == .of(superseded: 1))
        #expect(harness.sent.isEmpty)
    }

    @Test func `goes to a participant whose token comes after it`() throws {
        let harness = try Harness()
        let run = try harness.joined(Token.a, "dev-1")
        harness.apns = { _ in nil }
        let end = try harness.end(run)
        harness.apns = { _ in .ok }
        try harness.activityToken(Token.b, run: run, "dev-2")
        try harness.answer(try #require(harness.unanswered.first), .ok)
        #expect(harness.counts(end) == .of(delivered: 2))
        #expect(harness.sent.map(\.target.token) == [Token.a, Token.b])
    }

    @Test func `goes to a participant that comes back while it is not settled`() throws {
        let harness = try Harness()
        let run = try harness.joined(Token.a, "dev-1")
        try harness.activityToken(Token.b, run: run, "dev-2")
        try harness.activityToken("", run: run, "dev-2")
        harness.apns = { $0.target.token == Token.a ? nil : .ok }
        let end = try harness.end(run)
        try harness.activityToken(Token.b, run: run, "dev-2")
        try harness.answer(try #require(harness.unanswered.first), .ok)
        #expect(harness.counts(end) == .of(delivered: 2))
    }

    @Test(arguments: Life.allCases)
    func `goes to the token that follows the one it died at`(life: Life) throws {
        let harness = try Harness(life)
        let run = try harness.joined(Token.a)
        harness.apns = { $0.target.token == Token.a ? .failed(410, "Unregistered") : .ok }
        let end = try harness.end(run)
        #expect(harness.counts(end) == .of(failed: 1))
        try harness.activityToken(Token.b, run: run)
        #expect(harness.counts(end) == .of(delivered: 1))
        try harness.activityToken(Token.b, run: run)
        #expect(harness.sent.map(\.target.token) == [Token.a, Token.b])
        #expect(try harness.participant(run)?.state == .ended)
    }

    @Test(arguments: Life.allCases)
    func `goes to a participant that comes back, in place of what it missed`(life: Life) throws {
        let harness = try Harness(life)
        let run = try harness.joined(Token.a)
        harness.apns = { _ in .failed(410, "Unregistered") }
        try harness.update(run, "{\"n\":1}")
        let end = try harness.end(run)
        #expect(harness.counts(end) == .of())
        harness.apns = { _ in .ok }
        try harness.activityToken(Token.b, run: run)
        #expect(harness.counts(end) == .of(delivered: 1))
        #expect(harness.states == ["{\"n\":1}", "{\"end\":true}"])
    }

    @Test(arguments: Life.allCases)
    func `goes to a participant that the door had accepted before it was settled`(life: Life) throws {
        let harness = try Harness(life)
        let run = try harness.joined(Token.a, "dev-1")
        let end = try harness.end(run)
        #expect(harness.counts(end) == .of(delivered: 1))
        try harness.activityToken(Token.b, run: run, "dev-2")
        #expect(harness.counts(end) == .of(delivered: 2))
        #expect(harness.sent.map(\.target.token) == [Token.a, Token.b])
    }

    @Test func `of a run is said once and a second one is superseded`() throws {
        let harness = try Harness()
        let run = try harness.joined()
        harness.apns = { _ in nil }
        try harness.end(run)
        let second = try harness.end(run)
        #expect(harness.counts(second) == .of(superseded: 1))
    }
}
