import Contracts
import Service
import Store
import Testing

@testable import token_registry

/// Tokens that APNs has called dead, and what is registered afterwards.
@Suite struct `A dead token` {
    /// A participant whose token died at an instant, milliseconds since 1970.
    private func died(at diedAt: Int64, registeredAt: Int64? = nil, _ life: Life = .one) throws
        -> (Harness, run: Int64)
    {
        let harness = try Harness(life)
        let run = harness.sequence + 1
        try harness.activityToken(Token.a, run: run, registeredAt: registeredAt)
        try harness.advance(seconds: 5)
        harness.apns = {
            $0.target.token == Token.a ? .failed(410, "Unregistered", at: diedAt) : .ok
        }
        try harness.update(run, "{\"n\":1}")
        try harness.advance(seconds: 5)
        return (harness, run)
    }

    /// A phone that has registered a token late, so that the 410 names a time before; a new one has still to come.
    private func refused(_ life: Life) throws -> (Harness, run: Int64) {
        let harness = try Harness(life)
        let run = try harness.joined(Token.a)
        harness.apns = {
            $0.target.token == Token.a ? .failed(410, "Unregistered", at: Harness.epoch - 1_000) : .ok
        }
        return (harness, run)
    }

    @Test(arguments: Life.allCases)
    func `lets nothing older pass the state that it did not take`(life: Life) throws {
        let (harness, run) = try refused(life)
        let older = harness.command(.update, run: run, state: "{\"n\":1}")
        let newer = try harness.update(run, "{\"n\":2}")
        #expect(harness.counts(newer) == .of(failed: 1))
        let late = try harness.send(older)
        #expect(harness.counts(late) == .of(superseded: 1))
        try harness.activityToken(Token.b, run: run)
        #expect(harness.counts(newer) == .of(delivered: 1))
        #expect(harness.states.last == "{\"n\":2}")
    }

    @Test(arguments: Life.allCases)
    func `that did not take the end is told of as dead, and the next one gets it`(life: Life) throws {
        let (harness, run) = try refused(life)
        let end = try harness.end(run)
        #expect(harness.counts(end) == .of(failed: 1))
        #expect(harness.factKinds == [.tokenDied])
        try harness.activityToken(Token.b, run: run)
        #expect(harness.counts(end) == .of(delivered: 1))
        #expect(harness.factKinds == [.tokenDied, .participantEnded])
    }

    @Test(arguments: Life.allCases, [Int64(0), 1, 3])
    func `stays dead where the registration that it died under, or one no later, is repeated`(
        life: Life, later: Int64
    ) throws {
        let second = Harness.epoch / 1000
        let (harness, run) = try died(at: (second + 3) * 1000, registeredAt: second, life)
        let repeated = try harness.activityToken(Token.a, run: run, registeredAt: second + later)
        #expect(try harness.participant(run)?.place.usable == nil)
        #expect(try harness.participant(run)?.state == .ended)
        #expect(harness.states == ["{\"n\":1}"])
        // The door takes every registered token for a living one, and its run for one that goes on.
        #expect(harness.factKinds == [.tokenDied, .runEmpty, .tokenDied, .runEmpty])
        #expect(harness.facts.values.filter { $0.registrationSequence == repeated }.count == 2)
    }

    @Test(arguments: Life.allCases)
    func `lives again by a registration that was made later`(life: Life) throws {
        let second = Harness.epoch / 1000
        let (harness, run) = try died(at: (second + 3) * 1000, registeredAt: second, life)
        harness.apns = { _ in .ok }
        try harness.activityToken(Token.a, run: run, registeredAt: second + 4)
        #expect(harness.factKinds == [.tokenDied, .runEmpty, .tokenLives])
        #expect(harness.states == ["{\"n\":1}", "{\"n\":1}"])
    }

    @Test func `lives again by a registration without a time that was accepted later`() throws {
        let (harness, run) = try died(at: Harness.epoch + 3_000)
        harness.apns = { _ in .ok }
        try harness.register(
            .activityToken(ActivityToken(token: Token.a, activity: "ord-12", run: run)),
            acceptedAt: Harness.epoch + 3_000)
        #expect(try harness.participant(run)?.place.usable == nil)
        try harness.register(
            .activityToken(ActivityToken(token: Token.a, activity: "ord-12", run: run)),
            acceptedAt: Harness.epoch + 3_001)
        #expect(try harness.participant(run)?.place.usable == Token.a)
    }

