import Contracts
import Service
import Testing

@testable import token_registry

@Suite struct `A batch` {
    private func batch(
        _ command: Command, _ recipients: [String], pass: Int64 = 1, index: Int = 0, last: Bool = true
    ) -> Message {
        .batch(
            Batch(
                pass: Pass(epoch: 2, number: pass), index: index, last: last, recipients: recipients,
                command: command))
    }

    @Test(arguments: Life.allCases)
    func `completes its message when every index of one pass is there, in any order`(life: Life) throws {
        let harness = try Harness(life)
        let command = harness.command(.start, audience: .devices([]))
        try harness.take(batch(command, ["a"], index: 2), from: Harness.segmenter)
        try harness.take(batch(command, ["b"], index: 0, last: false), from: Harness.segmenter)
        try harness.take(batch(command, ["b"], index: 0, last: false), from: Harness.segmenter)
        #expect(!harness.isTaken(command.sequence))
        #expect(harness.counts(command.sequence) == nil)
        try harness.take(batch(command, ["c"], index: 1, last: false), from: Harness.segmenter)
        #expect(harness.isTaken(command.sequence))
        #expect(harness.counts(command.sequence) == .of(unreachable: 3))
    }

    @Test func `of another pass is not counted with those of the first`() throws {
        let harness = try Harness()
        let command = harness.command(.start, audience: .devices([]))
        try harness.take(batch(command, ["a"], pass: 1, index: 0, last: false), from: Harness.segmenter)
        try harness.take(batch(command, ["b"], pass: 2, index: 1), from: Harness.segmenter)
        #expect(!harness.isTaken(command.sequence))
        try harness.take(batch(command, ["a"], pass: 2, index: 0, last: false), from: Harness.segmenter)
        #expect(harness.counts(command.sequence) == .of(unreachable: 2))
        #expect(try harness.rowCount("batch") == 0)
    }

    @Test func `of a complete message is answered and adds nothing`() throws {
        let harness = try Harness()
        let command = harness.command(.start, audience: .devices([]))
        try harness.take(batch(command, ["a"]), from: Harness.segmenter)
        harness.forgetEffects()
        try harness.take(batch(command, ["b"], pass: 7, index: 3, last: false), from: Harness.segmenter)
        let taken = Taken.batch(message: command.sequence, pass: Pass(epoch: 2, number: 7), index: 3)
        #expect(harness.effects.contains(.send(.taken(taken), to: .instance(Harness.segmenter.instance))))
        #expect(harness.isTaken(command.sequence))
        #expect(try harness.rowCount("delivery") == 1)
    }

    @Test func `that names a device twice adds it once`() throws {
        let harness = try Harness()
        try harness.startToken(Token.startA, "a")
        let start = try harness.start(["a", "a"])
        #expect(harness.counts(start) == .of(delivered: 1))
    }

    @Test func `of nobody settles its message at once`() throws {
        let harness = try Harness()
        let start = try harness.start([])
        #expect(harness.counts(start) == .of())
        #expect(harness.factKinds == [.runEmpty])
    }

    @Test(arguments: Life.allCases)
    func `of an activity is taken at once and becomes rows in turns`(life: Life) throws {
        let harness = try Harness(life, limits: Limits(rowsPerTurn: 100))
        let run = try harness.joined(Token.number(0), "dev-0")
        for n in 1..<260 { try harness.activityToken(Token.number(n), run: run, "dev-\(n)") }
        let before = try harness.rowCount("delivery")
        let update = harness.command(.update, run: run)
        try harness.input(.message(batch(update, []), from: Harness.segmenter))
        #expect(harness.isTaken(update.sequence))
        #expect(try harness.rowCount("delivery") == before)
        try harness.settle()
        #expect(harness.counts(update.sequence) == .of(delivered: 260))
    }

    @Test func `of recipients of an update reaches the participants among them`() throws {
        let harness = try Harness()
        let run = try harness.joined(Token.a, "in")
        let update = try harness.send(
            harness.command(.update, run: run, audience: .devices(["in", "out"])), to: ["in", "out"])
        #expect(harness.counts(update) == .of(delivered: 1, unreachable: 1))
        #expect(try harness.row(update, "out")?.reason == "no-participant")
    }

