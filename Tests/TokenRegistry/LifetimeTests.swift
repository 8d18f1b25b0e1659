import Contracts
import Service
import Testing

@testable import token_registry

@Suite struct `The life of an activity` {
    @Test func `ends for updates after eight hours`() throws {
        let harness = try Harness()
        let run = try harness.joined()
        try harness.advance(seconds: 28_800)
        let update = try harness.update(run, "{}")
        #expect(harness.counts(update) == .of(expired: 1))
        #expect(try harness.row(update)?.reason == "activity-over")
        let end = try harness.end(run)
        #expect(harness.counts(end) == .of(delivered: 1))
    }

    @Test(arguments: Life.allCases)
    func `is forgotten after twelve hours, with all that belongs to it`(life: Life) throws {
        let harness = try Harness(life)
        let run = try harness.running()
        try harness.update(run, "{\"n\":1}")
        try harness.end(run)
        let guest = try harness.send(harness.command(.update, audience: .token(Token.b), activity: Token.b))
        #expect(harness.counts(guest) == .of(delivered: 1))
        try harness.start(["nobody-registered"])
        try harness.advance(seconds: 43_201)
        for table in [
            "run", "participant", "message", "content", "delivery", "pass", "batch", "fact", "start_wait",
        ] {
            #expect(try harness.rowCount(table) == 0, "\(table)")
        }
        #expect(try harness.rowCount("device") == 1)
        #expect(try harness.rowCount("start_token") == 1)
        #expect(harness.core.nextTurnMilliseconds(after: harness.now) == nil)
    }

    @Test func `that is over settles what still waits`() throws {
        let harness = try Harness()
        let run = try harness.joined()
        try harness.send(harness.command(.pause))
        let update = try harness.update(run, "{}", expiration: harness.now.wallSeconds + 100_000)
        try harness.advance(seconds: 43_201)
        #expect(harness.counts(update) == .of(expired: 1))
        try harness.advance(seconds: 60)
        #expect(try harness.rowCount("message") == 0)
    }

    @Test func `is remembered until ingest has noted what became of its messages`() throws {
        let harness = try Harness()
        let run = try harness.joined()
        harness.ingestNotes = false
        let update = try harness.update(run, "{}")
        try harness.advance(seconds: 43_300)
        #expect(try harness.rowCount("message") == 1)
        try harness.take(.noted(Noted([.taken(message: update), .settled(message: update, revision: 0)])))
        try harness.advance(seconds: 120)
        #expect(try harness.rowCount("message") == 0)
        #expect(try harness.rowCount("run") == 0)
    }

    @Test func `db-history-cleaned: a run is forgotten in small steps, also across a crash`() throws {
        let harness = try Harness(limits: Limits(rowsPerTurn: 10))
        let run = try harness.joined(Token.number(0), "dev-0")
        for n in 1..<60 { try harness.activityToken(Token.number(n), run: run, "dev-\(n)") }
        let update = try harness.update(run, "{}")
        #expect(harness.counts(update) == .of(delivered: 60))
        harness.now = harness.now.advanced(byMilliseconds: 43_000_000)
        let younger = try harness.joined(Token.number(60), "dev-60", activity: "ord-13")
        harness.now = harness.now.advanced(byMilliseconds: 201_000)
        var seen: [Int64] = []
        for turn in 0..<40 {
            try harness.input(.turn(harness.room))
            seen.append(try harness.rowCount("delivery") + harness.rowCount("participant"))
            if turn == 3 { try harness.restart() }
        }
        #expect(zip(seen, seen.dropFirst()).allSatisfy { $0 - $1 <= 10 })
        #expect(seen.last == 1, "the phone of the activity that runs")
        let command = harness.command(.update, run: younger, activity: "ord-13")
        #expect(try harness.counts(harness.send(command)) == .of(delivered: 1))
    }

    @Test func `lim-no-leak: nothing is left of activities that are over`() throws {
        let harness = try Harness()
        let rounds = 50
        for round in 0..<rounds {
            try harness.startToken(Token.number(round), "dev-\(round)")
            let run = try harness.start(["dev-\(round)"])
            try harness.activityToken(Token.number(1_000 + round), run: run, "dev-\(round)")
            try harness.update(run, "{}")
            try harness.end(run)
        }
        #expect(harness.sent.count == 3 * rounds)
        try harness.advance(seconds: 43_300)
        #expect(try harness.rowCount("run") == 0)
        #expect(try harness.rowCount("delivery") == 0)
        #expect(try harness.rowCount("participant") == 0)
        #expect(try harness.rowCount("start_token WHERE token IS NOT NULL") == Int64(rounds))
        #expect(harness.core.nextTurnMilliseconds(after: harness.now) == nil)
    }
}
