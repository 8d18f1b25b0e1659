import Contracts
import Service
import Testing

@testable import apns_gateway

@Suite struct APNsGatewayTests {
    var bench = Bench()

    // MARK: Reports

    @Test mutating func `a delivered push is reported to the registry and to the limiter that sent it`() {
        let push = bench.push()
        #expect(bench.send(push).requests.count == 1)
        let effects = bench.answer(1, 200)
        let report = effects.reports.first
        #expect(report?.result == .delivered)
        #expect(report?.status == 200)
        #expect(report?.attempt == 1)
        #expect(report?.token == push.token)
        #expect(report?.sentAtMilliseconds == bench.now.wall - 40)
        #expect(report?.wireTimestampSeconds == push.timestampSeconds)
        #expect(report?.priority == 10)
        #expect(effects.copies() == effects.reports)
        #expect(effects.count == 2)
    }

    @Test(arguments: RulingTests.rows)
    mutating func `each of Apple's reasons is reported with its result`(row: RulingTests.Row) {
        bench.send(bench.push())
        let report = bench.answer(1, row.status, row.reason).reports.first
        #expect(report?.result == row.result)
        #expect(report?.reason == row.reason)
        #expect(report?.status == row.status)
        #expect(report?.retryAtMilliseconds == row.delay.map { bench.now.wall + $0 })
    }

    @Test mutating func `the timestamp of a 410 is handed on`() {
        bench.send(bench.push())
        let report = bench.answer(1, 410, "Unregistered", timestamp: 1_799_999_995_000).reports.first
        #expect(report?.apnsTimestampMilliseconds == 1_799_999_995_000)
        #expect(report?.result == .failed)
    }

    @Test mutating func `a push without an answer is to be tried again, and counts as sent`() {
        bench.send(bench.push())
        let effects = bench.step(
            .external(.unanswered(bench.newest(1), sentAtMilliseconds: bench.now.monotonic - 20_000)))
        #expect(effects.reports.first?.result == .retry)
        #expect(effects.reports.first?.reason == "no-answer")
        #expect(effects.reports.first?.status == nil)
        #expect(effects.reports.first?.sentAtMilliseconds == bench.now.wall - 20_000)
    }

    @Test(arguments: [(UnsentReason.late, "not-sent"), (.paused, "paused")])
    mutating func `an unsent push is to be tried again at once, and names no token`(
        reason: UnsentReason, word: String
    ) {
        bench.send(bench.push())
        let report = bench.step(.external(.unsent(bench.newest(1), reason))).reports.first
        #expect(report?.result == .retry)
        #expect(report?.reason == word)
        #expect(report?.retryAtMilliseconds == bench.now.wall)
        #expect(report?.token == nil)
        #expect(report?.sentAtMilliseconds == nil)
    }

    @Test mutating func `an unsent push whose expiration has passed is expired`() {
        var notification = bench.update
        notification.expirationSeconds = bench.now.wallSeconds + 5
        let request = bench.send(bench.push(), notification).requests.first
        #expect(request?.sendBeforeMilliseconds == bench.now.monotonic + 5_000)
        bench.advance(seconds: 5)
        let effects = bench.step(.external(.unsent(bench.newest(1), .late)))
        #expect(effects.reports.first?.result == .expired)
    }

    @Test mutating func `an answer about a request that is over is ignored and counted`() {
        bench.send(bench.push())
        bench.answer(1, 200)
        let effects = bench.answer(1, 410, "Unregistered")
        #expect(effects == [.count(Count("ignored", [("type", "apns-event")]))])
        #expect(bench.answer(99, 200).reports.isEmpty)
    }

    @Test mutating func `a request that the connections forget is given up after all its times`() {
        bench.send(bench.push())
        bench.advance(seconds: 54)
        #expect(bench.turn().reports.isEmpty)
        #expect(bench.core.nextTurnMilliseconds(after: bench.now) == 1_000)
        bench.advance(seconds: 1)
        let effects = bench.turn()
        #expect(effects.reports.first?.reason == "no-answer")
        #expect(effects.logs.first?.level == .error)
        #expect(bench.core.underWay == 0)
    }