    @Test(arguments: Life.allCases)
    func `gives way to another token at once`(life: Life) throws {
        let second = Harness.epoch / 1000
        let (harness, run) = try died(at: (second + 3) * 1000, registeredAt: second, life)
        try harness.activityToken(Token.b, run: run, registeredAt: second + 1)
        #expect(harness.sent.map(\.target.token) == [Token.a, Token.b])
        try harness.activityToken(Token.a, run: run, registeredAt: second)
        #expect(try harness.participant(run)?.place.usable == Token.b)
    }

    @Test(arguments: Life.allCases)
    func `stays dead in the run that its repeated registration begins`(life: Life) throws {
        let second = Harness.epoch / 1000
        let (harness, _) = try died(at: (second + 3) * 1000, registeredAt: second, life)
        let run = harness.sequence + 1
        try harness.activityToken(Token.a, run: run, registeredAt: second)
        #expect(try harness.participant(run)?.state == .ended)
        #expect(harness.factKinds == [.tokenDied, .runEmpty, .tokenDied, .runEmpty])
        #expect(Set(harness.facts.values.filter { $0.kind == .runEmpty }.compactMap(\.run)).contains(run))
        let update = try harness.update(run, "{\"n\":2}")
        #expect(harness.counts(update) == .of())
        // A token that is got later takes part in that run.
        try harness.activityToken(Token.b, run: run, registeredAt: second + 6)
        #expect(harness.states.last == "{\"n\":2}")
    }

    @Test func `leaves a start alone that waits for its own token`() throws {
        let second = Harness.epoch / 1000
        let (harness, _) = try died(at: (second + 3) * 1000, registeredAt: second)
        try harness.startToken(Token.startA)
        let run = try harness.start()
        let update = try harness.update(run, "{\"n\":2}")
        try harness.activityToken(Token.a, run: run, registeredAt: second)
        #expect(try harness.participant(run)?.state == .starting)
        try harness.activityToken(Token.b, run: run, registeredAt: second + 6)
        #expect(harness.counts(update) == .of(delivered: 1))
    }

    @Test(arguments: Life.allCases, ["Order", "Ride"])
    func `that starts activities stays dead too, also as one of another type`(life: Life, type: String) throws
    {
        let harness = try Harness(life)
        let second = harness.now.wallSeconds
        func register(_ type: String, at seconds: Int64) throws {
            try harness.register(
                .startToken(
                    StartToken(token: Token.startA, attributesType: type, registeredAtSeconds: seconds)))
        }
        try register("Order", at: second)
        try harness.advance(seconds: 5)
        harness.apns = { _ in .failed(410, "Unregistered", at: (second + 3) * 1000) }
        try harness.start()
        try register(type, at: second)
        harness.apns = { _ in .ok }
        let none = try harness.start()
        #expect(harness.counts(none) == .of(unreachable: 1))
        #expect(try harness.row(none)?.reason == "token-died")
        #expect(harness.factKinds == [.tokenDied, .runEmpty, .tokenDied, .runEmpty])
        try register("Order", at: second + 4)
        let again = try harness.start()
        #expect(harness.counts(again) == .of(delivered: 1))
    }

