import Contracts
import Service
import Store
import Testing

@testable import token_registry

@Suite struct `What ingest is told` {
    @Test func `is sent again by a new life until it is noted`() throws {
        let harness = try Harness()
        harness.ingestNotes = false
        let run = try harness.joined()
        let update = try harness.update(run, "{}")
        try harness.activityToken("", run: run)
        harness.forgetEffects()
        try harness.restart()
        #expect(harness.isTaken(update))
        #expect(harness.messages.filter { $0.type == .settled }.count == 1)
        #expect(harness.messages.filter { $0.type == .fact }.count == 2)
        try harness.take(
            .noted(
                Noted([
                    .taken(message: update), .settled(message: update, revision: 0), .fact(number: 1),
                    .fact(number: 2), .registered(sequence: 1, by: .tokenRegistry),
                ])))
        harness.forgetEffects()
        try harness.restart()
        #expect(harness.messages.isEmpty)
    }

    @Test(arguments: [Command.Kind.cancel, .pause, .resume])
    func `of a command that is no message is sent again too, until it is noted`(kind: Command.Kind) throws {
        let harness = try Harness()
        harness.ingestNotes = false
        let run = try harness.joined()
        let update = try harness.update(run, "{}")
        var command = harness.command(kind, run: run)
        if kind == .cancel { command.cancelledMessage = update }
        try harness.send(command)
        harness.forgetEffects()
        try harness.restart()
        #expect(harness.isTaken(command.sequence))
        try harness.take(.noted(Noted([.taken(message: command.sequence)])))
        harness.forgetEffects()
        try harness.restart()
        #expect(!harness.isTaken(command.sequence))
        #expect(try harness.rowCount("control") == 0)
    }

    @Test func `of a former revision being noted does not note the present one`() throws {
        let harness = try Harness()
        harness.ingestNotes = false
        let run = try harness.joined()
        harness.apns = { _ in nil }
        let update = try harness.update(run, "{}")
        let push = try #require(harness.unanswered.first)
        try harness.answer(push, .failed(413, "PayloadTooLarge"))
        try harness.answer(push, .ok)
        try harness.take(.noted(Noted([.settled(message: update, revision: 0)])))
        harness.forgetEffects()
        try harness.restart()
        #expect(
            harness.messages.contains {
                if case .settled(let news) = $0 { news.revision == 1 } else { false }
            })
    }

    @Test func `is never more than a bounded number at a time`() throws {
        var limits = Limits()
        limits.underWayMax = 4
        let harness = try Harness(limits: limits)
        harness.ingestNotes = false
        for n in 0..<10 {
            let run = try harness.joined(Token.number(n), "dev-\(n)", activity: "a-\(n)")
            try harness.activityToken("", run: run, "dev-\(n)", activity: "a-\(n)")
        }
        func facts() -> Set<Int64> {
            Set(harness.messages.compactMap { if case .fact(let fact) = $0 { fact.number } else { nil } })
        }
        #expect(facts() == [1, 2, 3, 4])
        harness.ingestNotes = true
        try harness.take(.noted(Noted((1...4).map { .fact(number: $0) })))
        #expect(facts() == Set(1...20))
        #expect(try harness.rowCount("fact") == 0)
    }

    @Test func `of an empty run rests on the newest registration of a token`() throws {
        let harness = try Harness()
        let run = try harness.joined(Token.a, "dev-1")
        try harness.activityToken(Token.b, run: run, "dev-2")
        try harness.activityToken("", run: run, "dev-2")
        #expect(harness.factKinds == [.participantEnded])
        let last = try harness.activityToken("", run: run, "dev-1")
        #expect(harness.factKinds == [.participantEnded, .participantEnded, .runEmpty])
        #expect(harness.facts[3]?.registrationSequence == last)
    }

    @Test func `of an empty run rests also on a registration that was ignored`() throws {
        let harness = try Harness()
        let run = try harness.joined(Token.a, "dev-1")
        try harness.activityToken(Token.b, run: run, "dev-1", registeredAt: harness.now.wallSeconds)
        let ignored = try harness.activityToken(
            Token.a, run: run, "dev-1", registeredAt: harness.now.wallSeconds - 60)
        harness.apns = { [unowned harness] _ in .failed(410, "Unregistered", at: harness.now.wall + 1_000) }
        try harness.update(run, "{}")
        let said = harness.facts.values.first { $0.kind == .runEmpty }
        #expect(said?.registrationSequence == ignored)
    }

    @Test func `of a run that is filled and emptied again is said again`() throws {
        let harness = try Harness()
        let run = try harness.joined(Token.a)
        try harness.activityToken("", run: run)
        try harness.activityToken(Token.b, run: run)
        try harness.activityToken("", run: run)
        #expect(harness.factKinds == [.participantEnded, .runEmpty, .participantEnded, .runEmpty])
    }

    @Test func `does not say a run empty before its start is complete`() throws {
        let harness = try Harness()
        try harness.startToken(Token.startA)
        harness.apns = { _ in .failed(413, "PayloadTooLarge") }
        let start = harness.command(.start, audience: .devices([]))
        func batch(_ index: Int, _ recipients: [String]) -> Message {
            .batch(
                Batch(
                    pass: Pass(epoch: 2, number: 1), index: index, last: index == 1, recipients: recipients,
                    command: start))
        }
        try harness.take(batch(0, ["dev-1"]), from: Harness.segmenter)
        #expect(harness.sent.count == 1)
        #expect(harness.factKinds == [])
        try harness.take(batch(1, ["dev-2"]), from: Harness.segmenter)
        #expect(harness.factKinds == [.runEmpty])
    }
}