    // MARK: What is not sent

    @Test mutating func `a push that comes too late is given back unsent`() {
        var push = bench.push()
        push.sendBeforeMilliseconds = bench.now.wall
        let effects = bench.send(push)
        #expect(effects.requests.isEmpty)
        #expect(effects.reports.first?.reason == "not-sent")
        #expect(effects.copies().first?.result == .retry)
    }

    @Test mutating func `nothing goes out after its expiration, but for 0 which allows one attempt`() {
        var notification = bench.update
        notification.expirationSeconds = bench.now.wallSeconds
        #expect(bench.send(bench.push(1), notification).reports.first?.result == .expired)
        notification.expirationSeconds = 0
        #expect(bench.send(bench.push(2), notification).requests.count == 1)
    }

    @Test mutating func `an application without a key is told so and tried again later`() {
        bench = Bench(Bench.configuration(keys: []))
        let report = bench.send(bench.push()).reports.first
        #expect(report?.result == .retry)
        #expect(report?.reason == "no-key")
        #expect(report?.retryAtMilliseconds == bench.now.wall + 30_000)
    }

    @Test mutating func `after a reload the new keys serve`() {
        bench = Bench(Bench.configuration(keys: []))
        bench.core.reload(Bench.configuration())
        #expect(bench.send(bench.push()).requests.first?.group.lane.keyID == "KEY1234567")
    }

    @Test(arguments: ["token", "apns-id", "collapse-id", "priority", "fallback"])
    mutating func `a push that cannot stand in a request fails without one`(fault: String) {
        var push = bench.push(collapseID: fault == "collapse-id" ? "a\nb" : nil)
        if fault == "token" { push.token = "a1/../b2" }
        if fault == "apns-id" { push.apnsID = "order-12" }
        if fault == "priority" { push.priority = 7 }
        if fault == "fallback" { push.pushType = .alert }
        let effects = bench.send(push)
        #expect(effects.requests.isEmpty)
        #expect(effects.reports.first?.result == .failed)
        #expect(effects.reports.first?.reason == "not-valid")
    }

    @Test mutating func `a message that is none of its business is ignored and counted`() {
        let effects = bench.step(.message(.busy(Busy(message: 1)), from: Bench.registry))
        #expect(effects == [.count(Count("ignored", [("type", "busy")]))])
    }

    // MARK: Figures

    @Test mutating func `answers are counted by status and reason, once a second`() {
        for device in 1...5 { bench.send(bench.push(Int64(device))) }
        bench.answer(1, 200)
        bench.answer(2, 200)
        bench.answer(3, 410, "Unregistered")
        bench.answer(4, 400, "SomethingNew")
        bench.step(.external(.unanswered(bench.newest(5), sentAtMilliseconds: 0)))
        #expect(bench.turn().counts.isEmpty)
        bench.advance(seconds: 1)
        let counts = bench.turn().counts
        #expect(
            counts == [
                Count("apns_answers", [("status", "200"), ("reason", "")], by: 2),
                Count("apns_answers", [("status", "none"), ("reason", "no-answer")]),
                Count("apns_answers", [("status", "400"), ("reason", "other")]),
                Count("apns_answers", [("status", "410"), ("reason", "Unregistered")]),
            ])
        #expect(bench.turn().counts.isEmpty)
    }

    @Test mutating func `a request that only a mistake of ours can have spoilt is logged, once a minute`() {
        for device in 1...3 { bench.send(bench.push(Int64(device))) }
        #expect(bench.answer(1, 400, "BadMessageId").logs.map(\.level) == [.error])
        #expect(bench.answer(2, 400, "BadMessageId").logs.isEmpty)
        bench.advance(seconds: 60)
        #expect(bench.answer(3, 400, "BadMessageId").logs.count == 1)
    }
}
