import Contracts
import Service
import Testing

@testable import token_registry

/// Situations met when running a push back end, by their names.
@Suite struct `Situations of the registry` {
    @Test(arguments: Life.allCases)
    func `reg-reregistered-later: a token registered after its death lives`(life: Life) throws {
        for (died, isKept) in [(Int64(5), true), (15, false)] {
            let harness = try Harness(life)
            let noon = harness.now.wallSeconds
            try harness.advance(seconds: 10)
            let run = try harness.joined()
            harness.apns = { _ in .failed(410, "Unregistered", at: (noon + died) * 1000) }
            let update = try harness.update(run, "{}")
            #expect(harness.counts(update) == .of(failed: 1))
            let place = try #require(try harness.participant(run)).place
            #expect(place.token == Token.a)
            #expect((place.usable != nil) == isKept)
            #expect(harness.factKinds == (isKept ? [] : [.tokenDied, .runEmpty]))
        }
    }

    @Test func `reg-reregistered-later: by the app's whole seconds`() throws {
        for (died, isKept) in [(Int64(5), true), (15, false)] {
            let harness = try Harness()
            let run = harness.sequence + 1
            let client = harness.now.wallSeconds - 100
            try harness.activityToken(Token.a, run: run, registeredAt: client + 10)
            harness.apns = { _ in .failed(410, "ExpiredToken", at: (client + died) * 1000) }
            try harness.update(run, "{}")
            #expect((try #require(try harness.participant(run)).place.usable != nil) == isKept)
        }
    }

    @Test func `reg-token-length: every digit goes out`() throws {
        let harness = try Harness()
        for digits in [64, 160, 200, 512] {
            let token = String(repeating: "c", count: digits)
            let run = try harness.joined(token, "dev-\(digits)", activity: "x-\(digits)")
            try harness.update(run, "{}")
            #expect(harness.sent.last?.target.token == token)
        }
        #expect(harness.sent.count == 4)
    }

    @Test(arguments: Life.allCases)
    func `reg-ended-activity-reregisters: the token of an ended run displaces no other`(life: Life) throws {
        let harness = try Harness(life)
        let first = try harness.joined(Token.a)
        try harness.end(first)
        let second = try harness.joined(Token.b)
        try harness.activityToken(Token.a, run: first)
        #expect(harness.logs.contains("token-ignored"))
        // Said by each that the door has counted.
        #expect(harness.factKinds.filter { $0 == .participantEnded }.count == 2)
        try harness.update(second, "{\"n\":1}")
        #expect(harness.sent.last?.target.token == Token.b)
        #expect(try harness.participant(first)?.state == .ended)
    }

