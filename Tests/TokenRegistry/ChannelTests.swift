import Contracts
import Service
import Testing

@testable import token_registry

/// An activity that is bound to a broadcast channel: two phones listen, one on iOS 17 is served by token.
@Suite struct `A channel` {
    static let channel = Channel(id: "dHN0LXNyY2gtY2hubA==", environment: .production, isStored: true)

    private func profile(_ version: String?, _ environment: APNsEnvironment? = nil) -> Registration.Change {
        var profile = Profile()
        profile.osVersion = version
        profile.environment = environment
        return .profile(profile)
    }

    private static let phones = [("ios18", "18.0"), ("ios26", "26.1"), ("ios17", "17.5")]

    /// Registers phones and starts an activity with a channel on them.
    private func started(_ harness: Harness, _ phones: [(String, String?)] = phones) throws -> Int64 {
        for (index, (hwid, version)) in phones.enumerated() {
            try harness.register(profile(version), hwid)
            try harness.startToken(Token.number(100 + index), hwid)
        }
        return try harness.send(start(harness, phones.map(\.0)), to: phones.map(\.0))
    }

    private func start(_ harness: Harness, _ hwids: [String], channel: Channel = channel) -> Command {
        var command = harness.command(.start, audience: .devices(hwids), state: #"{"step":1}"#) {
            $0.inputPushChannel = channel.id
        }
        command.channel = channel
        return command
    }

    @discardableResult
    private func change(
        _ harness: Harness, _ run: Int64?, _ state: String, _ kind: Command.Kind = .update,
        channel: Channel = channel, expiration: Int64? = nil
    ) throws -> Int64 {
        var command = harness.command(kind, run: run, state: state, expiration: expiration)
        command.channel = channel
        return try harness.send(command)
    }

    @Test(arguments: Life.allCases)
    func `gets one push for all who listen, and the others get theirs by token`(life: Life) throws {
        let harness = try Harness(life)
        let run = try started(harness)
        #expect(harness.counts(run) == .of(delivered: 3))
        #expect(
            harness.sent.map(\.notification.inputPushChannel) == [Self.channel.id, Self.channel.id, nil])
        #expect(harness.sent.map(\.notification.inputPushToken) == [nil, nil, "1"])
        try harness.activityToken(Token.a, run: run, "ios17")

