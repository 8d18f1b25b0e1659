import Contracts
import Service
import Testing

@testable import token_registry

@Suite struct `A pause` {
    private let production = Pause(application: Harness.app, environment: .production)

    /// An application whose first push met a fault.
    private func faulty(_ life: Life, _ answer: Answered) throws -> (Harness, run: Int64, message: Int64) {
        let harness = try Harness(life)
        let run = try harness.joined()
        harness.apns = { _ in answer }
        return (harness, run, try harness.update(run, "{\"n\":1}"))
    }

    @Test(arguments: Life.allCases)
    func `begins with a 403 and ends with the trial that succeeds`(life: Life) throws {
        let (harness, _, message) = try faulty(life, .retry(403, "InvalidProviderToken", after: 1_000))
        #expect(harness.core.paused == [production])
        #expect(harness.core.pauseReasons == [production: "InvalidProviderToken"])
        #expect(harness.logs.filter { $0 == "paused" }.count == 1)
        try harness.advance(seconds: 29)
        #expect(harness.sent.count == 1)
        try harness.advance(seconds: 2)
        #expect(harness.sent.map(\.target.trial) == [false, true])
        try harness.advance(seconds: 200)
        let seconds = harness.sent.map { ($0.at - Harness.epoch) / 1000 }
        #expect(seconds == [0, 30, 90, 210], "30 s, then at doubling times")
        harness.apns = { _ in .ok }
        try harness.advance(seconds: 241)
        #expect(harness.core.paused == [])
        #expect(harness.core.pauseReasons == [:])
        #expect(harness.counts(message) == .of(delivered: 1))
        #expect(harness.logs.filter { $0 == "paused" }.count == 1)
    }

    @Test(arguments: Life.allCases)
    func `ends with a trial whose token turns out dead, as APNs took key and topic`(life: Life) throws {
        let (harness, run, message) = try faulty(life, .retry(403, "InvalidProviderToken", after: 1_000))
        try harness.activityToken(Token.b, run: run, "other")
        #expect(harness.core.paused == [production])
        harness.apns = { _ in .failed(410, "Unregistered", at: Harness.epoch + 20_000) }
        try harness.advance(seconds: 31)
        #expect(harness.core.paused == [])
        #expect(harness.sent.map(\.target.trial) == [false, true])
        #expect(harness.counts(message) == .of(failed: 1))
        harness.apns = { _ in .ok }
        let next = try harness.update(run, "{\"n\":2}")
        try harness.advance(seconds: 1)
        #expect(harness.counts(next) == .of(delivered: 1), "the other phone of it")
    }

    @Test(arguments: [-60_000, 0, 60_000] as [Int64])
    func `does not end with the success of a push that went before, whatever is done to the clock`(
        step: Int64
    ) throws {
        let harness = try Harness()
        let run = try harness.joined()
        try harness.activityToken(Token.b, run: run, "other")
        harness.apns = {
            $0.target.token == Token.a ? nil : .retry(403, "InvalidProviderToken", after: 1_000)
        }
        try harness.update(run, "{}")
        #expect(harness.core.paused == [production])
        try harness.advance(seconds: 1)
        harness.now.wall += step
        var early = try #require(harness.unanswered.first)
        early.at -= 1
        try harness.answer(early, .ok)
        #expect(harness.core.paused == [production])
    }

    @Test(arguments: Life.allCases)
    func `tells the fault that its last trial met`(life: Life) throws {
        let (harness, _, _) = try faulty(life, .retry(403, "InvalidProviderToken", after: 1_000))
        harness.apns = { _ in .retry(403, "BadCertificate", after: 1_000) }
        try harness.advance(seconds: 31)
        #expect(harness.core.pauseReasons == [production: "BadCertificate"])
        #expect(harness.logs.filter { $0 == "paused" }.count == 1)
    }

    @Test func `is tried every fifteen minutes in the end`() throws {
        let harness = try Harness()
        let run = try harness.joined()
        harness.apns = { _ in .retry(403, "InvalidProviderToken") }
        try harness.update(run, "{}", expiration: harness.now.wallSeconds + 20_000)
        try harness.advance(seconds: 6_000)
        let gaps = zip(harness.sent.dropFirst(), harness.sent).map { ($0.at - $1.at) / 1000 }
        #expect(gaps.suffix(3) == [900, 900, 900])
    }

    @Test(arguments: ["TopicDisallowed", "no-key", "Forbidden", "BadCertificate"])
    func `begins with other faults of the configuration`(reason: String) throws {
        let status = reason == "TopicDisallowed" ? 400 : reason == "no-key" ? nil : 403
        let (harness, _, _) = try faulty(.one, .retry(status, reason, after: 1_000))
        #expect(harness.core.paused == [production])
    }

