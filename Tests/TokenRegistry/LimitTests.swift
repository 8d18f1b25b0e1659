import Contracts
import Service
import Testing

@testable import token_registry

/// What is held in memory stays within its limits, and nothing is lost beyond them.
@Suite struct `A limit` {
    @Test func `of queues: an update that the next one replaces while its application is paused leaves none`()
        throws
    {
        var limits = Limits()
        limits.fanOutMin = 1
        let harness = try Harness(limits: limits)
        let run = try harness.joined(Token.number(1), "dev-1")
        for n in 2...5 { try harness.activityToken(Token.number(n), run: run, "dev-\(n)") }
        try harness.send(harness.command(.pause))
        var last: Int64 = 0
        for n in 1...50 { last = try harness.update(run, "{\"n\":\(n)}") }
        #expect(harness.core.queueCount == 1)
        try harness.send(harness.command(.resume))
        #expect(harness.counts(last) == .of(delivered: 5))
        #expect(harness.states == Array(repeating: "{\"n\":50}", count: 5))
    }

    @Test func `of queues that are held back: they take nothing of the turns of others`() throws {
        var limits = Limits()
        (limits.fanOutMin, limits.rowsPerTurn) = (0, 4)
        let harness = try Harness(limits: limits)
        var runs: [Int64] = []
        for n in 1...40 {
            runs.append(try harness.joined(Token.number(n), "dev-\(n)", activity: "act-\(n)"))
        }
        var profile = Profile()
        profile.environment = .sandbox
        try harness.register(.profile(profile), "dev-40")
        var pause = harness.command(.pause)
        pause.environment = .production
        try harness.send(pause)
        for run in runs.dropLast() { try harness.update(run, "{}") }
        harness.room = Room(places: [], settledServices: [])
        try harness.update(try #require(runs.last), "{\"free\":1}")
        #expect(harness.core.queueCount == 40)
        harness.forgetEffects()
        try harness.input(.turn(.boundless()))
        let targets = harness.messages.compactMap {
            if case .targets(let targets) = $0 { targets } else { nil }
        }
        #expect(targets.map(\.payload.contentState) == [Array("{\"free\":1}".utf8)])
    }

    @Test(arguments: Life.allCases)
    func `of messages that are gone through: the others stay in the ledger, and get their turn`(life: Life)
        throws
    {
        var limits = Limits()
        (limits.expandingMax, limits.fanOutMin) = (4, 2)
        let harness = try Harness(life, limits: limits)
        let single = try harness.joined(Token.number(0), "dev-0", activity: "single")
        let run = try harness.joined(Token.number(1), "dev-1")
        for n in 2...5 { try harness.activityToken(Token.number(n), run: run, "dev-\(n)") }
        // No turn between them.
        var sent: [Int64] = []
        for n in 1...30 {
            let command = harness.command(
                .update, run: n % 2 == 0 ? run : single, state: "{\"n\":\(n)}",
                activity: n % 2 == 0 ? "ord-12" : "single")
            sent.append(command.sequence)
            let batch = Batch(
                pass: Pass(epoch: 2, number: command.sequence), index: 0, last: true, recipients: [],
                command: command)
            try harness.input(.message(.batch(batch), from: Harness.segmenter))
        }
        #expect(harness.core.expandingCount <= 8)
        try harness.settle()
        try harness.advance(seconds: 20)
        #expect(sent.allSatisfy { harness.settled[$0] != nil })
        #expect(harness.counts(sent[28]) == .of(delivered: 1))
        #expect(harness.counts(sent[29]) == .of(delivered: 5))
    }

    @Test(arguments: Life.allCases)
    func `of starts that wait for another one of their device: those that have ended are none of them`(
        life: Life
    ) throws {
        let harness = try Harness(life)
        try harness.startToken(Token.startA)
        harness.apns = { _ in nil }
        func start(expiresIn seconds: Int64) throws -> Int64 {
            try harness.send(
                harness.command(
                    .start, audience: .devices(["dev-1"]), expiration: harness.now.wallSeconds + seconds),
                to: ["dev-1"])
        }
        let out = try start(expiresIn: 600)
        let waiting = try (1...5).map { _ in try start(expiresIn: 10) }
        let last = try start(expiresIn: 600)
        #expect(try harness.rowCount("start_wait") == 6)
        try harness.advance(seconds: 11)
        #expect(waiting.allSatisfy { harness.counts($0) == .of(expired: 1) })
        #expect(try harness.rowCount("start_wait") == 1)
        harness.apns = { _ in .ok }
        try harness.answer(try #require(harness.unanswered.first), .ok)
        #expect(harness.counts(out) == .of(delivered: 1))
        #expect(harness.counts(last) == .of(delivered: 1))
    }

    @Test func `of types: for one more the place that was registered longest ago is forgotten`() throws {
        var limits = Limits()
        limits.startTypesPerDeviceMax = 3
        let harness = try Harness(limits: limits)
        for type in ["a", "b", "c", "a", "d"] { try harness.startToken(Token.startA, type: type) }
        #expect(try harness.rowCount("start_token") == 3)
        let device = try #require(try harness.ledger.device(Harness.app, hwid: "dev-1"))
        let types = try ["a", "b", "c", "d"].filter {
            try harness.ledger.startPlace(device: device.number, type: $0) != nil
        }
        #expect(types == ["a", "c", "d"])
        try harness.startToken(Token.startB, "dev-2", type: "b")
        #expect(try harness.rowCount("start_token") == 4)
    }

    @Test func `of activities: for one more the oldest of the device ends`() throws {
        var limits = Limits()
        limits.activitiesPerDeviceMax = 3
        let harness = try Harness(limits: limits)
        var runs: [Int64] = []
        for n in 1...5 { runs.append(try harness.joined(Token.number(n), activity: "act-\(n)")) }
        let states = try runs.map { try harness.participant($0)?.state }
        #expect(states == [.ended, .ended, .active, .active, .active])
        // A new token for one of those that are left takes no more room.
        try harness.activityToken(Token.a, run: runs[4], activity: "act-5")
        #expect(try harness.participant(runs[2])?.state == .active)
        try harness.register(.unregister)
        #expect(try runs.allSatisfy { try harness.participant($0)?.state == .ended })
    }
}
