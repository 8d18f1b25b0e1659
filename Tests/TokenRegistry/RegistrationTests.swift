import Contracts
import Service
import Testing

@testable import token_registry

@Suite struct `A registration` {
    @Test(arguments: Life.allCases)
    func `is answered each time and changes something once`(life: Life) throws {
        let harness = try Harness(life)
        var profile = Profile()
        profile.pushToken = "aa"
        profile.environment = .sandbox
        let first = Message.registration(
            Registration(
                sequence: 10, application: Harness.app, device: "dev-1", change: .profile(profile),
                acceptedAtMilliseconds: 1))
        profile.pushToken = "bb"
        let second = Message.registration(
            Registration(
                sequence: 11, application: Harness.app, device: "dev-1", change: .profile(profile),
                acceptedAtMilliseconds: 2))
        for message in [first, second, first] { try harness.take(message) }
        let answers = harness.messages.filter {
            if case .taken(.registration(let sequence, .tokenRegistry)) = $0 { sequence >= 10 } else { false }
        }
        #expect(answers.count == 3)
        let device = try #require(try harness.ledger.device(Harness.app, hwid: "dev-1"))
        #expect(device.pushToken == "bb")
        #expect(device.environment == .sandbox)
    }

    private func group(_ sequence: Int64, _ entries: [(String, Registration.Change)]) -> Message {
        .registrations(
            RegistrationGroup(
                sequence: sequence, application: Harness.app, acceptedAtMilliseconds: 5,
                entries: entries.enumerated().map {
                    .init(sequence: sequence + Int64($0), device: $1.0, change: $1.1)
                }))
    }

