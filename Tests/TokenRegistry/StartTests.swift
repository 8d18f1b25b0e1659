import Contracts
import Service
import Testing

@testable import token_registry

@Suite struct `A start` {
    private func profile(_ version: String?, push: String? = nil) -> Registration.Change {
        var profile = Profile()
        profile.osVersion = version
        profile.pushToken = push
        return .profile(profile)
    }

    @Test(arguments: Life.allCases)
    func `to a phone below iOS 17_2 is an ordinary alert`(life: Life) throws {
        let harness = try Harness(life)
        for (version, device) in [("17.1.2", "old"), ("17.2", "new"), ("9.3", "older"), ("18.0", "newest")] {
            try harness.register(
                profile(version, push: "aa" + device.utf8.map { String($0 % 10) }.joined()), device)
        }
        try harness.startToken(Token.startA, "new")
        try harness.startToken(Token.startB, "newest")
        let devices = ["old", "new", "older", "newest"]
        let command = harness.command(.start, audience: .devices(devices)) {
            $0.fallback = .init(title: "T", body: "B")
        }
        try harness.send(command, to: devices)
        #expect(
            harness.sent.map(\.target.pushType) == [.alert, .liveActivity, .alert, .liveActivity])
        #expect(
            harness.sent.filter { $0.target.pushType == .alert }.allSatisfy { $0.target.participant == 0 })
        #expect(harness.counts(command.sequence) == .of(delivered: 4))
        #expect(try harness.rowCount("participant") == 2)
    }

    @Test func `reaches nobody without a token that fits`() throws {
        let harness = try Harness()
        try harness.register(profile("17.1"), "old-without-push")
        try harness.startToken(Token.startA, "other-type", type: "Ride")
        try harness.startToken(Token.startB, "taken-back")
        try harness.startToken("", "taken-back")
        let devices = ["old-without-push", "other-type", "taken-back", "unknown"]
        let start = try harness.start(devices)
        #expect(harness.counts(start) == .of(unreachable: 4))
        #expect(try harness.row(start, "unknown")?.reason == "no-start-token")
        #expect(harness.factKinds == [.runEmpty])
    }

    @Test func `goes to the token of its type, else to one without a type`() throws {
        let harness = try Harness()
        try harness.startToken(Token.startA, "both", type: "Order")
        try harness.startToken(Token.number(7), "both", type: nil)
        try harness.startToken(Token.startB, "typeless", type: nil)
        try harness.start(["both", "typeless"])
        #expect(harness.sent.map(\.target.token) == [Token.startA, Token.startB])
    }

    @Test(arguments: Life.allCases)
    func `uses a budget of ten for each device, then one each six minutes`(life: Life) throws {
        let harness = try Harness(life)
        try harness.startToken(Token.startA)
        for n in 0..<12 {
            let command = harness.command(
                .start, audience: .devices(["dev-1"]), expiration: harness.now.wallSeconds + 7_200,
                activity: "a-\(n)")
            try harness.send(command, to: ["dev-1"])
        }
        #expect(harness.sent.count == 10)
        try harness.advance(seconds: 359)
        #expect(harness.sent.count == 10)
        try harness.advance(seconds: 2)
        #expect(harness.sent.count == 11)
        try harness.advance(seconds: 360)
        #expect(harness.sent.count == 12)
    }

    @Test(arguments: Life.allCases)
    func `is handed over alone for each device`(life: Life) throws {
        let harness = try Harness(life)
        try harness.startToken(Token.startA)
        harness.apns = { _ in nil }
        let first = try harness.send(
            harness.command(.start, audience: .devices(["dev-1"]), activity: "x"), to: ["dev-1"])
        let second = try harness.send(
            harness.command(.start, audience: .devices(["dev-1"]), activity: "y"), to: ["dev-1"])
        #expect(harness.sent.map(\.target.id.message) == [first])
        try harness.answer(try #require(harness.unanswered.first), .ok)
        #expect(harness.sent.map(\.target.id.message) == [first, second])
    }

    @Test func `leaves the budget of the updates alone`() throws {
        let harness = try Harness()
        let run = try harness.running()
        try harness.update(run, "{\"n\":1}")
        #expect(harness.sent.map(\.at) == [Harness.epoch, Harness.epoch])
        #expect(harness.sent[1].wire > harness.sent[0].wire)
    }

    @Test(arguments: Life.allCases)
    func `that fails takes its participant back, and what waited for it`(life: Life) throws {
        let harness = try Harness(life)
        try harness.startToken(Token.startA)
        harness.apns = { _ in nil }
        let run = try harness.start()
        let update = try harness.update(run, "{\"n\":1}")
        try harness.answer(try #require(harness.unanswered.first), .failed(413, "PayloadTooLarge"))
        #expect(harness.counts(run) == .of(failed: 1))
        #expect(harness.counts(update) == .of(unreachable: 1))
        #expect(try harness.participant(run)?.state == .ended)
        #expect(harness.factKinds == [.runEmpty])
    }

    @Test func `that expires unsent takes its participant back`() throws {
        let harness = try Harness()
        try harness.startToken(Token.startA)
        harness.room = Room(places: [], settledServices: [])
        let run = try harness.send(
            harness.command(
                .start, audience: .devices(["dev-1"]), expiration: harness.now.wallSeconds + 600),
            to: ["dev-1"])
        try harness.advance(seconds: 601)
        #expect(harness.counts(run) == .of(expired: 1))
        #expect(harness.factKinds == [.runEmpty])
    }

    @Test func `delivered after it was given up brings its participant back`() throws {
        let harness = try Harness()
        try harness.startToken(Token.startA)
        harness.apns = { _ in nil }
        let run = try harness.start()
        let push = try #require(harness.unanswered.first)
        try harness.answer(push, .failed(413, "PayloadTooLarge"))
        try harness.answer(push, .ok)
        #expect(harness.counts(run) == .of(delivered: 1))
        #expect(harness.settled[run]?.revision == 1)
        #expect(try harness.participant(run)?.state == .starting)
    }

    @Test func `is not repeated to a phone whose activity runs`() throws {
        let harness = try Harness()
        try harness.startToken(Token.startA)
        harness.apns = { _ in .retry(nil, "no-answer", after: 5_000) }
        let run = try harness.start()
        harness.apns = { _ in .ok }
        try harness.activityToken(Token.a, run: run)
        try harness.advance(seconds: 60)
        #expect(harness.sent.count == 1)
        #expect(harness.counts(run) == .of(superseded: 1))
        #expect(try harness.row(run)?.reason == "already-running")
    }

    @Test func `has a collapse id of the activity, of at most 64 bytes of ASCII`() {
        func id(_ activity: String, _ run: Int64? = nil) -> String {
            Identity.collapseID(application: "A", activity: activity, run: run)
        }
        let long = String(repeating: "x", count: 100)
        let ids = [long + "1", long + "2", String(repeating: "🍕", count: 30), "ord-12", "ord-12 "].map {
            id($0)
        }
        #expect(Set(ids).count == ids.count)
        #expect(ids.allSatisfy { $0.utf8.count == 32 && $0.allSatisfy(\.isHexDigit) })
        #expect(id("ord-12") == id("ord-12"))
        #expect(id("token", 1) != id("token", 2))
        #expect(id("ord-12") != Identity.collapseID(application: "B", activity: "ord-12", run: nil))
    }

    @Test func `has the same id for APNs whenever it is made again`() {
        let id = PushID(message: 12, device: 7)
        let text = Identity.apnsID(id, seed: 1)
        #expect(text == Identity.apnsID(id, seed: 1))
        #expect(
            text.wholeMatch(of: /[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}/) != nil)
        var all: Set<String> = []
        for message in Int64(1)...40 {
            for device in Int64(1)...40 {
                all.insert(Identity.apnsID(PushID(message: message, device: device), seed: 1))
            }
        }
        #expect(all.count == 1_600)
        #expect(text != Identity.apnsID(id, seed: 2))
    }
}
