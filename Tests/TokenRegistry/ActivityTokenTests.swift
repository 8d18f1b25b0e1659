import Contracts
import Service
import Testing

@testable import token_registry

@Suite struct `An activity token` {
    @Test(arguments: Life.allCases)
    func `of an activity that the app started makes a participant`(life: Life) throws {
        let harness = try Harness(life)
        let run = try harness.joined()
        #expect(try harness.participant(run)?.state == .active)
        let update = try harness.update(run, "{\"n\":1}")
        #expect(harness.counts(update) == .of(delivered: 1))
    }

    @Test(arguments: Life.allCases)
    func `that is empty says that the person dismissed the activity`(life: Life) throws {
        let harness = try Harness(life)
        let run = try harness.joined()
        try harness.update(run, "{\"n\":1}")
        let waiting = try harness.update(run, "{\"n\":2}")
        let sequence = try harness.activityToken("", run: run)
        #expect(harness.counts(waiting) == .of(unreachable: 1))
        #expect(harness.factKinds == [.participantEnded, .runEmpty])
        #expect(harness.facts[1]?.token == Token.a)
        #expect(harness.facts.values.allSatisfy { $0.registrationSequence == sequence && $0.run == run })
        let later = try harness.update(run, "{\"n\":3}")
        #expect(harness.counts(later) == .of())
    }

    @Test func `that is empty and the first word of a device is remembered`() throws {
        let harness = try Harness()
        let run = try harness.joined()
        let message = Message.registration(
            Registration(
                sequence: 90, application: Harness.app, device: "dev-2",
                change: .activityToken(ActivityToken(token: Token.b, activity: "ord-12", run: run)),
                acceptedAtMilliseconds: harness.now.wall))
        let dismissed = Message.registration(
            Registration(
                sequence: 91, application: Harness.app, device: "dev-2",
                change: .activityToken(ActivityToken(token: "", activity: "ord-12", run: run)),
                acceptedAtMilliseconds: harness.now.wall))
        try harness.take(dismissed)
        try harness.take(message)
        #expect(try harness.participant(run, "dev-2")?.state == .ended)
    }

    @Test func `that is empty soon after the first is taken for the activity before`() throws {
        let harness = try Harness()
        let first = try harness.joined(Token.a)
        try harness.end(first)
        let second = try harness.joined(Token.b)
        try harness.advance(seconds: 5)
        try harness.activityToken("", run: second)
        #expect(try harness.participant(second)?.state == .active)
        try harness.advance(seconds: 6)
        try harness.activityToken("", run: second)
        #expect(try harness.participant(second)?.state == .ended)
    }

    @Test(arguments: Life.allCases)
    func `is taken by the device that registers it last`(life: Life) throws {
        let harness = try Harness(life)
        let run = try harness.joined(Token.a, "old")
        try harness.update(run, "{\"n\":1}")
        let waiting = try harness.update(run, "{\"n\":2}")
        try harness.activityToken(Token.a, run: run, "new")
        #expect(harness.counts(waiting) == .of(unreachable: 1))
        #expect(try harness.participant(run, "old")?.state == .ended)
        try harness.update(run, "{\"n\":3}")
        #expect(harness.sent.count == 1, "it is the same phone, restored, and has its pace")
        try harness.advance(seconds: 15)
        #expect(harness.states == ["{\"n\":1}", "{\"n\":3}"])
        #expect(harness.factKinds == [])
    }

    @Test(arguments: Life.allCases)
    func `that comes after its update was given up opens the newest state again`(life: Life) throws {
        let harness = try Harness(life)
        try harness.startToken(Token.startA)
        let run = try harness.start()
        let old = try harness.update(run, "{\"n\":1}")
        let new = try harness.update(run, "{\"n\":2}")
        try harness.advance(seconds: 700)
        #expect(harness.settled[new]?.revision == 0)
        #expect(harness.counts(new) == .of(unreachable: 1))
        try harness.activityToken(Token.a, run: run)
        #expect(harness.states.last == "{\"n\":2}")
        #expect(harness.settled[new]?.revision == 1)
        #expect(harness.counts(new) == .of(delivered: 1))
        #expect(harness.counts(old) == .of(superseded: 1))
    }

    @Test func `that comes after its update has expired opens nothing`() throws {
        let harness = try Harness()
        try harness.startToken(Token.startA)
        let run = try harness.start()
        try harness.update(run, "{\"n\":1}")
        try harness.advance(seconds: 3_700)
        try harness.activityToken(Token.a, run: run)
        #expect(harness.sent.count == 1)
    }

