import Contracts
import Service
import Testing

@testable import token_registry

@Suite struct `A message to one token` {
    private func send(
        _ harness: Harness, _ kind: Command.Kind, _ token: String, run: Int64? = nil, state: String = "{}",
        apnsID: String? = nil
    ) throws -> Int64 {
        try harness.send(
            harness.command(kind, run: run, audience: .token(token), state: state, activity: token) {
                $0.apnsID = apnsID
            })
    }

    @Test(arguments: Life.allCases)
    func `goes to the participant that holds it`(life: Life) throws {
        let harness = try Harness(life)
        let run = try harness.running()
        let update = try send(
            harness, .update, Token.a, run: run, apnsID: "6f9619ff-8b86-4011-b42d-00c04fc964ff")
        #expect(harness.counts(update) == .of(delivered: 1))
        let push = try #require(harness.sent.last)
        #expect(push.target.token == Token.a)
        #expect(push.target.apnsID == "6f9619ff-8b86-4011-b42d-00c04fc964ff")
        #expect(try harness.rowCount("device") == 1)
    }

    @Test(arguments: Life.allCases)
    func `that nobody registered is an activity of its own`(life: Life) throws {
        let harness = try Harness(life)
        let first = try send(harness, .update, Token.a, state: "{\"n\":1}")
        let second = try send(harness, .update, Token.a, run: first, state: "{\"n\":2}")
        #expect(harness.states == ["{\"n\":1}"])
        try harness.advance(seconds: 15)
        #expect(harness.counts(second) == .of(delivered: 1))
        let end = try send(harness, .end, Token.a, run: first)
        #expect(harness.counts(end) == .of(delivered: 1))
        let late = try send(harness, .update, Token.a, run: first)
        #expect(harness.counts(late) == .of(superseded: 1))
        #expect(harness.factKinds.contains(.participantEnded))
    }

    @Test func `ends one participant of a run, not the run`() throws {
        let harness = try Harness()
        let run = try harness.joined(Token.a, "dev-1")
        try harness.activityToken(Token.b, run: run, "dev-2")
        let end = try send(harness, .end, Token.a, run: run)
        #expect(harness.counts(end) == .of(delivered: 1))
        let update = try harness.update(run, "{\"n\":1}")
        #expect(harness.counts(update) == .of(delivered: 1))
        #expect(harness.sent.last?.target.token == Token.b)
    }

    @Test func `starts the device that holds it, else one of its own`() throws {
        let harness = try Harness()
        try harness.startToken(Token.startA, "dev-1", type: "Other")
        let known = try send(harness, .start, Token.startA)
        let guest = try send(harness, .start, Token.startB)
        #expect(harness.sent.map(\.target.token) == [Token.startA, Token.startB])
        #expect(harness.counts(known) == .of(delivered: 1))
        #expect(harness.counts(guest) == .of(delivered: 1))
        #expect(try harness.rowCount("device") == 2)
        #expect(Set(harness.sent.map(\.target.collapseID)).count == 2)
        let again = try send(harness, .start, Token.startB)
        #expect(harness.counts(again) == .of(delivered: 1))
        #expect(try harness.rowCount("device") == 2)
        #expect(harness.sent[2].target.collapseID != harness.sent[1].target.collapseID)
    }

    @Test func `is taken by a device that registers it`() throws {
        let harness = try Harness()
        let own = try send(harness, .update, Token.a)
        let run = try harness.joined(Token.a)
        let update = try harness.update(run, "{\"n\":1}")
        try harness.advance(seconds: 14)
        #expect(harness.counts(update) != .of(delivered: 1), "the phone has its pace, whoever pushes to it")
        try harness.advance(seconds: 1)
        #expect(harness.counts(update) == .of(delivered: 1))
        #expect(try harness.participant(own, Token.a)?.state == .ended)
        let byToken = try send(harness, .update, Token.a, run: run, state: "{\"n\":2}")
        try harness.advance(seconds: 16)
        #expect(harness.counts(byToken) == .of(delivered: 1))
        #expect(harness.sent.last?.target.participant == harness.sent[1].target.participant)
    }

    @Test func `leaves nothing older behind it for the device that registers its token`() throws {
        let harness = try Harness()
        let run = try harness.joined(Token.b)
        try harness.update(run, "{\"n\":1}")
        let older = try harness.update(run, "{\"n\":2}")
        _ = try send(harness, .update, Token.a, state: "{\"n\":3}")
        try harness.activityToken(Token.a, run: run)
        try harness.advance(seconds: 16)
        #expect(harness.counts(older) == .of(superseded: 1))
        #expect(harness.sent.map(\.target.token) == [Token.b, Token.a])
    }

