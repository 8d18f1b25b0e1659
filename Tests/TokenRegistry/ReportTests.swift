import Contracts
import Service
import Testing

@testable import token_registry

@Suite struct `A report` {
    /// A push that is out, unanswered.
    private func pushed(_ harness: Harness, expiration: Int64? = nil) throws -> (run: Int64, push: Sent) {
        let run = try harness.joined()
        harness.apns = { _ in nil }
        try harness.update(run, "{\"n\":1}", expiration: expiration)
        harness.apns = { _ in .ok }
        return (run, try #require(harness.unanswered.first))
    }

    @Test func `is noted back to its sender, also for what is not known`() throws {
        let harness = try Harness()
        let id = PushID(message: 99, device: 1)
        let report = Report(
            id: id, attempt: 3, application: Harness.app, environment: .production, result: .delivered)
        try harness.take(.report(report), from: Harness.gateway)
        #expect(
            harness.effects.contains(
                .send(.noted(Noted([.report(id, attempt: 3)])), to: .instance(Harness.gateway.instance))))
        #expect(harness.counted("ignored") == 1)
    }

    @Test func `of another application changes nothing`() throws {
        let harness = try Harness()
        let (_, push) = try pushed(harness)
        var report = Report(
            id: push.target.id, attempt: 1, application: "OTHER-00001", environment: .production,
            result: .delivered)
        report.sentAtMilliseconds = harness.now.wall
        try harness.take(.report(report), from: Harness.gateway)
        #expect(harness.counts(push.target.id.message) == nil)
    }

