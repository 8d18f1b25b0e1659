import Contracts
import Service
import Testing

@testable import apns_gateway

/// What becomes of a push that comes again.
@Suite struct RepeatTests {
    var bench = Bench()

    @Test
    mutating func `a repeat while the push is under way sends nothing, and both who sent it hear of it`() {
        bench.send(bench.push())
        #expect(bench.send(bench.push(), from: Bench.otherLimiter).isEmpty)
        #expect(bench.send(bench.push(), from: Bench.otherLimiter).isEmpty)
        let effects = bench.answer(1, 200)
        #expect(effects.reports.count == 1)
        #expect(effects.copies().count == 1)
        #expect(effects.copies(to: Bench.otherLimiter).count == 1)
    }

    @Test mutating func `a repeat after the outcome gets the same report`() {
        bench.send(bench.push())
        let first = bench.answer(1, 400, "BadDeviceToken")
        bench.advance(seconds: 3)
        let again = bench.send(bench.push(), from: Bench.otherLimiter)
        #expect(again.requests.isEmpty)
        #expect(again.reports == first.reports)
        #expect(again.copies(to: Bench.otherLimiter) == first.reports)
        #expect(again.copies().isEmpty)
    }

    @Test mutating func `a retry is not sent again under the same hand-over`() {
        bench.send(bench.push())
        let first = bench.answer(1, 503, "ServiceUnavailable")
        let again = bench.send(bench.push())
        #expect(again.requests.isEmpty)
        #expect(again.reports == first.reports)
    }

    @Test mutating func `a newer hand-over of a retry is sent anew`() {
        bench.send(bench.push())
        bench.answer(1, 503)
        let requests = bench.send(bench.push(attempt: 2)).requests
        #expect(requests.count == 1)
        #expect(requests.first?.apnsID == bench.push().apnsID)
        #expect(bench.answer(1, 200).reports.first?.attempt == 2)
    }

    @Test mutating func `a newer hand-over of a refused push is sent anew, also to the same token`() {
        bench.send(bench.push())
        bench.answer(1, 410, "Unregistered")
        bench.note(1)
        bench.advance(seconds: 30)
        #expect(bench.send(bench.push()).requests.isEmpty)
        #expect(bench.send(bench.push(attempt: 2)).requests.count == 1)
        #expect(bench.answer(1, 200).reports.map(\.attempt) == [2])
    }

    @Test mutating func `a newer hand-over of a push under way takes its place without a second request`() {
        bench.send(bench.push())
        #expect(bench.send(bench.push(attempt: 2), from: Bench.otherLimiter).isEmpty)
        let effects = bench.answer(1, 200)
        #expect(effects.reports.map(\.attempt) == [2])
        // Each limiter keeps the push under the hand-over that it knows.
        #expect(effects.copies().map(\.attempt) == [1])
        #expect(effects.copies(to: Bench.otherLimiter).map(\.attempt) == [2])
    }

    @Test mutating func `a newer hand-over of a push that is done gets its outcome under the new number`() {
        bench.send(bench.push())
        bench.answer(1, 200)
        bench.note(1)
        let effects = bench.send(bench.push(attempt: 2))
        #expect(effects.requests.isEmpty)
        #expect(effects.reports.map(\.attempt) == [2])
        #expect(effects.reports.first?.result == .delivered)
        #expect(effects.copies().map(\.attempt) == [2])
    }

    @Test mutating func `an older hand-over gets the newest outcome, and its limiter is set free`() {
        bench.send(bench.push(attempt: 2))
        bench.answer(1, 200)
        let effects = bench.send(bench.push(attempt: 1), from: Bench.otherLimiter)
        #expect(effects.requests.isEmpty)
        #expect(effects.reports.map(\.attempt) == [2])
        #expect(effects.copies(to: Bench.otherLimiter).map(\.attempt) == [1])
    }

    @Test mutating func `an outcome is known until 60 s after it was noted`() {
        bench.send(bench.push())
        let first = bench.answer(1, 200)
        bench.advance(seconds: 600)
        bench.turn()
        bench.note(1)
        bench.advance(seconds: 59)
        bench.turn()
        let again = bench.send(bench.push())
        #expect(again.requests.isEmpty)
        #expect(again.reports == first.reports)
        bench.advance(seconds: 1)
        bench.turn()
        #expect(bench.core.noted.count == 0)
        #expect(bench.send(bench.push()).requests.count == 1)
    }

    @Test(arguments: RulingTests.rows)
    mutating func `a repeat of what was noted gets the same report, to the last field`(row: RulingTests.Row) {
        let push = bench.push(environment: .sandbox, priority: 5)
        bench.send(push)
        let first = bench.answer(1, row.status, row.reason, timestamp: 1_799_999_995_000, retryAfter: 7)
        bench.note(1)
        #expect(bench.core.noted.count == 1)
        bench.advance(seconds: 20)
        let again = bench.send(push, from: Bench.otherLimiter)
        #expect(again.requests.isEmpty)
        #expect(again.reports == first.reports)
        #expect(again.copies(to: Bench.otherLimiter) == first.reports)
    }

