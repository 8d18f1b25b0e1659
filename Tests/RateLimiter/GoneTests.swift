import Contracts
import Service
import Testing

@testable import rate_limiter

/// What is kept of targets that do not wait any more stays within its limits, however long that goes on.
@Suite struct `Of what is gone` {
    /// Hands over the same devices again and again, each time as long as a target may stay unsent.
    private func handOverAgain(_ bench: inout Bench, times: Int, devices: ClosedRange<Int64>) {
        for attempt in 1...times {
            bench.tell(bench.targets(devices.map { bench.target(message: 1, device: $0, attempt: attempt) }))
            let given = bench.advance(seconds: 31).map(\.message)
            #expect(given.reports.map(\.reason) == devices.map { _ in "send-before" })
        }
    }

    @Test func `nothing piles up while there is no gateway, and all goes in order once there is one`() {
        var bench = Bench()
        let room = bench.room
        bench.room = Room(places: [], settledServices: [])
        handOverAgain(&bench, times: 200, devices: 1...50)
        #expect(bench.limiter.ready.count == 0)
        for device in (1...50 as ClosedRange<Int64>).reversed() {
            bench.tell(bench.targets([bench.target(message: 1, device: device, attempt: 201)]))
        }
        #expect(bench.turn().isEmpty)
        bench.room = room
        #expect(bench.turn().pushes.map(\.id.device) == (1...50).reversed())
    }

    @Test func `little piles up while a gateway takes nothing`() {
        var bench = Bench()
        bench.room = Room(
            places: [.init(instance: InstanceName(.apnsGateway), windows: Windows(pushes: 0))],
            settledServices: [.apnsGateway])
        handOverAgain(&bench, times: 200, devices: 1...50)
        #expect(bench.limiter.ready.count <= ReadyQueues.goneMax + 3 * 50)
    }

    @Test func `the times of targets that went long before them are forgotten`() {
        var bench = Bench()
        for message in 1...6_000 as ClosedRange<Int64> {
            bench.tell(bench.targets([bench.target(message: message, device: message, sendBefore: 3_600)]))
            bench.turn().pushes.forEach { bench.deliver($0) }
        }
        #expect(bench.limiter.waitingTargets.markCount <= WaitingTargets.marksOverMax + 10)
        bench.room = Room(places: [], settledServices: [])
        bench.tell(bench.targets([bench.target(message: 6_001, device: 6_001, sendBefore: 2)]))
        let given = bench.advance(seconds: 3).map(\.message)
        #expect(given.reports.map(\.id.message) == [6_001], "what waits still has its times")
    }

    @Test func `a participant of long intervals does not keep what was sent to others`() {
        let bench = Bench()
        var paces = RecentPaces(countMax: 10)
        func send(_ participant: Int64, after seconds: Int64, interval: Int64) {
            var target = bench.target(message: 1, participant: participant)
            target.intervalMilliseconds = interval * 1_000
            let report = Report(
                id: target.id, attempt: 1, application: "A", environment: .production, result: .delivered)
            paces.sent(target, report, atMilliseconds: bench.now.wall + seconds * 1_000)
            paces.prune(at: bench.now.wall + seconds * 1_000)
        }
        send(1, after: 0, interval: 100_000)
        for n in 1...1_000 as ClosedRange<Int64> { send(2, after: n * 15, interval: 15) }
        #expect(paces.pushCount <= 20)
        let last = bench.target(message: 2, participant: 2)
        #expect(paces.pace(of: last).fullAtMilliseconds > bench.now.wall + 15_000_000)
    }
}
