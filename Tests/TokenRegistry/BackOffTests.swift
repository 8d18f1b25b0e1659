import Contracts
import Service
import Testing

@testable import token_registry

/// What follows a push that is waited for because APNs was in trouble.
@Suite struct `A state that replaces one in back-off` {
    /// A participant whose update was tried at the epoch and is to be tried again much later.
    private func waiting(_ answer: Answered, _ life: Life) throws -> (Harness, run: Int64, update: Int64) {
        let harness = try Harness(life)
        let run = try harness.joined()
        harness.apns = { _ in answer }
        let update = try harness.update(run, "{\"n\":1}")
        harness.apns = { _ in .ok }
        try harness.advance(seconds: 2)
        return (harness, run, update)
    }

    static let troubles = [
        Answered.retry(503, "ServiceUnavailable", after: 80_000),
        .retry(500, "InternalServerError", after: 80_000),
        .retry(400, "IdleTimeout", after: 80_000), .retry(nil, "no-answer", after: 80_000),
    ]

    @Test(arguments: Life.allCases, 0..<4)
    func `goes at once if it is an end`(life: Life, trouble: Int) throws {
        let (harness, run, update) = try waiting(Self.troubles[trouble], life)
        let end = try harness.end(run)
        #expect(harness.sent.map(\.at) == [Harness.epoch, Harness.epoch + 2_000])
        #expect(harness.counts(update) == .of(superseded: 1))
        #expect(harness.counts(end) == .of(delivered: 1))
        try harness.advance(seconds: 100)
        #expect(harness.sent.count == 2)
    }

    @Test(arguments: Life.allCases, 0..<4)
    func `goes once the pace lets it if it is an update`(life: Life, trouble: Int) throws {
        let (harness, run, update) = try waiting(Self.troubles[trouble], life)
        try harness.update(run, "{\"n\":2}", priority: 5)
        let newest = try harness.update(run, "{\"n\":3}")
        try harness.advance(seconds: 100)
        #expect(harness.states == ["{\"n\":1}", "{\"n\":3}"])
        #expect(harness.sent.last?.at == Harness.epoch + 15_000)
        #expect(harness.counts(update) == .of(superseded: 1))
        #expect(harness.counts(newest) == .of(delivered: 1))
    }

    @Test(arguments: Life.allCases)
    func `goes at once if it is an end that follows an update which waits in its place`(life: Life) throws {
        let (harness, run, _) = try waiting(Self.troubles[0], life)
        try harness.update(run, "{\"n\":2}")
        try harness.end(run)
        #expect(harness.sent.map(\.at) == [Harness.epoch, Harness.epoch + 2_000])
    }

    @Test(arguments: Life.allCases)
    func `goes at the report of the one under way if it is an end that waited for that`(life: Life) throws {
        let harness = try Harness(life)
        let run = try harness.joined()
        harness.apns = { _ in nil }
        let update = try harness.update(run, "{\"n\":1}")
        let end = try harness.end(run)
        try harness.advance(seconds: 3)
        #expect(harness.sent.count == 1, "nothing overtakes what may still arrive")
        harness.apns = { _ in .ok }
        try harness.answer(try #require(harness.unanswered.first), Self.troubles[0])
        #expect(harness.sent.map(\.at) == [Harness.epoch, Harness.epoch + 3_000])
        #expect(harness.counts(update) == .of(superseded: 1))
        #expect(harness.counts(end) == .of(delivered: 1))
    }

    @Test(arguments: Life.allCases)
    func `that is an end keeps its distance where APNs wants fewer pushes to a token`(life: Life) throws {
        let (harness, run, _) = try waiting(.retry(429, "TooManyRequests", after: 80_000), life)
        let end = try harness.end(run)
        try harness.advance(seconds: 60)
        #expect(harness.sent.map(\.at) == [Harness.epoch, Harness.epoch + 15_000])
        #expect(harness.counts(end) == .of(delivered: 1))
    }

    @Test(arguments: Life.allCases)
    func `waits as long where the older one may still be on its way, or the application is out of order`(
        life: Life
    ) throws {
        for (answer, seconds) in [
            (Answered.retry(nil, "instance-lost", after: 50_000), Int64(50)),
            (.retry(nil, "no-key", after: 30_000, wasSent: false), 30),
            (.retry(429, "TooManyProviderTokenUpdates", after: 20_000), 20),
        ] {
            let (harness, run, _) = try waiting(answer, life)
            try harness.end(run)
            try harness.advance(seconds: 100)
            #expect(harness.sent.last?.at == Harness.epoch + seconds * 1_000)
        }
    }

    @Test func `leaves the wait of an end to itself`() throws {
        let harness = try Harness()
        let run = try harness.joined()
        harness.apns = { _ in .retry(503, "ServiceUnavailable", after: 20_000) }
        try harness.end(run)
        harness.apns = { _ in .ok }
        try harness.update(run, "{\"n\":1}")
        try harness.advance(seconds: 30)
        #expect(harness.sent.map(\.at) == [Harness.epoch, Harness.epoch + 20_000])
        #expect(harness.sent.allSatisfy { $0.notification.event == .end })
    }
}