    @Test(arguments: Life.allCases)
    func `in a group is taken like one that comes alone, and the group is answered as one`(life: Life) throws
    {
        let harness = try Harness(life)
        var profile = Profile()
        profile.pushToken = "aa"
        let message = group(
            100,
            [
                ("old", .profile(profile)), ("old", .startToken(StartToken(token: Token.startA))),
                ("new", .profile(profile)), ("new", .startToken(StartToken(token: Token.startA))),
            ])
        for _ in 0..<2 { try harness.take(message) }
        let answers = harness.messages.filter {
            if case .taken(.registration(_, .tokenRegistry)) = $0 { true } else { false }
        }
        #expect(
            answers == Array(repeating: .taken(.registration(sequence: 100, by: .tokenRegistry)), count: 2))
        // The second of a group takes a token from the first of it.
        #expect(try harness.ledger.device(Harness.app, hwid: "old")?.pushToken == nil)
        #expect(try harness.ledger.device(Harness.app, hwid: "new")?.pushToken == "aa")
        #expect(try harness.ledger.startPlaces(Harness.app, token: Token.startA).count == 1)
        let start = try harness.start(["old", "new"])
        #expect(harness.counts(start) == .of(delivered: 1, unreachable: 1))
    }

    @Test func `in a group that comes again late changes nothing newer`() throws {
        let harness = try Harness()
        var profile = Profile()
        profile.osVersion = "17.2"
        let message = group(100, [("dev-1", .profile(profile))])
        try harness.take(message)
        profile.osVersion = "18.0"
        try harness.take(
            .registration(
                Registration(
                    sequence: 101, application: Harness.app, device: "dev-1", change: .profile(profile),
                    acceptedAtMilliseconds: 6)))
        try harness.take(message)
        #expect(try harness.ledger.device(Harness.app, hwid: "dev-1")?.osVersion == "18.0")
    }

    @Test func `of a profile leaves what it does not name`() throws {
        let harness = try Harness()
        var profile = Profile()
        profile.osVersion = "17.4"
        profile.pushToken = "aa"
        try harness.register(.profile(profile))
        try harness.register(.profile(Profile()))
        let device = try #require(try harness.ledger.device(Harness.app, hwid: "dev-1"))
        #expect(device.osVersion == "17.4")
        #expect(device.pushToken == "aa")
    }

    @Test func `takes a token from whoever had it, in the same application alone`() throws {
        let harness = try Harness()
        var profile = Profile()
        profile.pushToken = "aa"
        try harness.register(.profile(profile), "old")
        try harness.register(.profile(profile), "else", application: "OTHER-00001")
        try harness.register(.profile(profile), "new")
        try harness.startToken(Token.startA, "old")
        try harness.startToken(Token.startA, "new")
        #expect(try harness.ledger.device(Harness.app, hwid: "old")?.pushToken == nil)
        #expect(try harness.ledger.device("OTHER-00001", hwid: "else")?.pushToken == "aa")
        #expect(try harness.ledger.startPlaces(Harness.app, token: Token.startA).count == 1)
        let start = try harness.start(["old", "new"])
        #expect(harness.counts(start) == .of(delivered: 1, unreachable: 1))
    }

    @Test func `of one start token for two types keeps both`() throws {
        let harness = try Harness()
        try harness.startToken(Token.startA, type: "Order")
        try harness.startToken(Token.startA, type: "Ride")
        #expect(
            try harness.ledger.startPlaces(Harness.app, token: Token.startA).map(\.type) == ["Order", "Ride"])
    }

    @Test func `that is older by the app's clock does not count`() throws {
        let harness = try Harness()
        func token(_ token: String, at seconds: Int64?) throws {
            try harness.register(
                .startToken(StartToken(token: token, attributesType: "Order", registeredAtSeconds: seconds)))
        }
        try token("aa", at: 100)
        try token("bb", at: 99)
        let device = try #require(try harness.ledger.device(Harness.app, hwid: "dev-1"))
        #expect(try harness.ledger.startToken(device: device.number, type: "Order") == "aa")
        try token("cc", at: nil)
        #expect(try harness.ledger.startToken(device: device.number, type: "Order") == "cc")
    }

    @Test func `repeated after a newer empty one brings no token back`() throws {
        let harness = try Harness()
        let old = Message.registration(
            Registration(
                sequence: 50, application: Harness.app, device: "dev-1",
                change: .startToken(StartToken(token: "aa")), acceptedAtMilliseconds: 1))
        let empty = Message.registration(
            Registration(
                sequence: 51, application: Harness.app, device: "dev-1",
                change: .startToken(StartToken(token: "")), acceptedAtMilliseconds: 2))
        for message in [old, empty, old] { try harness.take(message) }
        #expect(try harness.ledger.startPlaces(Harness.app, token: "aa").isEmpty)
    }

    @Test(arguments: Life.allCases)
    func `that a device wants no pushes takes its tokens and ends its participants`(life: Life) throws {
        let harness = try Harness(life)
        let run = try harness.running()
        try harness.update(run, "{\"n\":1}")
        let waiting = try harness.update(run, "{\"n\":2}")
        try harness.register(.unregister)
        #expect(harness.counts(waiting) == .of(unreachable: 1))
        #expect(try harness.row(waiting)?.reason == "unregistered")
        #expect(harness.factKinds == [.participantEnded, .runEmpty])
        let start = try harness.start()
        #expect(harness.counts(start) == .of(unreachable: 1))
        try harness.startToken(Token.startB)
        let again = try harness.start()
        #expect(harness.counts(again) == .of(delivered: 1))
    }

    @Test func `that a device wants no pushes ends what still starts at its next message`() throws {
        let harness = try Harness()
        try harness.startToken(Token.startA)
        let run = try harness.start()
        try harness.register(.unregister)
        let update = try harness.update(run, "{}")
        #expect(harness.counts(update) == .of())
        #expect(try harness.participant(run)?.state == .ended)
    }

    @Test func `moves a device to its environment`() throws {
        let harness = try Harness()
        var profile = Profile()
        profile.environment = .sandbox
        try harness.startToken(Token.startA, "d1")
        try harness.startToken(Token.startB, "d2")
        try harness.register(.profile(profile), "d1")
        try harness.start(["d1", "d2"])
        #expect(
            Set(harness.sent.map { "\($0.target.token.prefix(2)) \($0.target.environment)" }) == [
                "5a sandbox", "5b production",
            ])
    }

    @Test func `moves what waits to the device's new environment`() throws {
        let harness = try Harness()
        let run = try harness.joined()
        try harness.update(run, "{\"n\":1}")
        try harness.update(run, "{\"n\":2}")
        var profile = Profile()
        profile.environment = .sandbox
        try harness.register(.profile(profile))
        try harness.advance(seconds: 20)
        #expect(harness.sent.map(\.target.environment) == [.production, .sandbox])
    }

    @Test func `of tags is none of the registry's, and answered all the same`() throws {
        let harness = try Harness()
        let sequence = try harness.register(.user("u"))
        #expect(harness.messages.contains(.taken(.registration(sequence: sequence, by: .tokenRegistry))))
        #expect(harness.counted("ignored") == 1)
    }
}