@Suite struct `A message that is settled` {
    @Test(arguments: Life.allCases)
    func `is told again to a journal that is a copy of former days`(life: Life) throws {
        let harness = try Harness(life)
        let run = try harness.joined()
        let update = harness.command(.update, run: run)
        try harness.send(update)
        #expect(harness.counts(update.sequence) == .of(delivered: 1))
        harness.forgetEffects()
        try harness.send(update, pass: 99)
        #expect(harness.isTaken(update.sequence))
        #expect(harness.messages.contains { $0.type == .settled })
        harness.forgetEffects()
        try harness.restart()
        try harness.advance(seconds: 100)
        #expect(harness.messages.filter { $0.type == .settled }.isEmpty, "it is noted again")
        #expect(harness.sent.count == 1)
    }

    @Test func `is told again if the copy has it taken, and asks whether it is there`() throws {
        let harness = try Harness()
        let run = try harness.joined()
        let update = try harness.update(run, "{}")
        harness.apns = { _ in nil }
        let open = try harness.update(run, "{\"n\":2}")
        harness.forgetEffects()
        let kind = Query.Kind.missing(messages: [update, open, 99])
        try harness.take(.query(Query(id: 7, application: Harness.app, kind: kind)))
        #expect(harness.messages.contains(.answer(Answer(id: 7, content: .missing(messages: [99])))))
        let told = harness.messages.compactMap {
            if case .settled(let told) = $0 { told.message } else { nil }
        }
        #expect(told == [update])
    }

    @Test func `is told again if the copy cancels it`() throws {
        let harness = try Harness()
        let run = try harness.joined()
        let update = try harness.update(run, "{}")
        harness.forgetEffects()
        var cancel = harness.command(.cancel, run: run)
        cancel.cancelledMessage = update
        try harness.send(cancel)
        #expect(harness.isTaken(update) && harness.isTaken(cancel.sequence))
        #expect(harness.messages.filter { $0.type == .settled }.count == 1)
        #expect(harness.counts(update) == .of(delivered: 1))
    }
}

@Suite struct `The number of a fact` {
    private func next(_ ledger: Ledger) throws -> Int64 {
        try ledger.addFact(.tokenDied, application: Harness.app, token: "aa", run: nil, registration: 1)
            .number
    }

    @Test func `is higher in a new ledger than in one that was before it`() throws {
        let former = try Ledger(Database(.memory), seed: 1, openedAtSeconds: 1_800_000_000)
        var last: Int64 = 0
        for _ in 0..<100 { last = try next(former) }
        let new = try Ledger(Database(.memory), seed: 2, openedAtSeconds: 1_800_000_001)
        #expect(try next(new) > last)
    }