        let update = try change(harness, run, #"{"step":2}"#)
        let pushes = harness.sent.suffix(2)
        #expect(harness.sent.count == 5)
        #expect(Set(pushes.map(\.target.token)) == ["", Token.a])
        #expect(pushes.compactMap(\.target.channel) == [Self.channel])
        #expect(pushes.allSatisfy { $0.target.channel == nil || $0.target.token.isEmpty })
        #expect(harness.counts(update) == .of(delivered: 2))

        try harness.advance(seconds: 20)
        let end = try change(harness, run, #"{"step":3}"#, .end)
        #expect(harness.sent.count == 7)
        #expect(harness.sent.suffix(2).compactMap(\.target.channel) == [Self.channel])
        #expect(harness.counts(end) == .of(delivered: 2))
        for (hwid, _) in Self.phones { #expect(try harness.participant(run, hwid)?.state == .ended) }
    }

    @Test func `is one participant with a pace, an order and a newest state`() throws {
        let harness = try Harness()
        let run = try started(harness, [("ios18", "18.0"), ("ios26", "26.1")])
        let second = try change(harness, run, #"{"step":2}"#)
        let third = try change(harness, run, #"{"step":3}"#)
        let fourth = try change(harness, run, #"{"step":4}"#)
        #expect(harness.states.suffix(1) == [#"{"step":2}"#])
        try harness.advance(seconds: 14)
        #expect(harness.sent.count == 3)
        try harness.advance(seconds: 1)
        #expect(harness.states.suffix(1) == [#"{"step":4}"#])
        #expect(harness.counts(second)?.delivered == 1)
        #expect(harness.counts(third)?.superseded == 1)
        #expect(harness.counts(fourth)?.delivered == 1)
        let late = harness.command(.update, run: run, state: "{}", timestamp: harness.now.wallSeconds - 200)
        try harness.send(late)
        #expect(harness.counts(late.sequence)?.superseded == 1)
    }

    @Test(arguments: [
        ("17.5", nil, false), (nil, nil, false), ("18.0", APNsEnvironment.sandbox, false), ("18", nil, true),
        ("26.0.1", APNsEnvironment.production, true),
    ])
    func `is for phones that say iOS 18, in its environment`(
        version: String?, environment: APNsEnvironment?, listens: Bool
    ) throws {
        let harness = try Harness()
        try harness.register(profile(version, environment))
        try harness.startToken(Token.startA)
        let run = try harness.send(start(harness, ["dev-1"]), to: ["dev-1"])
        #expect(harness.sent.first?.notification.inputPushChannel == (listens ? Self.channel.id : nil))
        #expect(try harness.participant(run)?.listens == listens)
        #expect(try harness.participant(run)?.state == (listens ? .active : .starting))
    }

    @Test func `is named by the caller at the Firebase door, whose phones have no version`() throws {
        let harness = try Harness()
        try harness.register(profile("17.5"), "old")
        try harness.startToken(Token.startB, "old")
        for token in [Token.startA, Token.startB] {
            let command = harness.command(.start, audience: .token(token), activity: token) {
                $0.inputPushChannel = Self.channel.id
            }
            try harness.send(command)
        }
        #expect(harness.sent.map(\.notification.inputPushChannel) == [Self.channel.id, nil])
    }

    @Test func `is later on the wire than the starts of its phones, also in the same second`() throws {
        let harness = try Harness()
        let run = try started(harness, [("ios18", "18.0")])
        try change(harness, run, #"{"step":2}"#)
        #expect(harness.sent.map(\.wire) == [harness.now.wallSeconds, harness.now.wallSeconds + 1])
    }

    // MARK: Starts that are late

    @Test(arguments: Life.allCases)
    func `waits for starts that are out with an older state`(life: Life) throws {
        let harness = try Harness(life)
        harness.apns = { $0.notification.event == .start ? nil : .ok }
        let run = try started(harness, [("ios18", "18.0"), ("ios26", "26.0")])
        let update = try change(harness, run, #"{"step":2}"#)
        #expect(harness.sent.count == 2)
        try harness.answer(harness.unanswered[0], .ok)
        #expect(harness.sent.count == 2)
        try harness.answer(harness.unanswered[0], .ok)
        #expect(harness.states.suffix(1) == [#"{"step":2}"#])
        #expect(harness.counts(update) == .of(delivered: 1))
    }

    @Test(arguments: Life.allCases)
    func `shows a start that goes later the newest state`(life: Life) throws {
        let harness = try Harness(life)
        let first = harness.now
        harness.apns = { push in
            push.notification.event == .start && push.target.attempt == 1
                ? .retry(503, "ServiceUnavailable", after: 5_000) : .ok
        }
        let run = try started(harness, [("ios18", "18.0")])
        try change(harness, run, #"{"step":2}"#)
        #expect(harness.states == [#"{"step":1}"#, #"{"step":2}"#])
        try harness.advance(seconds: 6)
        #expect(harness.states == [#"{"step":1}"#, #"{"step":2}"#, #"{"step":2}"#])
        #expect(harness.sent[2].notification.event == .start)
        #expect(harness.sent[2].notification.inputPushChannel == Self.channel.id)
        #expect(harness.sent[2].at > first.wall)
        #expect(try harness.participant(run, "ios18")?.state == .active)
    }

    @Test func `leaves a start its own state where both would be too large`() throws {
        let harness = try Harness()
        harness.apns = { push in
            push.notification.event == .start && push.target.attempt == 1
                ? .retry(503, "ServiceUnavailable", after: 5_000) : .ok
        }
        let run = try started(harness, [("ios18", "18.0")])
        try change(harness, run, #"{"text":"\#(String(repeating: "x", count: 3_900))"}"#)
        try harness.advance(seconds: 6)
        #expect(harness.states.last == #"{"step":1}"#)
        #expect(harness.counted("states_left_out") == 1)
    }

    @Test(arguments: Life.allCases)
    func `hears its end after every start, and no start goes after it`(life: Life) throws {
        let harness = try Harness(life)
        harness.apns = { push in
            guard push.notification.event == .start else { return .ok }
            return push.target.token == Token.number(101)
                ? .retry(503, "ServiceUnavailable", after: 60_000) : nil
        }
        let run = try started(harness, [("ios18", "18.0"), ("ios26", "26.0")])
        let end = try change(harness, run, "{}", .end)
        #expect(harness.sent.count == 2)
        try harness.answer(harness.unanswered[0], .ok)
        #expect(harness.sent.last?.target.channel == Self.channel)
        #expect(harness.counts(end) == .of(delivered: 1))
        #expect(harness.counts(run) == .of(delivered: 1, superseded: 1))
        try harness.advance(seconds: 120)
        #expect(harness.sent.count == 3)
        for hwid in ["ios18", "ios26"] { #expect(try harness.participant(run, hwid)?.state == .ended) }
    }

    // MARK: Without a start

    @Test(arguments: Life.allCases)
    func `leaves whoever was there before it to their tokens`(life: Life) throws {
        let harness = try Harness(life)
        let run = try harness.joined(Token.number(0), "dev-0")
        for n in 1..<40 { try harness.activityToken(Token.number(n), run: run, "dev-\(n)") }
        let update = try change(harness, run, #"{"step":1}"#)
        #expect(Set(harness.sent.map(\.target.token)) == Set((0..<40).map(Token.number) + [""]))
        #expect(harness.sent.count == 41)
        #expect(harness.counts(update) == .of(delivered: 41))
    }

    @Test(arguments: Life.allCases)
    func `can be all there is of an activity`(life: Life) throws {
        let harness = try Harness(life)
        let quiet = Channel(id: "cXVpZXQ=", environment: .sandbox, isStored: false)
        let run = harness.sequence + 1
        let first = try change(harness, nil, #"{"n":1}"#, channel: quiet)
        #expect(first == run)
        #expect(harness.sent.map(\.target.channel) == [quiet])
        #expect(harness.sent[0].target.environment == .sandbox)
        try harness.advance(seconds: 15)
        try change(harness, run, #"{"n":2}"#, .end, channel: quiet)
        #expect(harness.sent.count == 2)
        let after = try change(harness, run, #"{"n":3}"#, channel: quiet)
        #expect(harness.counts(after) == .of(superseded: 1))
        #expect(harness.factKinds.isEmpty)
    }

    @Test func `keeps its pace when another activity takes it over`() throws {
        let harness = try Harness()
        try change(harness, nil, #"{"n":1}"#)
        let run = try started(harness, [("ios18", "18.0")])
        try change(harness, run, #"{"n":2}"#)
        #expect(harness.states == [#"{"n":1}"#, #"{"step":1}"#])
        try harness.advance(seconds: 15)
        #expect(harness.states.last == #"{"n":2}"#)
        #expect(harness.sent.map(\.wire).last ?? 0 > harness.sent[0].wire)
    }

    // MARK: Who listens

    @Test func `is left by a phone whose app registers a token`() throws {
        let harness = try Harness()
        let run = try started(harness, [("ios18", "18.0"), ("ios26", "26.0")])
        try harness.activityToken(Token.b, run: run, "ios26")
        try change(harness, run, #"{"step":2}"#)
        #expect(Set(harness.sent.suffix(2).map(\.target.token)) == ["", Token.b])
        #expect(try harness.ledger.run(run)?.channel?.members == 1)
    }

    @Test func `does not keep an activity alive that nobody shows`() throws {
        let harness = try Harness()
        let run = try started(harness, [("ios18", "18.0")])
        try harness.activityToken("", run: run, "ios18")
        #expect(harness.factKinds == [.runEmpty])
        let nobody = try harness.send(start(harness, ["unknown"]), to: ["unknown"])
        #expect(harness.counts(nobody) == .of(unreachable: 1))
        #expect(harness.factKinds == [.runEmpty, .runEmpty])
    }

    @Test func `counts as one row, however many listen`() throws {
        var limits = Limits()
        limits.rowsMax = 40
        let harness = try Harness(limits: limits)
        let phones = (0..<8).map { ("p\($0)", Optional("18.0")) }
        let run = try started(harness, phones)
        let other = try started(harness, (8..<16).map { ("p\($0)", Optional("18.0")) })
        harness.apns = { _ in nil }
        for n in 0..<3 {
            try change(harness, run, #"{"n":\#(n)}"#)
            try change(harness, other, #"{"n":\#(n)}"#)
        }
        #expect(harness.counted("busy") == 0)
        #expect(try harness.ledger.run(run)?.receivers == 1)
    }

    @Test(arguments: [(400, "ChannelNotRegistered"), (403, "TopicMismatch"), (400, "FeatureNotEnabled")])
    func `that APNs refuses fails its delivery and holds nothing else back`(status: Int, reason: String)
        throws
    {
        let harness = try Harness()
        let run = try started(harness)
        try harness.activityToken(Token.a, run: run, "ios17")
        harness.apns = { $0.target.channel == nil ? .ok : .failed(status, reason) }
        let update = try change(harness, run, #"{"step":2}"#)
        #expect(harness.counts(update) == .of(delivered: 1, failed: 1))
        #expect(harness.core.paused.isEmpty)
    }

    @Test func `is told apart from phones and tokens of the same name`() throws {
        let harness = try Harness()
        let hex = Channel(id: "deadbeef", environment: .production, isStored: true)
        try harness.startToken(Token.startA, "channel:deadbeef")
        let run = harness.sequence + 1
        try change(harness, nil, #"{"n":1}"#, channel: hex)
        let byToken = try harness.send(
            harness.command(.update, audience: .token("deadbeef"), activity: "deadbeef"))
        #expect(harness.sent.map(\.target.token) == ["", "deadbeef"])
        #expect(harness.counts(byToken) == .of(delivered: 1))
        let query = Query(id: 1, application: Harness.app, kind: .participants(run: run, after: 0, limit: 9))
        try harness.take(.query(query))
        guard case .answer(let answer) = harness.messages.last,
            case .participants(let lines, _) = answer.content
        else {
            Issue.record("no answer")
            return
        }
        #expect(lines.map(\.device) == ["channel:deadbeef"])
        #expect(lines.first?.tokenStart == nil)
    }

    @Test func `is forgotten with its last run`() throws {
        let harness = try Harness()
        let run = try started(harness)
        try change(harness, run, "{}", .end)
        try harness.advance(seconds: 13 * 3_600)
        #expect(try harness.rowCount("run") == 0)
        #expect(try harness.rowCount("participant") == 0)
        #expect(try harness.rowCount("device") == 3)
    }
}