    @Test func `of a participant that came later gets no older message`() throws {
        let harness = try Harness()
        let run = try harness.joined(Token.a)
        try harness.update(run, "{\"n\":1}")
        try harness.activityToken(Token.b, run: run, "dev-2")
        try harness.advance(seconds: 60)
        #expect(harness.sent.count == 1)
    }

    @Test(arguments: Life.allCases)
    func `that died gives way to the one registered meanwhile`(life: Life) throws {
        let harness = try Harness(life)
        let run = try harness.joined(Token.a)
        harness.apns = { _ in nil }
        let update = try harness.update(run, "{\"n\":1}")
        try harness.advance(seconds: 1)
        try harness.activityToken(Token.b, run: run)
        harness.apns = { _ in .ok }
        try harness.answer(
            try #require(harness.unanswered.first), .failed(410, "Unregistered", at: harness.now.wall))
        #expect(harness.sent.map(\.target.token) == [Token.a, Token.b])
        #expect(harness.counts(update) == .of(delivered: 1))
        #expect(try harness.participant(run)?.state == .active)
    }

    @Test(arguments: Life.allCases)
    func `that follows one that died gets what came in between`(life: Life) throws {
        let harness = try Harness(life)
        let run = try harness.joined(Token.a)
        try harness.activityToken(Token.number(2), run: run, "dev-2")
        harness.apns = { $0.target.token == Token.a ? .failed(410, "Unregistered") : .ok }
        let first = try harness.update(run, "{\"n\":1}")
        try harness.advance(seconds: 20)
        try harness.update(run, "{\"n\":2}")
        let newest = try harness.update(run, "{\"n\":3}")
        try harness.advance(seconds: 20)
        #expect(harness.counts(newest) == .of(delivered: 1))
        try harness.activityToken(Token.b, run: run)
        #expect(harness.sent.filter { $0.target.token == Token.b }.map(\.state) == ["{\"n\":3}"])
        #expect(harness.counts(newest) == .of(delivered: 2))
        #expect(harness.counts(first) == .of(delivered: 1, failed: 1))
    }

    @Test func `that follows one that died gets nothing older than what has expired`() throws {
        let harness = try Harness()
        let run = try harness.joined(Token.a)
        harness.apns = { _ in .failed(410, "Unregistered") }
        try harness.update(run, "{\"n\":1}")
        try harness.update(run, "{\"n\":2}", expiration: harness.now.wallSeconds + 10)
        try harness.advance(seconds: 20)
        harness.apns = { _ in .ok }
        try harness.activityToken(Token.b, run: run)
        #expect(harness.states == ["{\"n\":1}"])
    }

    @Test func `that died is compared with the hand-over where APNs names no time`() throws {
        let harness = try Harness()
        let run = try harness.joined(Token.a)
        harness.apns = { _ in nil }
        try harness.update(run, "{\"n\":1}")
        try harness.advance(seconds: 1)
        try harness.activityToken(Token.a, run: run)
        try harness.answer(try #require(harness.unanswered.first), .failed(410, "Unregistered"))
        #expect(try harness.participant(run)?.place.usable == Token.a)
        harness.apns = { _ in .failed(410, "Unregistered") }
        try harness.update(run, "{\"n\":2}")
        #expect(try harness.participant(run)?.place.usable == nil)
        #expect(harness.factKinds == [.tokenDied, .runEmpty])
        harness.apns = { _ in .ok }
        try harness.advance(milliseconds: 1)
        try harness.activityToken(Token.a, run: run)
        #expect(harness.factKinds == [.tokenDied, .runEmpty, .tokenLives])
        #expect(harness.states.last == "{\"n\":2}", "a token that lives again gets the newest state")
    }

    @Test func `of a start that died gives way to one without a type`() throws {
        let harness = try Harness()
        try harness.startToken(Token.startA, type: "Order")
        try harness.startToken(Token.startB, type: nil)
        harness.apns = { $0.target.token == Token.startA ? .failed(410, "Unregistered") : .ok }
        try harness.advance(seconds: 1)
        let start = try harness.start()
        #expect(harness.counts(start) == .of(delivered: 1))
        #expect(harness.sent.map(\.target.token) == [Token.startA, Token.startB])
        #expect(harness.factKinds == [.tokenDied])
    }

    @Test func `is ignored after eight hours`() throws {
        let harness = try Harness()
        let run = try harness.joined(Token.a)
        try harness.advance(seconds: 28_800)
        try harness.activityToken(Token.b, run: run)
        #expect(harness.logs.contains("token-ignored"))
        #expect(try harness.participant(run)?.place.token == Token.a)
    }
}