    @Test(arguments: Life.allCases)
    func `that does not fit is busy, for its application alone`(life: Life) throws {
        let harness = try Harness(life, limits: Limits(rowsMax: 16))
        harness.room = Room(places: [], settledServices: [])
        for n in 0..<6 { try harness.startToken(Token.number(n), "dev-\(n)") }
        let first = try harness.start(["dev-0", "dev-1", "dev-2", "dev-3"])
        let second = harness.command(.start, audience: .devices([]))
        try harness.take(batch(second, ["dev-4"], pass: 5), from: Harness.segmenter)
        let busy = Busy(message: second.sequence, pass: Pass(epoch: 2, number: 5), index: 0)
        #expect(harness.effects.contains(.send(.busy(busy), to: .instance(Harness.segmenter.instance))))
        #expect(try harness.rowCount("message") == 1)
        let other = harness.command(.start, audience: .devices([]), application: "OTHER-00001")
        try harness.take(batch(other, ["x"]), from: Harness.segmenter)
        #expect(harness.isTaken(other.sequence))
        #expect(harness.core.waiting == 4)
        harness.room = .boundless()
        try harness.settle()
        #expect(harness.core.waiting == 0)
        #expect(harness.counts(first) == .of(delivered: 4))
        try harness.take(batch(second, ["dev-4"], pass: 6), from: Harness.segmenter)
        #expect(harness.counts(second.sequence) == .of(delivered: 1))
    }

    @Test func `that replaces what waits, and an end, always fit`() throws {
        let harness = try Harness(limits: Limits(rowsMax: 4))
        let run = try harness.joined()
        let other = try harness.joined(Token.b, "dev-2", activity: "y")
        try harness.update(run, "{\"n\":1}")
        try harness.update(run, "{\"n\":2}")
        let replacing = try harness.update(run, "{\"n\":3}")
        #expect(harness.isTaken(replacing))
        harness.room = Room(places: [], settledServices: [])
        let refused = try harness.update(other, "{\"n\":1}")
        #expect(!harness.isTaken(refused))
        let end = try harness.end(other)
        #expect(harness.isTaken(end))
    }

    @Test func `counts the bytes of what waits`() throws {
        let harness = try Harness(limits: Limits(bytesMax: 4_000))
        harness.room = Room(places: [], settledServices: [])
        try harness.startToken(Token.startA)
        let big = "\"" + String(repeating: "x", count: 900) + "\""
        let first = try harness.start(["dev-1"], state: big)
        let second = try harness.start(["dev-1"], state: big)
        #expect(harness.isTaken(first))
        #expect(!harness.isTaken(second))
        harness.room = .boundless()
        try harness.settle()
        let third = try harness.start(["dev-1"], state: big)
        #expect(harness.isTaken(third))
    }

    @Test func `without a push is dropped and counted`() throws {
        let harness = try Harness()
        var command = harness.command(.update)
        command.notification = nil
        try harness.take(batch(command, []), from: Harness.segmenter)
        #expect(harness.counted("ignored") == 1)
        try harness.take(.taken(.command(message: 1)), from: Harness.segmenter)
        #expect(harness.counted("ignored") == 2)
    }

    @Test func `with numbers that nobody can reckon with is dropped and counted`() throws {
        let harness = try Harness()
        let run = try harness.joined()
        try harness.take(
            batch(harness.command(.update, run: run, expiration: .max), []), from: Harness.segmenter)
        var early = harness.command(.update, run: run)
        early.acceptedAtMilliseconds = .min
        try harness.take(batch(early, []), from: Harness.segmenter)
        var nameless = harness.command(.update, run: run)
        nameless.sequence = .min
        try harness.take(batch(nameless, []), from: Harness.segmenter)
        #expect(harness.counted("ignored") == 3)
        #expect(try harness.rowCount("message") == 0)
    }
}