    @Test(arguments: Life.allCases)
    func `of a hand-over that is over changes nothing`(life: Life) throws {
        let harness = try Harness(life)
        let (_, push) = try pushed(harness)
        harness.apns = { _ in nil }
        try harness.answer(push, .retry(503, "ServiceUnavailable"))
        #expect(harness.sent.count == 2)
        try harness.answer(push, .failed(413, "PayloadTooLarge"))
        #expect(harness.counts(push.target.id.message) == nil)
        try harness.answer(try #require(harness.unanswered.last), .ok)
        #expect(harness.counts(push.target.id.message) == .of(delivered: 1))
    }

    @Test(arguments: Life.allCases)
    func `that says delivered replaces any other outcome`(life: Life) throws {
        let harness = try Harness(life)
        let (_, push) = try pushed(harness)
        let message = push.target.id.message
        try harness.answer(push, .failed(413, "PayloadTooLarge"))
        #expect(harness.counts(message) == .of(failed: 1))
        try harness.answer(push, .ok)
        #expect(harness.counts(message) == .of(delivered: 1))
        #expect(harness.settled[message]?.revision == 1)
        try harness.answer(push, .ok)
        #expect(harness.settled[message]?.revision == 1)
    }

    @Test func `that says delivered of an earlier attempt leaves the later one out until its report`() throws
    {
        let harness = try Harness()
        let (run, push) = try pushed(harness)
        harness.apns = { _ in nil }
        try harness.answer(push, .retry(nil, "no-answer"))
        let again = try #require(harness.unanswered.last)
        try harness.answer(push, .ok)
        let next = try harness.update(run, "{\"n\":2}")
        try harness.advance(seconds: 20)
        #expect(harness.sent.count == 2)
        harness.apns = { _ in .ok }
        try harness.answer(again, .ok)
        try harness.advance(seconds: 20)
        #expect(harness.counts(next) == .of(delivered: 1))
        #expect(harness.counts(push.target.id.message) == .of(delivered: 1))
    }

    @Test(arguments: Life.allCases)
    func `that asks to come again keeps id and bytes for thirty seconds`(life: Life) throws {
        for (delay, isSame) in [(Int64(10), true), (31, false)] {
            let harness = try Harness(life)
            let (_, push) = try pushed(harness)
            try harness.answer(push, .retry(503, "ServiceUnavailable", after: delay * 1000))
            try harness.advance(seconds: delay)
            #expect(harness.sent.count == 2)
            #expect(harness.sent[1].at == Harness.epoch + delay * 1000)
            #expect(harness.sent[1].target.apnsID == push.target.apnsID)
            #expect(harness.sent[1].target.attempt == 2)
            #expect((harness.sent[1].wire == push.wire) == isSame)
        }
    }

    @Test func `that came to nothing never lets the wire's time go back`() throws {
        let harness = try Harness()
        let (run, push) = try pushed(harness)
        try harness.answer(push, .retry(nil, "no-answer", after: 500))
        try harness.update(run, "{\"n\":2}")
        try harness.advance(seconds: 1)
        #expect(harness.states == ["{\"n\":1}", "{\"n\":2}"])
        #expect(harness.sent[1].wire > push.wire)
    }

    @Test func `that asks to come again after the expiration ends the row`() throws {
        let harness = try Harness()
        let (_, push) = try pushed(harness, expiration: harness.now.wallSeconds + 10)
        try harness.advance(seconds: 11)
        try harness.answer(push, .retry(503, "ServiceUnavailable"))
        #expect(harness.counts(push.target.id.message) == .of(expired: 1))
    }

    @Test func `that asks to come again later than the expiration waits until that`() throws {
        let harness = try Harness()
        let (_, push) = try pushed(harness, expiration: harness.now.wallSeconds + 10)
        try harness.answer(push, .retry(503, "ServiceUnavailable", after: 60_000))
        try harness.advance(seconds: 11)
        #expect(harness.counts(push.target.id.message) == .of(expired: 1))
    }

    @Test func `of a limiter that runs alone may say expired or superseded`() throws {
        for (result, counts) in [
            (Report.Result.expired, OutcomeCounts.of(expired: 1)), (.superseded, .of(superseded: 1)),
        ] {
            let harness = try Harness()
            let (_, push) = try pushed(harness)
            try harness.answer(push, Answered(result: result, status: nil, wasSent: false))
            #expect(harness.counts(push.target.id.message) == counts)
        }
    }

    @Test(arguments: Life.allCases)
    func `that nobody will write any more is waited for until its push is surely over`(life: Life) throws {
        let harness = try Harness(life)
        let (_, push) = try pushed(harness)
        try harness.input(
            .lost([.push(push.target.id, attempt: 1)], at: Harness.limiter.instance, .gone))
        try harness.advance(seconds: 49)
        #expect(harness.sent.count == 1)
        try harness.advance(seconds: 2)
        #expect(harness.sent.map(\.target.attempt) == [1, 2])
        #expect(harness.counts(push.target.id.message) == .of(delivered: 1))
    }

    @Test func `that is lost although its limiter only started anew is still awaited`() throws {
        let harness = try Harness()
        let (_, push) = try pushed(harness)
        try harness.input(
            .lost([.push(push.target.id, attempt: 1)], at: Harness.limiter.instance, .newLife))
        try harness.advance(seconds: 100)
        #expect(harness.sent.count == 1)
        try harness.answer(push, .ok)
        #expect(harness.counts(push.target.id.message) == .of(delivered: 1))
    }

    @Test func `with times that nobody can reckon with breaks nothing`() throws {
        let harness = try Harness()
        let (run, push) = try pushed(harness)
        var report = Report(
            id: push.target.id, attempt: 1, application: Harness.app, environment: .production,
            result: .retry)
        report.retryAtMilliseconds = .max
        report.sentAtMilliseconds = .max
        report.wireTimestampSeconds = .max
        try harness.take(.report(report), from: Harness.gateway)
        let update = try harness.update(run, "{\"n\":2}")
        try harness.advance(seconds: 3_700)
        #expect(harness.counts(update) == .of(expired: 1))
    }

    @Test func `of a delivery commits the pace`() throws {
        let harness = try Harness()
        let (run, push) = try pushed(harness)
        try harness.answer(push, .ok)
        let pace = try #require(try harness.participant(run)).pace
        #expect(pace.fullAtMilliseconds == Harness.epoch + 15_000)
        #expect(pace.lastOrder == push.target.order)
        #expect(pace.lastWireSeconds == push.wire)
    }
}

@Suite struct `A cancel` {
    private func cancel(_ harness: Harness, _ message: Int64, run: Int64) throws -> Int64 {
        var command = harness.command(.cancel, run: run)
        command.cancelledMessage = message
        return try harness.send(command)
    }

