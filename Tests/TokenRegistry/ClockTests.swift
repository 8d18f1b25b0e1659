import Contracts
import Service
import Testing

@testable import token_registry

/// The wall clock is set, forward or back, while the monotonic one goes on.
@Suite struct `A clock that is set` {
    private static let hour: Int64 = 3_600_000

    @Test(arguments: [-hour, hour])
    func `leaves the wait after trouble at APNs as long as it was`(step: Int64) throws {
        let harness = try Harness()
        let run = try harness.joined()
        harness.apns = { _ in .retry(503, "ServiceUnavailable", after: 5_000) }
        let update = try harness.update(run, "{}", expiration: harness.now.wallSeconds + 20_000)
        harness.apns = { _ in .ok }
        try harness.advance(seconds: 1)
        harness.now.wall += step
        try harness.advance(milliseconds: 3_999)
        #expect(harness.sent.count == 1)
        try harness.advance(milliseconds: 1)
        #expect(harness.counts(update) == .of(delivered: 1))
    }

    @Test(arguments: [-hour, hour])
    func `leaves the newer state's wait for the pace as long as it was`(step: Int64) throws {
        let harness = try Harness()
        let run = try harness.joined()
        harness.apns = { _ in .retry(503, "ServiceUnavailable", after: 80_000) }
        try harness.update(run, "{\"n\":1}", expiration: harness.now.wallSeconds + 20_000)
        harness.apns = { _ in .ok }
        try harness.advance(seconds: 1)
        harness.now.wall += step
        try harness.advance(seconds: 1)
        // The door never gives a state an older second than those before.
        let newer = try harness.update(run, "{\"n\":2}", timestamp: Harness.epoch / 1000 + 4_000)
        try harness.advance(milliseconds: 12_999)
        #expect(harness.sent.count == 1)
        try harness.advance(milliseconds: 1)
        #expect(harness.counts(newer) == .of(delivered: 1))
    }

    @Test(arguments: [-hour, hour])
    func `has nothing left out that a new life still sends again`(step: Int64) throws {
        let harness = try Harness()
        let run = try harness.joined(Token.number(0), "dev-0")
        for n in 1..<40 { try harness.activityToken(Token.number(n), run: run, "dev-\(n)") }
        harness.apns = { _ in nil }
        try harness.update(run, "{}", expiration: harness.now.wallSeconds + 20_000)
        harness.forgetEffects()
        try harness.restart()
        try harness.input(.turn(harness.room))
        func devices() -> Set<Int64> {
            var devices: Set<Int64> = []
            for case .targets(let targets) in harness.messages {
                devices.formUnion(targets.targets.map(\.id.device))
            }
            return devices
        }
        #expect(devices().count == 16)
        harness.now.wall += step
        try harness.settle()
        #expect(devices().count == 40)
    }

    @Test(arguments: [-hour, hour])
    func `while nobody was there, or as a transaction failed, leaves the waits as long as they were`(
        step: Int64
    ) throws {
        let harness = try Harness()
        let run = try harness.joined()
        harness.apns = { _ in .retry(503, "ServiceUnavailable", after: 5_000) }
        let update = try harness.update(run, "{}", expiration: harness.now.wallSeconds + 20_000)
        harness.apns = { _ in .ok }
        harness.now = harness.now.advanced(byMilliseconds: 1_000)
        harness.now.wall += step
        try harness.restart()
        try harness.restart()
        try harness.advance(milliseconds: 3_999)
        #expect(harness.sent.count == 1)
        try harness.advance(milliseconds: 1)
        #expect(harness.counts(update) == .of(delivered: 1))
    }

    /// The gateway told of it while the registry was away, by what the clock showed then.
    @Test(arguments: [-hour, -8_000, 8_000, hour], [true, false])
    func `does not change the pace after a push that was sent before and is told of after`(
        step: Int64, isNewLife: Bool
    ) throws {
        let harness = try Harness()
        let run = try harness.joined()
        harness.apns = { _ in nil }
        let update = try harness.update(run, "{\"n\":1}")
        let push = try #require(harness.sent.last)
        harness.apns = { _ in .ok }
        harness.now = harness.now.advanced(byMilliseconds: 2_000)
        harness.now.wall += step
        if isNewLife { try harness.restart() }
        try harness.answer(push, .ok)
        #expect(harness.counts(update) == .of(delivered: 1))
        let told = harness.now
        let newer = try harness.update(run, "{\"n\":2}", timestamp: Harness.epoch / 1000 + 4_000)
        try harness.advance(milliseconds: 12_999)
        #expect(harness.sent.count == 1)
        try harness.advance(milliseconds: 2_001)
        #expect(harness.counts(newer) == .of(delivered: 1))
        #expect(harness.now.monotonic - told.monotonic == 15_000)
    }
}