    @Test(arguments: Life.allCases)
    func `is dead wherever it has moved to while the push was on its way`(life: Life) throws {
        let harness = try Harness(life)
        let run = try harness.joined()
        harness.apns = { _ in nil }
        try harness.update(run, "{\"n\":1}")
        try harness.advance(seconds: 1)
        let other = try harness.joined(Token.a, "dev-2", activity: "ride-1")
        try harness.advance(seconds: 4)
        harness.apns = { _ in .ok }
        try harness.answer(
            try #require(harness.unanswered.first), .failed(410, "Unregistered", at: Harness.epoch + 3_000))
        let update = try harness.update(other, "{\"n\":2}")
        try harness.advance(seconds: 20)
        #expect(harness.sent.count == 1, "nothing goes to a token after its 410")
        #expect(harness.counts(update) == .of())
        #expect(try harness.participant(other, "dev-2")?.state == .ended)
        let died = harness.facts.values.filter { $0.kind == .tokenDied }
        #expect(died.map(\.run) == [other])
    }

    /// APNs' clock is ten minutes behind, or ours ahead: each death seems to be older than the registration.
    @Test(arguments: [Int64?.none, 0])
    func `is known by a push five minutes after its registration, whatever the clocks say`(registered: Int64?)
        throws
    {
        let harness = try Harness()
        let run = harness.sequence + 1
        let registeredAt = registered.map { Harness.epoch / 1000 + $0 }
        try harness.activityToken(Token.a, run: run, registeredAt: registeredAt)
        harness.apns = { .failed(410, "Unregistered", at: $0.at - 600_000) }
        try harness.advance(seconds: 299)
        try harness.update(run, "{\"n\":1}")
        #expect(try harness.participant(run)?.place.usable == Token.a)
        try harness.advance(seconds: 1)
        try harness.update(run, "{\"n\":2}")
        #expect(try harness.participant(run)?.place.usable == nil)
        #expect(harness.sent.count == 2)
        if let registeredAt {
            try harness.activityToken(Token.a, run: run, registeredAt: registeredAt)
            #expect(try harness.participant(run)?.place.usable == nil)
        }
        harness.apns = { _ in .ok }
        try harness.activityToken(Token.b, run: run, registeredAt: registeredAt.map { $0 + 1 })
        #expect(try harness.participant(run)?.place.usable == Token.b)
    }

    @Test(arguments: [-60_000, 0, 600_000] as [Int64])
    func `that was registered again while the push was out lives, whatever is done to the clock`(step: Int64)
        throws
    {
        let harness = try Harness()
        let run = try harness.joined()
        harness.apns = { _ in nil }
        try harness.update(run, "{}")
        try harness.advance(seconds: 1)
        let died = harness.now.wall
        try harness.advance(seconds: 2)
        try harness.activityToken(Token.a, run: run)
        try harness.advance(seconds: 1)
        harness.now.wall += step
        try harness.answer(
            try #require(harness.unanswered.first), .failed(410, "Unregistered", at: died))
        #expect(try harness.participant(run)?.place.usable == Token.a)
        #expect(!harness.factKinds.contains(.tokenDied))
    }

    @Test func `is known although the clock was set back since its registration`() throws {
        let harness = try Harness()
        let run = try harness.joined()
        try harness.advance(seconds: 5)
        harness.now.wall -= 60_000
        harness.apns = { .failed(410, "Unregistered", at: $0.at) }
        try harness.update(run, "{}", timestamp: Harness.epoch / 1000 + 4_000)
        #expect(harness.sent.count == 1)
        #expect(try harness.participant(run)?.place.usable == nil)
    }

    @Test func `lives on with who got it after the time that APNs names`() throws {
        let harness = try Harness()
        let run = try harness.joined()
        harness.apns = { _ in nil }
        try harness.update(run, "{\"n\":1}")
        try harness.advance(seconds: 5)
        let other = try harness.joined(Token.a, "dev-2", activity: "ride-1")
        harness.apns = { _ in .ok }
        try harness.answer(
            try #require(harness.unanswered.first), .failed(410, "Unregistered", at: Harness.epoch + 3_000))
        let update = try harness.update(other, "{\"n\":2}")
        #expect(harness.counts(update) == .of(delivered: 1))
    }

    @Test func `is remembered when its device wants no pushes any more`() throws {
        let second = Harness.epoch / 1000
        let (harness, run) = try died(at: (second + 3) * 1000, registeredAt: second)
        try harness.register(.unregister)
        try harness.activityToken(Token.a, run: run, registeredAt: second)
        #expect(try harness.participant(run)?.place.usable == nil)
    }

    @Test(arguments: Life.allCases)
    func `of an old phone is the reason why it gets no alert`(life: Life) throws {
        let harness = try Harness(life)
        var profile = Profile()
        profile.osVersion = "17.1"
        profile.pushToken = "aa"
        try harness.register(.profile(profile))
        func start() throws -> Int64 {
            let command = harness.command(.start, audience: .devices(["dev-1"])) {
                $0.fallback = .init(title: "T", body: "B")
            }
            return try harness.send(command, to: ["dev-1"])
        }
        try harness.advance(seconds: 5)
        harness.apns = { _ in .failed(410, "Unregistered", at: Harness.epoch + 3_000) }
        #expect(try harness.counts(start()) == .of(failed: 1))
        harness.apns = { _ in .ok }
        // What was accepted before it died, and comes now.
        try harness.register(.profile(profile), acceptedAt: Harness.epoch + 2_000)
        let none = try start()
        #expect(harness.counts(none) == .of(unreachable: 1))
        #expect(try harness.row(none)?.reason == "token-died")
        try harness.register(.profile(profile))
        #expect(try harness.counts(start()) == .of(delivered: 1))
    }

    @Test func `of an old phone is dead on the phone that it has moved to`() throws {
        let harness = try Harness()
        var profile = Profile()
        profile.osVersion = "17.1"
        profile.pushToken = "aa"
        func start(_ hwid: String) throws -> Int64 {
            let command = harness.command(.start, audience: .devices([hwid])) {
                $0.fallback = .init(title: "T", body: "B")
            }
            return try harness.send(command, to: [hwid])
        }
        try harness.register(.profile(profile))
        harness.apns = { _ in nil }
        _ = try start("dev-1")
        try harness.register(.profile(profile), "dev-2")
        try harness.advance(seconds: 5)
        harness.apns = { _ in .ok }
        try harness.answer(
            try #require(harness.unanswered.first), .failed(410, "Unregistered", at: Harness.epoch + 3_000))
        #expect(try harness.counts(start("dev-2")) == .of(unreachable: 1))
        #expect(harness.sent.count == 1)
    }

    @Test func `of an older ledger is dead as of its registration`() throws {
        let database = try Database(.memory)
        try database.migrate(to: Schema(steps: Array(Ledger.schema.steps.prefix(2))))
        try database.run(
            """
            INSERT INTO device (number, application, hwid, push_token, push_accepted_at, sequence, unregistered,
                start_full_at) VALUES (1, ?, 'dev-1', 'aa', 5, 1, 0, 0)
            """, .text(Harness.app))
        for (type, state) in [("Dead", Int64(2)), ("Live", 0)] {
            try database.run(
                """
                INSERT INTO start_token (device, type, token, state, sequence, client_seconds, accepted_at, first_at)
                VALUES (1, ?, '5a', ?, 7, 3, 4000, 4000)
                """, .text(type), .int(state))
        }
        let ledger = try Ledger(database, seed: 42)
        let dead = try #require(try ledger.startPlace(device: 1, type: "Dead")).place
        #expect(dead.death(of: "5a") == 4_000)
        #expect(dead.sequence == 7 && dead.clientSeconds == 3)
        let live = try #require(try ledger.startPlace(device: 1, type: "Live")).place
        #expect(live.usable == "5a" && live.diedAt == 0)
        #expect(try ledger.device(1)?.usablePushToken == "aa")
    }
}

/// Registrations with and without the time at which the app got the token.
@Suite struct `The time of a registration` {
    private static let second = Harness.epoch / 1000

    /// What stands in a place that has a token accepted at the epoch, after one more registration.
    private func token(known: Int64?, then: Int64?) throws -> String? {
        let harness = try Harness()
        let run = harness.sequence + 1
        try harness.activityToken(Token.a, run: run, registeredAt: known)
        try harness.advance(seconds: 60)
        try harness.activityToken(Token.b, run: run, registeredAt: then)
        return try harness.participant(run)?.place.token
    }

    @Test(arguments: [-3_600, -1, 0, 30] as [Int64])
    func `counts against the acceptance of one that names none`(later: Int64) throws {
        let isOlder = later < 0
        #expect(
            try token(known: nil, then: Self.second + later) == (isOlder ? Token.a : Token.b))
    }

    @Test(arguments: [-3_600, 0, 3_600] as [Int64])
    func `is that of its acceptance where it names none, whatever the one before named`(lead: Int64) throws {
        #expect(try token(known: Self.second + lead, then: nil) == Token.b)
    }

    @Test func `that is older takes no start token's place either`() throws {
        let harness = try Harness()
        try harness.startToken(Token.startA)
        let old = StartToken(
            token: Token.startB, attributesType: "Order", registeredAtSeconds: Self.second - 60)
        try harness.register(.startToken(old))
        let device = try #require(try harness.ledger.device(Harness.app, hwid: "dev-1"))
        #expect(try harness.ledger.startToken(device: device.number, type: "Order") == Token.startA)
    }
}
