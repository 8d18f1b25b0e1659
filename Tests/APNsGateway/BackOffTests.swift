import Contracts
import Service
import Testing

@testable import apns_gateway

/// How long a push waits that has met trouble.
@Suite struct BackOffTests {
    /// What a hand-over may meet.
    enum Met {
        case answer(Int, String)
        case silence
        case givenBack

        static let busy = Met.answer(503, "ServiceUnavailable")
        static let broken = Met.answer(500, "InternalServerError")
        static let tooMany = Met.answer(429, "TooManyRequests")
    }

    private var bench = Bench()
    private var attempt = 0

    /// Hands the push over once more, and says how many seconds it then has to wait.
    private mutating func meet(_ met: Met) -> Int64? {
        attempt += 1
        bench.send(bench.push(attempt: attempt))
        let effects =
            switch met {
            case .answer(let status, let reason): bench.answer(1, status, reason)
            case .silence:
                bench.step(
                    .external(.unanswered(bench.newest(1), sentAtMilliseconds: bench.now.monotonic - 20_000)))
            case .givenBack: bench.step(.external(.unsent(bench.newest(1), .late)))
            }
        let wait = effects.reports.first?.retryAtMilliseconds.map { ($0 - bench.now.wall) / 1_000 }
        bench.note(1, attempt: attempt)
        bench.advance(seconds: wait ?? 0)
        bench.turn()
        return wait
    }

    @Test mutating func `each answer of trouble in a row doubles the wait, also once the push is forgotten`()
    {
        var waits: [Int64?] = []
        for _ in 0..<10 { waits.append(meet(attempt % 2 == 0 ? .busy : .broken)) }
        #expect(waits == [5, 10, 20, 40, 80, 160, 320, 640, 900, 900])
        #expect(meet(.answer(200, "")) == nil)
    }

    @Test mutating func `hand-overs that met no answer do not lengthen the wait after one`() {
        #expect(meet(.silence) == 1)
        #expect(meet(.silence) == 2)
        #expect(meet(.givenBack) == 0)
        #expect(meet(.silence) == 4)
        #expect(meet(.busy) == 5)
        #expect(meet(.silence) == 1)
        #expect(meet(.busy) == 10)
    }

    @Test mutating func `an answer of another kind begins anew`() {
        #expect(meet(.busy) == 5)
        #expect(meet(.busy) == 10)
        #expect(meet(.tooMany) == 10)
        #expect(meet(.tooMany) == 20)
        #expect(meet(.busy) == 5)
        #expect(meet(.answer(403, "Forbidden")) == 1)
        #expect(meet(.busy) == 5)
    }

    @Test mutating func `each push waits by itself`() {
        #expect(meet(.busy) == 5)
        #expect(meet(.busy) == 10)
        bench.send(bench.push(2))
        #expect(
            bench.answer(2, 503, "ServiceUnavailable").reports.first?.retryAtMilliseconds
                == bench.now.wall + 5_000)
    }

    @Test mutating func `what is long over is forgotten`() {
        #expect(meet(.busy) == 5)
        #expect(meet(.busy) == 10)
        bench.advance(seconds: 4_000)
        #expect(meet(.busy) == 5)
    }

    @Test func `a push is remembered until two pages of others have met trouble`() throws {
        let busy = try #require(Ruling.reasons["ServiceUnavailable"]?.ruling)
        var backOff = BackOff()
        let now = Moment(monotonic: 5_000, wall: 5_000)
        func meet(_ devices: Range<Int64>) {
            for device in devices { _ = backOff.note(busy, PushID(message: 1, device: device), at: now) }
        }
        let page = Int64(BackOff.pageMax)
        meet(0..<1)
        meet(1..<page + 1)
        #expect(backOff.note(busy, PushID(message: 1, device: 0), at: now) == 2)
        meet(page + 1..<3 * page + 1)
        #expect(backOff.note(busy, PushID(message: 1, device: 0), at: now) == 1)
    }
}