    @Test func `leaves nothing older behind it while APNs has not answered either`() throws {
        let harness = try Harness()
        let run = try harness.joined(Token.b)
        try harness.update(run, "{\"n\":1}")
        let older = try harness.update(run, "{\"n\":2}")
        harness.apns = { _ in nil }
        let newer = try send(harness, .update, Token.a, state: "{\"n\":3}")
        try harness.activityToken(Token.a, run: run)
        harness.apns = { _ in .ok }
        try harness.advance(seconds: 16)
        #expect(harness.counts(older) == .of(superseded: 1))
        try harness.answer(try #require(harness.unanswered.first), .ok)
        #expect(harness.counts(newer) == .of(delivered: 1))
        #expect(harness.states == ["{\"n\":1}", "{\"n\":3}"])
    }

    @Test func `begins anew after eight hours`() throws {
        let harness = try Harness()
        let first = try send(harness, .update, Token.a)
        try harness.advance(seconds: 28_801)
        let second = try send(harness, .update, Token.a)
        #expect(harness.counts(second) == .of(delivered: 1))
        #expect(try harness.participant(first, Token.a)?.state == .ended)
        try harness.advance(seconds: 43_300)
        #expect(try harness.rowCount("device") == 0)
        #expect(try harness.rowCount("participant") == 0)
    }

    @Test func `that died is told to ingest`() throws {
        let harness = try Harness()
        harness.apns = { _ in .failed(410, "Unregistered") }
        try harness.advance(seconds: 1)
        let update = try send(harness, .update, Token.a)
        #expect(harness.counts(update) == .of(failed: 1))
        #expect(harness.factKinds == [.tokenDied, .runEmpty])
        #expect(harness.facts[1]?.token == Token.a)
        let late = try send(harness, .update, Token.a)
        #expect(harness.counts(late) == .of(unreachable: 1))
    }
}

@Suite struct `A query` {
    private func ask(_ harness: Harness, _ kind: Query.Kind, _ application: String = Harness.app) throws
        -> Answer.Content?
    {
        harness.forgetEffects()
        try harness.take(.query(Query(id: 5, application: application, kind: kind)))
        return harness.messages.compactMap {
            if case .answer(let answer) = $0 { answer.content } else { nil }
        }.first
    }

    @Test func `of deliveries is answered in pages`() throws {
        let harness = try Harness()
        let devices = ["a", "b", "c"]
        for (n, device) in devices.enumerated() { try harness.startToken(Token.number(n), device) }
        let start = try harness.start(devices)
        guard
            case .deliveries(let first)? = try ask(harness, .deliveries(message: start, after: 0, limit: 2)),
            let last = first.last,
            case .deliveries(let rest)? = try ask(
                harness, .deliveries(message: start, after: last.deviceNumber, limit: 2))
        else {
            Issue.record("no answer")
            return
        }
        #expect((first + rest).map(\.device) == devices)
        #expect((first + rest).map(\.state) == Array(repeating: "delivered", count: 3))
        #expect((first + rest).map(\.apnsID) == harness.sent.map(\.target.apnsID))
        #expect(
            try ask(harness, .deliveries(message: start, after: 0, limit: 9), "OTHER-00001")
                == .deliveries(lines: []))
        #expect(try ask(harness, .deliveries(message: 999, after: 0, limit: 9)) == .deliveries(lines: []))
    }