    @Test(arguments: ["ExpiredProviderToken", "UnrelatedKeyIdInToken"])
    func `does not begin with one that the next attempt may not meet`(reason: String) throws {
        let (harness, _, message) = try faulty(.one, .retry(403, reason, after: 1_000))
        #expect(harness.core.paused == [])
        try harness.advance(seconds: 2)
        #expect(harness.core.paused == [production])
        harness.apns = { _ in .ok }
        try harness.advance(seconds: 31)
        #expect(harness.counts(message) == .of(delivered: 1))
    }

    @Test(arguments: Life.allCases)
    func `begins at the twentieth bad token in a row, which drops the notes`(life: Life) throws {
        let harness = try Harness(life)
        var runs: [Int64] = []
        for n in 0..<20 { runs.append(try harness.joined(Token.number(n), "dev-\(n)", activity: "a-\(n)")) }
        let other = try harness.joined(Token.b, "other", activity: "b")
        harness.apns = { _ in .failed(400, "BadDeviceToken") }
        for run in runs.dropLast() { try harness.update(run, "{}") }
        #expect(harness.core.paused == [])
        #expect(try harness.rowCount("bad_token") == 19)
        try harness.update(try #require(runs.last), "{}")
        #expect(harness.core.paused == [production])
        #expect(try harness.rowCount("bad_token") == 0)
        harness.apns = { _ in .ok }
        let update = try harness.update(other, "{}")
        #expect(harness.counts(update) == nil)
        try harness.advance(seconds: 30)
        #expect(harness.counts(update) == .of(delivered: 1))
        #expect(try harness.participant(runs[0], "dev-0")?.place.usable != nil)
    }

    @Test func `sets a bad token aside unless it was registered again before the next success`() throws {
        let harness = try Harness()
        let bad = try harness.joined(Token.a, "dev-1", activity: "x")
        let good = try harness.joined(Token.b, "dev-2", activity: "y")
        harness.apns = { _ in .failed(400, "BadDeviceToken") }
        try harness.update(bad, "{}")
        try harness.advance(seconds: 1)
        harness.apns = { $0.target.token == Token.a ? nil : .ok }
        try harness.activityToken(Token.a, run: bad, activity: "x")
        try harness.update(good, "{}")
        #expect(try harness.participant(bad)?.place.usable == Token.a)
    }

    @Test func `holds back one environment alone`() throws {
        let harness = try Harness()
        var profile = Profile()
        profile.environment = .sandbox
        try harness.register(.profile(profile), "dev-2")
        let run = try harness.joined(Token.a, "dev-1")
        try harness.activityToken(Token.b, run: run, "dev-2")
        harness.apns = { $0.target.environment == .production ? .retry(403, "InvalidProviderToken") : .ok }
        try harness.update(run, "{\"n\":1}")
        try harness.update(run, "{\"n\":2}")
        try harness.advance(seconds: 20)
        #expect(harness.sent.filter { $0.target.environment == .sandbox }.count == 2)
        #expect(harness.sent.filter { $0.target.environment == .production }.count == 1)
    }

    @Test func `takes back what limiter and gateway give back unsent`() throws {
        let harness = try Harness()
        let run = try harness.joined(Token.a, "dev-1")
        try harness.activityToken(Token.b, run: run, "dev-2")
        harness.apns = { _ in nil }
        let update = try harness.update(run, "{}")
        let pushes = harness.unanswered
        try harness.answer(pushes[0], .retry(403, "InvalidProviderToken"))
        try harness.answer(pushes[1], .retry(nil, "paused", wasSent: false))
        harness.apns = { _ in .ok }
        try harness.advance(seconds: 29)
        #expect(harness.sent.count == 2)
        try harness.advance(seconds: 1)
        #expect(harness.counts(update) == .of(delivered: 2))
        #expect(harness.sent.map(\.target.trial) == [false, false, true, false])
    }

    @Test func `is not ended by what was sent before it`() throws {
        let harness = try Harness()
        let run = try harness.joined(Token.a, "dev-1")
        try harness.activityToken(Token.b, run: run, "dev-2")
        harness.apns = { _ in nil }
        try harness.update(run, "{}")
        let pushes = harness.unanswered
        try harness.advance(seconds: 1)
        try harness.answer(pushes[0], .retry(403, "InvalidProviderToken"))
        try harness.answer(pushes[1], .ok)
        #expect(harness.core.paused == [production])
    }

    @Test func `is tried at once when the configuration is read again`() throws {
        let (harness, _, message) = try faulty(.one, .retry(403, "InvalidProviderToken"))
        try harness.advance(seconds: 5)
        harness.apns = { _ in .ok }
        harness.core.reload(harness.configuration)
        try harness.settle()
        #expect(harness.core.paused != [])
        try harness.advance(seconds: 1)
        #expect(harness.counts(message) == .of(delivered: 1))
        #expect(harness.core.paused == [])
    }

    @Test(arguments: Life.allCases)
    func `is tried once more after the same time when the trial comes back unsent`(life: Life) throws {
        let (harness, _, message) = try faulty(life, .retry(403, "InvalidProviderToken"))
        harness.apns = { _ in .retry(nil, "send-before", wasSent: false) }
        try harness.advance(seconds: 130)
        #expect(harness.sent.map { ($0.at - Harness.epoch) / 1000 } == [0, 30, 60, 90, 120])
        harness.apns = { _ in .retry(nil, "no-key", wasSent: false) }
        try harness.advance(seconds: 100)
        #expect(harness.sent.suffix(2).map { ($0.at - Harness.epoch) / 1000 } == [150, 210], "a judgement")
        harness.apns = { _ in .ok }
        try harness.advance(seconds: 130)
        #expect(harness.counts(message) == .of(delivered: 1))
    }

    @Test(arguments: Life.allCases)
    func `is tried once more after the same time when the trial meets trouble that says nothing of the fault`(
        life: Life
    ) throws {
        let (harness, _, message) = try faulty(life, .retry(403, "InvalidProviderToken"))
        harness.apns = { _ in .retry(503, "ServiceUnavailable", after: 1_000) }
        try harness.advance(seconds: 70)
        harness.apns = { _ in .retry(nil, "no-answer", after: 1_000) }
        try harness.advance(seconds: 60)
        #expect(harness.sent.map { ($0.at - Harness.epoch) / 1000 } == [0, 30, 60, 90, 120])
        #expect(harness.core.paused == [production])
        harness.apns = { _ in .ok }
        try harness.advance(seconds: 30)
        #expect(harness.counts(message) == .of(delivered: 1))
        #expect(harness.core.paused == [])
    }

    @Test(arguments: Life.allCases)
    func `is tried after a reload as soon as the trial that was out then is over`(life: Life) throws {
        let (harness, _, message) = try faulty(life, .retry(403, "InvalidProviderToken"))
        harness.apns = { _ in nil }
        try harness.advance(seconds: 31)
        let trial = try #require(harness.unanswered.first { $0.target.trial })
        harness.core.reload(harness.configuration)
        try harness.settle()
        try harness.advance(seconds: 5)
        #expect(harness.sent.count == 2, "one trial at a time")
        harness.apns = { _ in .ok }
        try harness.answer(trial, .retry(403, "InvalidProviderToken"))
        try harness.advance(seconds: 1)
        #expect(harness.counts(message) == .of(delivered: 1))
        #expect(harness.core.paused == [])
    }

    @Test(arguments: Life.allCases)
    func `of a person and a fault's end each by its own`(life: Life) throws {
        let (harness, _, message) = try faulty(life, .retry(403, "InvalidProviderToken"))
        harness.apns = { _ in .ok }
        try harness.send(harness.command(.pause))
        try harness.advance(seconds: 40)
        #expect(harness.sent.count == 1)
        try harness.send(harness.command(.resume))
        #expect(harness.core.paused == [])
        #expect(harness.sent.map(\.target.trial) == [false, true])
        #expect(harness.counts(message) == .of(delivered: 1))
    }

    @Test(arguments: Life.allCases)
    func `of a person is never tried and ends by resume alone`(life: Life) throws {
        let harness = try Harness(life)
        let run = try harness.joined()
        let pause = harness.command(.pause)
        try harness.send(pause)
        #expect(harness.isTaken(pause.sequence))
        #expect(harness.core.paused.map(\.environment) == [.production, .sandbox])
        let update = try harness.update(run, "{}")
        try harness.advance(seconds: 3_000)
        #expect(harness.sent.isEmpty)
        var resume = harness.command(.resume)
        resume.environment = .sandbox
        try harness.send(resume)
        #expect(harness.core.paused == [production])
        let resumeAll = harness.command(.resume)
        try harness.send(resumeAll)
        #expect(harness.core.paused == [])
        #expect(harness.counts(update) == .of(delivered: 1))
        try harness.send(pause)
        #expect(harness.core.paused == [], "an older word does not count")
    }

    @Test func `lets what waits expire`() throws {
        let harness = try Harness()
        let run = try harness.joined()
        try harness.send(harness.command(.pause))
        let update = try harness.update(run, "{}", expiration: harness.now.wallSeconds + 60)
        try harness.advance(seconds: 61)
        #expect(harness.counts(update) == .of(expired: 1))
    }
}