    @Test func `never goes back, whatever the clock says`() throws {
        let database = try Database(.memory)
        let first = try next(Ledger(database, seed: 1, openedAtSeconds: 1_800_000_000))
        #expect(try next(Ledger(database, seed: 1, openedAtSeconds: 1_700_000_000)) == first + 1)
        #expect(try next(Ledger(database, seed: 1)) == first + 2)
        #expect(try next(Ledger(database, seed: 1, openedAtSeconds: 1_800_000_001)) > first + 1_000_000)
    }
}

@Suite struct `A life of the registry` {
    @Test func `sends what was handed over again as it was`() throws {
        let harness = try Harness()
        let run = try harness.joined(Token.a, "dev-1")
        try harness.activityToken(Token.b, run: run, "dev-2")
        harness.apns = { _ in nil }
        try harness.update(run, "{\"n\":1}", alert: "\"a\"")
        func targets() -> [Targets] {
            harness.messages.compactMap { if case .targets(let targets) = $0 { targets } else { nil } }
        }
        let before = targets()
        harness.forgetEffects()
        try harness.restart()
        try harness.advance(seconds: 3)
        #expect(targets() == before)
        harness.forgetEffects()
        try harness.advance(seconds: 60)
        #expect(targets().isEmpty, "once in a life")
    }

    @Test func `sends all of it again without waiting for anything else`() throws {
        let harness = try Harness()
        let run = try harness.joined(Token.number(0), "dev-0")
        for n in 1..<40 { try harness.activityToken(Token.number(n), run: run, "dev-\(n)") }
        harness.apns = { _ in nil }
        try harness.update(run, "{}")
        harness.forgetEffects()
        try harness.restart()
        try harness.settle()
        let devices = harness.messages.flatMap { message in
            if case .targets(let targets) = message { targets.targets.map(\.id.device) } else { [Int64]() }
        }
        #expect(devices.count == 40 && Set(devices).count == 40)
    }

    @Test func `waits for what a limiter had that is not there any more`() throws {
        let harness = try Harness()
        let run = try harness.joined()
        harness.apns = { _ in nil }
        let update = try harness.update(run, "{}")
        harness.room = Room(
            places: [.init(instance: InstanceName(.rateLimiter, 2), windows: Windows())],
            settledServices: [.rateLimiter])
        try harness.restart()
        try harness.settle()
        #expect(try harness.row(update)?.state == .waiting)
        #expect(try harness.row(update)?.notBefore == Harness.epoch + 50_000)
    }

    @Test func `waits for the report of what cannot be sent again, as its token is gone`() throws {
        let harness = try Harness()
        let run = try harness.joined()
        harness.apns = { _ in nil }
        let update = try harness.update(run, "{}")
        try harness.activityToken("", run: run)
        try harness.restart()
        try harness.advance(seconds: 49)
        #expect(try harness.row(update)?.state == .handedOver)
        try harness.advance(seconds: 2)
        #expect(harness.counts(update) == .of(unreachable: 1))
        try harness.answer(try #require(harness.unanswered.first), .ok)
        #expect(harness.counts(update) == .of(delivered: 1))
    }

    @Test func `keeps the seed of its first opening`() throws {
        let harness = try Harness()
        #expect(try Ledger(harness.ledger.database, seed: 7).seed == 42)
    }

    @Test func `that fails to commit leaves the ledger as it was`() throws {
        let harness = try Harness()
        let run = try harness.joined()
        let update = harness.command(.update, run: run)
        let batch = Batch(
            pass: Pass(epoch: 2, number: 1), index: 0, last: true, recipients: [], command: update)
        var ledger = harness.ledger
        var core = harness.core
        try ledger.begin()
        _ = try core.step(.message(.batch(batch), from: Harness.segmenter), at: harness.now, in: &ledger)
        try ledger.rollback()
        try harness.restart()
        #expect(try harness.rowCount("message") == 0)
        try harness.take(.batch(batch), from: Harness.segmenter)
        #expect(harness.counts(update.sequence) == .of(delivered: 1))
    }

    @Test func `knows what waits and what is full`() throws {
        let harness = try Harness(limits: Limits(rowsMax: 8))
        try harness.startToken(Token.startA)
        harness.room = Room(places: [], settledServices: [])
        let first = try harness.start()
        let second = try harness.start()
        try harness.restart()
        let third = try harness.start()
        #expect(harness.isTaken(first) && harness.isTaken(second))
        #expect(!harness.isTaken(third))
    }
}
