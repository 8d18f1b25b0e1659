import Contracts
import Service
import Testing

@testable import token_registry

@Suite struct `The hand-over` {
    @Test func `marks a row with its attempt and the time it may stay unsent`() throws {
        let harness = try Harness()
        let run = try harness.joined()
        harness.apns = { _ in nil }
        let update = try harness.update(run, "{}")
        let row = try #require(try harness.row(update))
        #expect(row.state == .handedOver)
        #expect(row.attempt == 1)
        #expect(row.sendBefore == Harness.epoch + 30_000)
        #expect(harness.sent.first?.target.sendBeforeMilliseconds == row.sendBefore)
        #expect(harness.core.nextTurnMilliseconds(after: harness.now).map { $0 > 30_000 } ?? true)
    }

    @Test func `groups the targets of one push`() throws {
        let harness = try Harness()
        let run = try harness.joined(Token.number(0), "dev-0")
        for n in 1..<10 { try harness.activityToken(Token.number(n), run: run, "dev-\(n)") }
        harness.forgetEffects()
        try harness.update(run, "{\"n\":1}", alert: "\"a\"")
        let targets = harness.messages.compactMap {
            if case .targets(let targets) = $0 { targets } else { nil }
        }
        #expect(targets.map(\.targets.count) == [10])
        #expect(targets.first?.payload.alert == Array("\"a\"".utf8))
    }

    @Test func `gives single recipients their turn while a fan-out goes`() throws {
        var limits = Limits()
        limits.rowsPerTurn = 40
        limits.rowsPerRound = 20
        limits.fanOutMin = 10
        let harness = try Harness(limits: limits)
        let crowd = (0..<200).map { "dev-\($0)" }
        for (n, device) in crowd.enumerated() { try harness.startToken(Token.number(n), device) }
        let single = try harness.joined(Token.a, "single", activity: "x")
        harness.room = Room(places: [], settledServices: [])
        try harness.start(crowd)
        try harness.update(single, "{\"single\":1}")
        harness.room = .boundless()
        try harness.settle()
        let place = try #require(harness.states.firstIndex(of: "{\"single\":1}"))
        #expect(place <= 60)
        #expect(harness.sent.count == 201)
    }

    @Test func `shares the turns between fan-outs`() throws {
        var limits = Limits()
        limits.rowsPerTurn = 40
        limits.rowsPerRound = 20
        limits.fanOutMin = 10
        let harness = try Harness(limits: limits)
        harness.room = Room(places: [], settledServices: [])
        for (name, state) in [("a", "1"), ("b", "2")] {
            let crowd = (0..<100).map { "\(name)-\($0)" }
            for (n, device) in crowd.enumerated() {
                try harness.startToken(Token.number(n) + name + name, device)
            }
            try harness.start(crowd, state: state)
        }
        harness.room = .boundless()
        try harness.settle()
        let firstHundred = harness.states.prefix(100)
        #expect(abs(firstHundred.filter { $0 == "1" }.count - 50) <= 20)
    }

    @Test func `sends no more than the limiter has room for`() throws {
        let harness = try Harness(limits: Limits(rowsPerTurn: 100))
        let crowd = (0..<100).map { "dev-\($0)" }
        for (n, device) in crowd.enumerated() { try harness.startToken(Token.number(n), device) }
        harness.room = .targets(30)
        harness.forgetEffects()
        harness.apns = { _ in nil }
        let command = harness.command(.start, audience: .devices(crowd))
        let batch = Batch(
            pass: Pass(epoch: 2, number: 1), index: 0, last: true, recipients: crowd, command: command)
        try harness.input(.message(.batch(batch), from: Harness.segmenter))
        try harness.input(.turn(harness.room))
        let targets = harness.messages.compactMap {
            if case .targets(let targets) = $0 { targets } else { nil }
        }
        #expect(targets.map(\.targets.count).reduce(0, +) == 15)
        #expect(harness.core.nextTurnMilliseconds(after: harness.now) != 0, "it waits for room, not for time")
    }

    @Test func `a batch of many is taken in over the turns, and single ones need not wait for it`() throws {
        let harness = try Harness(limits: Limits(rowsPerTurn: 50))
        let run = try harness.joined(Token.a, "other", activity: "y")
        let crowd = (0..<200).map { "dev-\($0)" }
        let command = harness.command(.start, audience: .devices(crowd))
        let batch = Batch(
            pass: Pass(epoch: 2, number: 1), index: 0, last: true, recipients: crowd, command: command)
        try harness.input(.message(.batch(batch), from: Harness.segmenter))
        try harness.input(.message(.batch(batch), from: Harness.segmenter))
        #expect(try harness.rowCount("delivery") == 0)
        harness.forgetEffects()
        let single = harness.command(.update, run: run, audience: .token(Token.a), state: "{}")
        let alone = Batch(
            pass: Pass(epoch: 2, number: 2), index: 0, last: true, recipients: [], command: single)
        try harness.input(.message(.batch(alone), from: Harness.segmenter))
        try harness.input(.turn(harness.room))
        let handedOver = harness.messages.compactMap {
            if case .targets(let targets) = $0 { targets.targets.map(\.id.message) } else { nil }
        }
        #expect(handedOver == [[single.sequence]])
        #expect(try harness.rowCount("delivery") == 51)
        #expect(!harness.isTaken(command.sequence))
        for _ in 0..<3 { try harness.input(.turn(harness.room)) }
        #expect(harness.isTaken(command.sequence))
        #expect(try harness.rowCount("delivery WHERE message = \(command.sequence)") == 200)
        let answers = harness.messages.filter { message in
            if case .taken(.batch(command.sequence, _, _)) = message { true } else { false }
        }
        #expect(answers.count == 1, "a batch that comes again while it is taken in is one batch")
    }