    @Test mutating func `a newer hand-over of what was noted is remembered from its own note on`() {
        bench.send(bench.push())
        bench.answer(1, 200)
        bench.note(1)
        bench.advance(seconds: 50)
        #expect(bench.send(bench.push(attempt: 2)).reports.map(\.attempt) == [2])
        bench.note(1)
        #expect(bench.core.noted.count == 0)
        bench.note(1, attempt: 2)
        #expect(bench.core.noted.count == 1)
        bench.advance(seconds: 59)
        bench.turn()
        let older = bench.send(bench.push(attempt: 1))
        #expect(older.requests.isEmpty)
        #expect(older.reports.map(\.attempt) == [2])
    }

    @Test mutating func `no more than the limit is remembered of what was noted, and nothing after its time`()
    {
        bench.core = APNsGateway(settings: GatewaySettings(Bench.configuration()), notedMax: 200)
        for device: Int64 in 1...1_000 {
            bench.send(bench.push(device))
            bench.answer(device, 200)
            bench.note(device)
            #expect(bench.core.noted.count == min(device, 200))
        }
        #expect(bench.send(bench.push(801)).requests.isEmpty)
        #expect(bench.send(bench.push(800)).requests.count == 1)
        bench.advance(seconds: 60)
        bench.turn()
        #expect(bench.core.noted.count == 0)
    }

    @Test
    mutating func `a forgotten push that comes after its time to be sent is given back, not sent again`() {
        bench.core = APNsGateway(settings: GatewaySettings(Bench.configuration()), notedMax: 1)
        let push = bench.push(1)
        for push in [push, bench.push(2)] {
            bench.send(push)
            bench.answer(push.id.device, 200)
            bench.note(push.id.device)
        }
        bench.advance(seconds: 30)
        let effects = bench.send(push)
        #expect(effects.requests.isEmpty)
        #expect(effects.reports.map(\.reason) == ["not-sent"])
        #expect(effects.reports.map(\.attempt) == [1])
    }

    @Test mutating func `of requests that are over no more await their last instant than the limit`() {
        bench.send(bench.push(1))
        for device: Int64 in 2...10_000 {
            bench.send(bench.push(device))
            bench.answer(device, 200)
            bench.note(device)
            #expect(bench.core.toGiveUp.count <= APNsGateway.overMax + 4)
        }
        bench.advance(seconds: 600)
        #expect(bench.turn().reports.map(\.id) == [bench.id(1)])
    }

    @Test mutating func `a note of an older hand-over forgets nothing`() {
        bench.send(bench.push())
        bench.answer(1, 503)
        bench.send(bench.push(attempt: 2))
        bench.note(1, attempt: 1)
        bench.answer(1, 200)
        bench.advance(seconds: 61)
        bench.turn()
        #expect(bench.send(bench.push(attempt: 2)).requests.isEmpty)
    }

    @Test mutating func `a late answer to the request of an earlier hand-over does not end the newer one`() {
        let first = bench.send(bench.push()).requests.first
        bench.step(.external(.unsent(bench.newest(1), .late)))
        bench.send(bench.push(attempt: 2))
        let number = first?.id.number ?? -1
        let late = APNsEvent.answered(
            RequestID(push: bench.id(1), number: number), APNsAnswer(status: 410), sentAtMilliseconds: 0)
        #expect(bench.step(.external(late)).reports.isEmpty)
        #expect(bench.answer(1, 200).reports.first?.result == .delivered)
    }

    @Test mutating func `what is under way is counted until the last outcome`() {
        _ = bench.send([bench.push(1), bench.push(2)])
        #expect(bench.core.underWay == 2)
        bench.answer(1, 200)
        #expect(bench.core.underWay == 1)
        bench.answer(2, 503)
        #expect(bench.core.underWay == 0)
    }

    @Test mutating func `who is told to stop waits until every outcome is noted`() {
        #expect(bench.core.isDrained)
        _ = bench.send([bench.push(1)])
        bench.answer(1, 200)
        #expect(!bench.core.isDrained)
        _ = bench.note(1)
        #expect(bench.core.isDrained)
    }
}

/// What the registry holds back.
@Suite struct PauseTests {
    static let pause = Pause(application: Bench.application, environment: .production)
    var bench = Bench()

    @Test mutating func `what is paused is given back unsent, but for the trial`() {
        bench.hello(paused: [Self.pause])
        let effects = bench.send([bench.push(1), bench.push(2, trial: true)])
        #expect(effects.requests.map(\.id.push.device) == [2])
        #expect(effects.requests.first?.trial == true)
        #expect(effects.reports.map(\.reason) == ["paused"])
        #expect(effects.reports.first?.retryAtMilliseconds == bench.now.wall)
    }

    @Test mutating func `the other environment goes on`() {
        bench.hello(paused: [Self.pause])
        #expect(bench.send(bench.push(environment: .sandbox)).requests.count == 1)
    }

    @Test mutating func `the connections are told what to give back, once for each change`() {
        #expect(bench.hello(paused: [Self.pause]) == [.perform(.hold([Self.pause]))])
        #expect(bench.hello(paused: [Self.pause]).isEmpty)
        #expect(bench.hello(paused: []) == [.perform(.hold([]))])
        #expect(bench.send(bench.push()).requests.count == 1)
    }

    @Test mutating func `only the registry pauses`() {
        #expect(bench.hello(paused: [Self.pause], from: Bench.limiter).isEmpty)
        #expect(bench.send(bench.push()).requests.count == 1)
    }
}