    @Test(arguments: Life.allCases)
    func `settles what has not been handed over`(life: Life) throws {
        let harness = try Harness(life)
        let run = try harness.joined()
        try harness.update(run, "{\"n\":1}")
        let waiting = try harness.update(run, "{\"n\":2}")
        let cancel = try cancel(harness, waiting, run: run)
        #expect(harness.isTaken(cancel))
        #expect(harness.counts(waiting) == .of(cancelled: 1))
        try harness.advance(seconds: 30)
        #expect(harness.sent.count == 1)
    }

    @Test(arguments: Life.allCases)
    func `leaves a row that is out to its report`(life: Life) throws {
        for (answer, counts) in [
            (Answered.ok, OutcomeCounts.of(delivered: 1)),
            (.retry(503, "ServiceUnavailable"), .of(cancelled: 1)),
        ] {
            let harness = try Harness(life)
            let run = try harness.joined()
            harness.apns = { _ in nil }
            let update = try harness.update(run, "{\"n\":1}")
            _ = try cancel(harness, update, run: run)
            #expect(harness.counts(update) == nil)
            try harness.answer(try #require(harness.unanswered.first), answer)
            #expect(harness.counts(update) == counts)
            #expect(harness.sent.count == 1)
        }
    }

    @Test func `of a start takes its participants back`() throws {
        let harness = try Harness()
        try harness.startToken(Token.startA)
        harness.room = Room(places: [], settledServices: [])
        let run = try harness.start()
        _ = try cancel(harness, run, run: run)
        #expect(harness.counts(run) == .of(cancelled: 1))
        #expect(try harness.participant(run)?.state == .ended)
        #expect(harness.factKinds == [.runEmpty])
    }

    @Test(arguments: Life.allCases)
    func `of a message that has not come is remembered`(life: Life) throws {
        let harness = try Harness(life)
        try harness.startToken(Token.startA)
        let start = harness.command(.start, audience: .devices(["dev-1"]))
        let cancel = try cancel(harness, start.sequence, run: start.sequence)
        #expect(harness.isTaken(cancel) && harness.isTaken(start.sequence))
        #expect(harness.counts(start.sequence) == .of())
        try harness.send(start, to: ["dev-1"])
        #expect(harness.sent.isEmpty)
        #expect(harness.factKinds == [.runEmpty])
    }

    @Test func `ends a pass that is under way`() throws {
        let harness = try Harness()
        harness.room = Room(places: [], settledServices: [])
        try harness.startToken(Token.startA)
        let start = harness.command(.start, audience: .devices([]))
        let first = Batch(
            pass: Pass(epoch: 2, number: 1), index: 0, last: false, recipients: ["dev-1"], command: start)
        try harness.take(.batch(first), from: Harness.segmenter)
        _ = try cancel(harness, start.sequence, run: start.sequence)
        #expect(harness.counts(start.sequence) == .of(cancelled: 1))
        var second = first
        second.index = 1
        second.recipients = ["dev-2"]
        try harness.take(.batch(second), from: Harness.segmenter)
        #expect(try harness.rowCount("delivery") == 1)
    }

    @Test func `of an activity still gone through ends that`() throws {
        let harness = try Harness(limits: Limits(rowsPerTurn: 2))
        let run = try harness.joined(Token.number(0), "dev-0")
        for n in 1..<9 { try harness.activityToken(Token.number(n), run: run, "dev-\(n)") }
        harness.room = Room(places: [], settledServices: [])
        let update = harness.command(.update, run: run)
        let batch = Batch(
            pass: Pass(epoch: 2, number: 1), index: 0, last: true, recipients: [], command: update)
        try harness.input(.message(.batch(batch), from: Harness.segmenter))
        try harness.input(.turn(harness.room))
        _ = try cancel(harness, update.sequence, run: run)
        let counts = try #require(harness.counts(update.sequence))
        #expect(counts.cancelled == counts.total)
        #expect(counts.total < 9)
    }

    @Test func `of an end is refused`() throws {
        let harness = try Harness()
        let run = try harness.joined()
        harness.room = Room(places: [], settledServices: [])
        let end = try harness.end(run)
        _ = try cancel(harness, end, run: run)
        harness.room = .boundless()
        try harness.settle()
        #expect(harness.counts(end) == .of(delivered: 1))
    }
}