    @Test func `of what is missing names messages that are not there, not there whole, or another's`() throws
    {
        let harness = try Harness()
        let run = try harness.running()
        let update = try harness.update(run, "{}")
        let broken = harness.command(.start, audience: .devices(["dev-1", "dev-2"]))
        try harness.take(
            .batch(
                Batch(
                    pass: Pass(epoch: 2, number: 9), index: 1, last: true, recipients: ["dev-2"],
                    command: broken)), from: Harness.segmenter)
        let asked = [update, broken.sequence, 999]
        #expect(
            try ask(harness, .missing(messages: asked)) == .missing(messages: [broken.sequence, 999]))
        #expect(try ask(harness, .missing(messages: asked), "OTHER-00001") == .missing(messages: asked))
    }

    @Test func `of participants shows states, and tokens shortened`() throws {
        let harness = try Harness()
        let run = try harness.running()
        try harness.update(run, "{}")
        guard
            case .participants(let lines, let newest)? = try ask(
                harness, .participants(run: run, after: 0, limit: 9))
        else {
            Issue.record("no answer")
            return
        }
        #expect(lines.map(\.state) == ["active"])
        #expect(lines.first?.tokenStart == "a1a1a1a1")
        #expect(lines.first?.lastOutcome == "delivered")
        #expect(lines.first?.lastSentAtMilliseconds == Harness.epoch)
        #expect(newest?.contentState == "{}")
        #expect(newest?.event == .update)
        #expect(
            try ask(harness, .participants(run: run, after: 0, limit: 9), "OTHER-00001")
                == .participants(lines: []))
    }

    private func newest(_ harness: Harness, _ run: Int64) throws -> String? {
        guard
            case .participants(_, let newest)? = try ask(
                harness, .participants(run: run, after: 0, limit: 9))
        else { return nil }
        return newest?.contentState
    }

    private func cancel(_ harness: Harness, _ message: Int64, run: Int64) throws {
        var command = harness.command(.cancel, run: run)
        command.cancelledMessage = message
        try harness.send(command)
    }

    @Test func `shows no state as the newest that a taken-back one had replaced`() throws {
        let harness = try Harness()
        let run = try harness.joined()
        try harness.update(run, "{\"n\":1}")
        let replaced = try harness.update(run, "{\"n\":2}")
        let taken = try harness.update(run, "{\"n\":3}")
        #expect(try newest(harness, run) == "{\"n\":3}", "it waits for its slot")
        try cancel(harness, taken, run: run)
        #expect(harness.counts(replaced) == .of(superseded: 1))
        #expect(try newest(harness, run) == "{\"n\":1}", "what the phone shows")
        try harness.advance(seconds: 20)
        #expect(harness.states == ["{\"n\":1}"])
    }

    @Test func `shows a state that was taken back from some as the newest if others had it by then`() throws {
        let harness = try Harness()
        let run = try harness.joined(Token.a, "dev-1")
        try harness.activityToken(Token.b, run: run, "dev-2")
        harness.apns = { $0.target.token == Token.a ? .ok : nil }
        let update = try harness.update(run, "{\"n\":1}")
        try cancel(harness, update, run: run)
        #expect(try newest(harness, run) == "{\"n\":1}")
    }

    @Test func `shows a state for which there is no token as the newest until it expires`() throws {
        let harness = try Harness()
        let run = try harness.joined()
        try harness.update(run, "{\"n\":1}")
        try harness.advance(seconds: 20)
        harness.apns = { _ in .failed(410, "Unregistered") }
        try harness.update(run, "{\"n\":2}", expiration: harness.now.wallSeconds + 60)
        #expect(try newest(harness, run) == "{\"n\":2}", "a new token gets it")
        try harness.advance(seconds: 60)
        #expect(try newest(harness, run) == "{\"n\":1}")
    }

    @Test(arguments: Life.allCases)
    func `shows all that waits for a paused application as paused, and nothing afterwards`(life: Life) throws
    {
        let harness = try Harness(life)
        let run = try harness.joined(Token.a, "dev-1")
        try harness.activityToken(Token.b, run: run, "dev-2")
        try harness.activityToken(Token.number(3), run: run, "dev-3")
        func reasons(_ message: Int64) throws -> [String?] {
            guard
                case .deliveries(let lines)? = try ask(
                    harness, .deliveries(message: message, after: 0, limit: 9))
            else { return [] }
            return lines.map { "\($0.state) \($0.reason ?? "-")" }
        }
        harness.apns = { $0.target.token == Token.a ? nil : .ok }
        let update = try harness.update(run, "{\"n\":1}")
        let next = try harness.update(run, "{\"n\":2}")
        #expect(try reasons(next) == Array(repeating: "waiting -", count: 3))
        try harness.send(harness.command(.pause))
        try harness.answer(
            try #require(harness.unanswered.first), .retry(nil, "paused", wasSent: false))
        #expect(try reasons(update) == ["superseded newer-state", "delivered -", "delivered -"])
        #expect(try reasons(next) == Array(repeating: "waiting paused", count: 3))
        let last = try harness.update(run, "{\"n\":3}")
        #expect(try reasons(last) == Array(repeating: "waiting paused", count: 3))
        try harness.send(harness.command(.resume))
        #expect(try reasons(last).dropFirst() == ["waiting -", "waiting -"])
    }

    @Test func `shows what was given back by a pause as paused only while that lasts`() throws {
        let harness = try Harness()
        let run = try harness.joined()
        harness.apns = { _ in nil }
        let update = try harness.update(run, "{\"n\":1}")
        func reason() throws -> String? {
            guard
                case .deliveries(let lines)? = try ask(
                    harness, .deliveries(message: update, after: 0, limit: 9))
            else { return nil }
            return lines.first?.reason
        }
        try harness.send(harness.command(.pause))
        try harness.answer(
            try #require(harness.unanswered.first), .retry(nil, "paused", wasSent: false))
        #expect(try reason() == "paused")
        harness.room = Room(places: [], settledServices: [])
        try harness.send(harness.command(.resume))
        #expect(try reason() == nil)
    }

    @Test func `of what the registry does not keep is ignored`() throws {
        let harness = try Harness()
        #expect(try ask(harness, .tags(device: "dev-1")) == nil)
        #expect(harness.counted("ignored") == 1)
    }
}