    @Test func `lets a fan-out rest for a multiple of what its turn took, while single rows go`() throws {
        let harness = try Harness(limits: Limits(rowsPerTurn: 50))
        let run = try harness.joined(Token.a, "other", activity: "y")
        let crowd = (0..<200).map { "dev-\($0)" }
        for (n, device) in crowd.enumerated() { try harness.startToken(Token.number(n), device) }
        let start = harness.command(.start, audience: .devices(crowd))
        let batch = Batch(
            pass: Pass(epoch: 2, number: 1), index: 0, last: true, recipients: crowd, command: start)
        try harness.input(.message(.batch(batch), from: Harness.segmenter))
        /// How many rows of the start have been taken in, and were handed over.
        func progress() throws -> [Int64] {
            let ofStart = "delivery WHERE message = \(start.sequence)"
            return [
                try harness.rowCount(ofStart),
                try harness.rowCount("\(ofStart) AND place = \(Place.handedOver)"),
            ]
        }
        func turn(after milliseconds: Int64) throws {
            harness.now = harness.now.advanced(byMilliseconds: milliseconds)
            try harness.input(.turn(harness.room))
        }
        harness.now = harness.now.advanced(byMilliseconds: harness.limits.fanOutRestRememberedMilliseconds)
        try turn(after: 0)
        try turn(after: 5)
        let free = try progress()
        #expect(free == [100, 50], "no single row has gone of late")

        let update = harness.command(.update, run: run, audience: .token(Token.a), state: "{}")
        let single = Batch(
            pass: Pass(epoch: 2, number: 2), index: 0, last: true, recipients: [], command: update)
        try harness.input(.message(.batch(single), from: Harness.segmenter))
        try turn(after: 0)
        #expect(try harness.rowCount("delivery WHERE message = \(update.sequence) AND place = 0") == 1)
        let before = try progress()
        #expect(harness.core.nextTurnMilliseconds(after: harness.now) == 0)
        try turn(after: 5)
        #expect(harness.core.nextTurnMilliseconds(after: harness.now) == 20)
        try turn(after: 19)
        #expect(try progress() == before)
        #expect(harness.core.nextTurnMilliseconds(after: harness.now) == 1)
        try turn(after: 1)
        #expect(try progress() != before)
        // However long a turn was, as of a machine that stood still, the rest stays short.
        try turn(after: 900)
        let longest = harness.limits.fanOutRestLongestMilliseconds
        #expect(harness.core.nextTurnMilliseconds(after: harness.now) == longest)
        try harness.restart()
        try harness.take(.batch(batch), from: Harness.segmenter)
        let all = try progress()
        #expect(all == [200, 0])
        #expect(harness.isTaken(start.sequence))
    }

    @Test func `waits until the limiters are settled`() throws {
        let harness = try Harness()
        let run = try harness.joined()
        harness.room = Room(
            places: [.init(instance: InstanceName(.rateLimiter), windows: Windows())], settledServices: [])
        try harness.update(run, "{}")
        #expect(harness.sent.isEmpty)
        harness.room = .boundless()
        try harness.settle()
        #expect(harness.sent.count == 1)
    }

    @Test func `treats a bounded number of rows in a turn`() throws {
        let harness = try Harness(limits: Limits(rowsPerTurn: 50))
        let crowd = (0..<200).map { "dev-\($0)" }
        for (n, device) in crowd.enumerated() { try harness.startToken(Token.number(n), device) }
        let command = harness.command(.start, audience: .devices(crowd))
        let batch = Batch(
            pass: Pass(epoch: 2, number: 1), index: 0, last: true, recipients: crowd, command: command)
        try harness.input(.message(.batch(batch), from: Harness.segmenter))
        try harness.input(.turn(harness.room))
        #expect(try harness.rowCount("delivery") == 50)
        harness.forgetEffects()
        try harness.input(.turn(harness.room))
        #expect(try harness.rowCount("delivery") == 100)
        let targets = harness.messages.compactMap {
            if case .targets(let targets) = $0 { targets } else { nil }
        }
        #expect(targets.map(\.targets.count) == [50])
        #expect(harness.core.nextTurnMilliseconds(after: harness.now) == 0)
    }

    @Test func `names queues by integers that can be read back`() {
        let places: [Place] = [
            .single(application: 1, .production), .single(application: 1, .sandbox),
            .single(application: 900, .sandbox), .fanOut(message: 1, .production),
            .fanOut(message: 1, .sandbox), .fanOut(message: 1 << 50, .production),
        ]
        #expect(places.map { Place($0.number) } == places)
        #expect(Set(places.map(\.number)).count == places.count)
        #expect(Place(Place.handedOver) == nil)
        #expect(!places.map(\.number).contains(Place.handedOver))
    }
}