    @Test(arguments: Life.allCases)
    func `reg-update-before-token: the newest of them waits for the token`(life: Life) throws {
        let harness = try Harness(life)
        try harness.startToken(Token.startA)
        let run = try harness.start()
        var updates: [Int64] = []
        for step in 2...4 {
            try harness.advance(seconds: 1)
            updates.append(try harness.update(run, "{\"step\":\(step)}"))
        }
        try harness.advance(seconds: 17)
        #expect(harness.states == ["{\"step\":1}"])
        try harness.activityToken(Token.a, run: run)
        #expect(harness.states == ["{\"step\":1}", "{\"step\":4}"])
        #expect(harness.sent.last?.at == Harness.epoch + 20_000)
        #expect(
            updates.map { harness.counts($0) } == [
                .of(superseded: 1), .of(superseded: 1), .of(delivered: 1),
            ])
    }

    @Test(arguments: Life.allCases)
    func `reg-update-before-token: and no token comes`(life: Life) throws {
        let harness = try Harness(life)
        try harness.startToken(Token.startA)
        let run = try harness.start()
        let update = try harness.update(run, "{\"step\":2}")
        try harness.advance(seconds: 599)
        #expect(harness.counts(update) == nil)
        try harness.advance(seconds: 2)
        #expect(harness.counts(update) == .of(unreachable: 1))
        #expect(try harness.row(update)?.reason == "no-token")
    }

    @Test(arguments: Life.allCases)
    func `reg-update-before-token: with an end in the gap`(life: Life) throws {
        let harness = try Harness(life)
        try harness.startToken(Token.startA)
        let run = try harness.start()
        let update = try harness.update(run, "{\"step\":2}")
        let end = try harness.end(run)
        #expect(harness.counts(update) == .of(superseded: 1))
        #expect(harness.sent.count == 1)
        try harness.activityToken(Token.a, run: run)
        #expect(harness.sent.last?.notification.event == .end)
        #expect(harness.counts(end) == .of(delivered: 1))
    }

    @Test(arguments: Life.allCases)
    func `reg-rotation-while-queued: what waits goes to the new token`(life: Life) throws {
        let harness = try Harness(life)
        let run = try harness.joined(Token.a)
        try harness.update(run, "{\"n\":1}")
        let second = try harness.update(run, "{\"n\":2}")
        try harness.advance(seconds: 3)
        try harness.activityToken(Token.b, run: run)
        try harness.advance(seconds: 20)
        #expect(harness.sent.map(\.target.token) == [Token.a, Token.b])
        #expect(harness.counts(second) == .of(delivered: 1))
        #expect(harness.factKinds == [])
    }

    @Test(arguments: Life.allCases)
    func `reg-rotation-while-queued: at the limiter already`(life: Life) throws {
        let harness = try Harness(life)
        let run = try harness.joined(Token.a)
        try harness.update(run, "{\"n\":1}")
        try harness.update(run, "{\"n\":2}")
        try harness.advance(milliseconds: 14_800)
        #expect(harness.heldTargets.map(\.token) == [Token.a])
        try harness.activityToken(Token.b, run: run)
        #expect(harness.heldTargets.map(\.token) == [Token.b])
        try harness.advance(seconds: 1)
        #expect(harness.sent.map(\.target.token) == [Token.a, Token.b])
    }

    @Test(arguments: Life.allCases)
    func `reg-400-is-not-410: twenty in a row pause, and no token is lost`(life: Life) throws {
        let harness = try Harness(life, limits: Limits(rowsPerTurn: 20))
        let devices = (0..<100).map { "dev-\($0)" }
        for (number, device) in devices.enumerated() {
            try harness.startToken(Token.number(number), device)
        }
        harness.apns = { _ in .failed(400, "BadDeviceToken") }
        harness.room = .targets(40)
        let first = try harness.start(devices)
        #expect(harness.sent.count == 20)
        #expect(harness.logs.filter { $0 == "paused" }.count == 1)
        #expect(harness.core.paused == [Pause(application: Harness.app, environment: .production)])
        harness.apns = { _ in .ok }
        try harness.advance(seconds: 31)
        #expect(harness.core.paused == [])
        #expect(harness.counts(first) == .of(delivered: 80, failed: 20))
        let second = try harness.start(devices)
        #expect(harness.counts(second) == .of(delivered: 100))
        #expect(try harness.rowCount("start_token WHERE state = 0 AND token IS NOT NULL") == 100)
    }

    @Test(arguments: Life.allCases)
    func `reg-400-is-not-410: a lone one among successes`(life: Life) throws {
        let harness = try Harness(life)
        let bad = try harness.joined(Token.a, "dev-1", activity: "x")
        let good = try harness.joined(Token.b, "dev-2", activity: "y")
        harness.apns = { $0.target.token == Token.a ? .failed(400, "BadDeviceToken") : .ok }
        let failed = try harness.update(bad, "{}")
        #expect(harness.counts(failed) == .of(failed: 1))
        try harness.update(good, "{}")
        let next = try harness.update(bad, "{}")
        #expect(harness.counts(next) == .of(unreachable: 1))
        #expect(try harness.row(next)?.reason == "token-set-aside")
        harness.apns = { _ in .ok }
        try harness.activityToken(Token.a, run: bad, activity: "x")
        #expect(harness.counts(next) == .of(delivered: 1))
        #expect(harness.settled[next]?.revision == 1)
        #expect(harness.factKinds == [.tokenLives])
    }

    @Test(arguments: Life.allCases)
    func `reg-registration-repeated: one row, and an older one changes nothing`(life: Life) throws {
        let harness = try Harness(life)
        let run = harness.sequence + 1
        for _ in 0..<20 { try harness.activityToken(Token.a, run: run, registeredAt: 100) }
        try harness.activityToken(Token.b, run: run, registeredAt: 99)
        #expect(try harness.participant(run)?.place.token == Token.a)
        #expect(try harness.rowCount("participant") == 1)
        try harness.activityToken(Token.b, run: run)
        #expect(try harness.participant(run)?.place.token == Token.b)
        let answers = harness.messages.filter { if case .taken(.registration) = $0 { true } else { false } }
        #expect(answers.count == 22)
    }

    @Test(arguments: Life.allCases)
    func `seg-per-phone-token-choice: each phone gets what its token allows`(life: Life) throws {
        let harness = try Harness(life)
        try harness.startToken(Token.startA, "p1")
        try harness.startToken(Token.startB, "p2")
        let run = try harness.start(["p1", "p2"])
        try harness.activityToken(Token.a, run: run, "p1")
        try harness.update(run, "{\"step\":2}")
        try harness.advance(seconds: 1)
        try harness.update(run, "{\"step\":3}")
        try harness.advance(seconds: 10)
        #expect(harness.sent.filter { $0.target.token == Token.b }.isEmpty)
        try harness.activityToken(Token.b, run: run, "p2")
        try harness.advance(seconds: 10)
        let updates = harness.sent.filter { $0.notification.event == .update }
        #expect(
            updates.filter { $0.target.token == Token.a }.map(\.state) == ["{\"step\":2}", "{\"step\":3}"])
        #expect(updates.filter { $0.target.token == Token.b }.map(\.state) == ["{\"step\":3}"])
        #expect(harness.sent.filter { $0.notification.event == .start }.count == 2)
    }

    @Test(arguments: Life.allCases)
    func `seg-killed-in-the-middle: a second pass adds only what the first has not`(life: Life) throws {
        let harness = try Harness(life)
        let devices = (0..<1_000).map { "dev-\($0)" }
        for (number, device) in devices.enumerated() where life == .one || number % 10 == 0 {
            try harness.startToken(Token.number(number), device)
        }
        let command = harness.command(.start, audience: .devices(devices))
        let first = Batch(
            pass: Pass(epoch: 2, number: 1), index: 0, last: false, recipients: Array(devices[..<400]),
            command: command)
        try harness.take(.batch(first), from: Harness.segmenter)
        #expect(!harness.isTaken(command.sequence))
        let again = Pass(epoch: 9, number: 1)
        for (index, start) in [0, 500].enumerated() {
            let batch = Batch(
                pass: again, index: index, last: index == 1, recipients: Array(devices[start..<start + 500]),
                command: command)
            try harness.take(
                .batch(batch), from: Sender(InstanceName(.segmenter), epoch: 9))
        }
        #expect(harness.isTaken(command.sequence))
        #expect(harness.counts(command.sequence)?.total == 1_000)
        #expect(Set(harness.sent.map(\.target.id)).count == harness.sent.count)
    }

    @Test(arguments: Life.allCases)
    func `db-killed-between-send-and-mark: what goes again is the same push, or a newer one`(life: Life)
        throws
    {
        let harness = try Harness(life)
        try harness.startToken(Token.startA)
        harness.apns = { _ in nil }
        let run = try harness.start()
        let lost = try #require(harness.unanswered.first)
        try harness.restart()
        harness.apns = { _ in .ok }
        try harness.answer(lost, .retry(nil, "instance-lost", wasSent: false))
        #expect(harness.sent.map(\.target.apnsID) == [lost.target.apnsID, lost.target.apnsID])
        #expect(harness.sent.map(\.target.collapseID) == [lost.target.collapseID, lost.target.collapseID])
        #expect(harness.sent.map(\.target.attempt) == [1, 2])
        try harness.activityToken(Token.a, run: run)
        harness.apns = { _ in nil }
        let old = try harness.update(run, "{\"n\":1}")
        let pushed = try #require(harness.unanswered.first)
        let new = try harness.update(run, "{\"n\":2}")
        harness.apns = { _ in .ok }
        try harness.answer(pushed, .retry(nil, "instance-lost", wasSent: false))
        #expect(harness.states.suffix(2) == ["{\"n\":1}", "{\"n\":2}"])
        #expect(harness.counts(old) == .of(superseded: 1))
        #expect(harness.counts(new) == .of(delivered: 1))
    }
}
