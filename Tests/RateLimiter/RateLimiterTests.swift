import Contracts
import Service
import Testing

@testable import rate_limiter

@Suite struct `Rate limiter` {
    @Test func `a first update goes at once`() {
        var bench = Bench()
        bench.tell(bench.targets([bench.target(message: 1)]))
        #expect(bench.limiter.waiting == 1)
        #expect(bench.turn().pushes.map(\.id.message) == [1])
    }

    @Test func `lim-burst: of a hundred updates the first goes at once and the last after the interval`() {
        var bench = Bench()
        var pushed: [(second: Double, message: Int64)] = []
        var superseded = 0
        for n in 1...100 {
            superseded +=
                bench.tell(bench.targets([bench.target(message: Int64(n), sendBefore: 60)])).reports
                .filter { $0.result == .superseded }.count
            for (second, message) in bench.advance(seconds: 0.1) {
                for push in [message].pushes {
                    pushed.append((second, push.id.message))
                    bench.deliver(push, atSecond: second)
                }
            }
        }
        for (second, message) in bench.advance(seconds: 120) {
            pushed += [message].pushes.map { (second, $0.id.message) }
        }
        #expect(pushed.map(\.message) == [1, 100])
        #expect(pushed.map(\.second) == [0, 15])
        #expect(superseded == 98)
    }

    @Test func `lim-silent-tail: what waits goes with no further call`() {
        var bench = Bench()
        bench.tell(bench.targets([bench.target(message: 1)]))
        bench.turn().pushes.forEach { bench.deliver($0) }
        _ = bench.advance(seconds: 4)
        bench.tell(bench.targets([bench.target(message: 2)]))
        let tail = bench.advance(seconds: 60)
        #expect(tail.map(\.second) == [15])
        #expect(tail.map(\.message).pushes.map(\.id.message) == [2])
    }

    @Test func `lim-late-older-update: an older state never follows a newer one`() {
        var bench = Bench()
        var newer = bench.target(message: 1)
        newer.order.seconds += 10
        bench.tell(bench.targets([newer]))
        let older = bench.tell(bench.targets([bench.target(message: 2)]))
        #expect(older.reports.map(\.result) == [.superseded])
        bench.turn().pushes.forEach { bench.deliver($0) }
        let late = bench.tell(bench.targets([bench.target(message: 3)]))
        #expect(late.reports.map(\.result) == [.superseded])
        #expect(bench.advance(seconds: 60).isEmpty)
    }

    @Test func `an end goes at once and replaces a waiting update`() {
        var bench = Bench()
        bench.tell(bench.targets([bench.target(message: 1)]))
        bench.turn().pushes.forEach { bench.deliver($0) }
        bench.tell(bench.targets([bench.target(message: 2)]))
        let replaced = bench.tell(bench.targets([bench.target(message: 3)], event: .end))
        #expect(replaced.reports.map(\.id.message) == [2])
        #expect(bench.turn().pushes.map(\.id.message) == [3])
    }

    @Test func `a waiting end is not replaced by an update`() {
        var bench = Bench()
        var end = bench.target(message: 1)
        end.notBeforeMilliseconds = bench.now.wall + 5_000
        bench.tell(bench.targets([end], event: .end))
        let update = bench.tell(bench.targets([bench.target(message: 2)]))
        #expect(update.reports.map(\.id.message) == [2])
        #expect(bench.advance(seconds: 6).map(\.message).pushes.map(\.id.message) == [1])
    }

    @Test func `a merged state keeps the higher priority and the alert`() throws {
        var bench = Bench()
        var pace = Pace()
        pace.fullAtMilliseconds = bench.now.wall + 5_000
        let alert = Payload(contentState: Array("{}".utf8), alert: Array(#"{"title":"t"}"#.utf8))
        bench.tell(bench.targets([bench.target(message: 1, priority: 10, pace: pace)], payload: alert))
        bench.tell(bench.targets([bench.target(message: 2, priority: 5, pace: pace)]))
        let sent = bench.advance(seconds: 6).map(\.message)
        let push = try #require(sent.pushes.first)
        #expect(push.id.message == 2 && push.priority == 10)
        #expect(sent.first?.payload.alert == alert.alert)
        #expect(sent.first?.payload.contentState == Array(#"{"n":1}"#.utf8))
    }

    @Test func `an alert that does not fit is left out`() throws {
        var bench = Bench()
        var pace = Pace()
        pace.fullAtMilliseconds = bench.now.wall + 5_000
        let alert = Payload(contentState: Array("{}".utf8), alert: Array(repeating: 32, count: 4_000))
        bench.tell(bench.targets([bench.target(message: 1, pace: pace)], payload: alert))
        bench.tell(bench.targets([bench.target(message: 2, pace: pace)]))
        #expect(bench.advance(seconds: 6).first?.message.payload.alert == [])
    }

    @Test func `after a push at priority 5 a 10 follows at once and another 5 waits`() {
        var bench = Bench()
        bench.tell(bench.targets([bench.target(message: 1, priority: 5)]))
        bench.turn().pushes.forEach { bench.deliver($0) }
        bench.tell(bench.targets([bench.target(message: 2, priority: 10)]))
        bench.turn().pushes.forEach { bench.deliver($0) }
        bench.tell(bench.targets([bench.target(message: 3, priority: 5)]))
        #expect(bench.advance(seconds: 60).map(\.second) == [15])
    }

    @Test func `lim-failed-then-newer: a failed attempt uses up no slot`() {
        var bench = Bench()
        bench.tell(bench.targets([bench.target(message: 1)]))
        let push = bench.turn().pushes[0]
        bench.tell(
            .report(
                Report(
                    id: push.id, attempt: 1, application: "A", environment: .production, result: .retry,
                    status: 503)), from: .apnsGateway)
        _ = bench.advance(seconds: 2)
        bench.tell(bench.targets([bench.target(message: 2)]))
        #expect(bench.turn().pushes.map(\.id.message) == [2])
    }

    @Test func `lim-neighbours-unaffected: other activities of the device do not wait`() {
        var bench = Bench()
        bench.tell(bench.targets([bench.target(message: 1, participant: 1)]))
        bench.turn().pushes.forEach { bench.deliver($0) }
        bench.tell(bench.targets([bench.target(message: 2, participant: 1)]))
        bench.tell(bench.targets([bench.target(message: 3, participant: 2)]))
        bench.tell(bench.targets([bench.target(message: 4, participant: 3)], event: .start))
        #expect(bench.turn().pushes.map(\.id.message).sorted() == [3, 4])
    }

    @Test func `a target that comes twice goes once`() {
        var bench = Bench()
        let message = bench.targets([bench.target(message: 1)])
        bench.tell(message)
        bench.tell(message)
        #expect(bench.turn().pushes.count == 1)
        bench.tell(message)
        #expect(bench.turn().pushes.isEmpty)
    }

    @Test(arguments: [-3_600_000, -2_000, 2_000, 3_600_000] as [Int64])
    func `a clock that is set leaves what was delivered known, and its pace as it was`(step: Int64) {
        var bench = Bench()
        let first = bench.target(message: 1)
        bench.tell(bench.targets([first]))
        bench.turn().pushes.forEach { bench.deliver($0) }
        bench.now = bench.now.advanced(byMilliseconds: 1_000)
        bench.now.wall += step
        #expect(bench.tell(bench.targets([first])).reports.map(\.result) == [.delivered])
        let began = bench.seconds
        var second = bench.target(message: 2)
        second.order = Order(seconds: first.order.seconds, sequence: 2)
        bench.tell(bench.targets([second]))
        #expect(bench.advance(seconds: 20).map { $0.second - began } == [14])
    }

    @Test func `a report by a clock ahead of ours delays nothing longer than the pace`() {
        var bench = Bench()
        bench.tell(bench.targets([bench.target(message: 1)]))
        bench.turn().pushes.forEach { bench.deliver($0, atSecond: 3_600) }
        bench.tell(bench.targets([bench.target(message: 2)]))
        #expect(bench.advance(seconds: 20).map(\.second) == [15])
    }

    @Test func `a target that comes again after it was delivered is answered, not sent`() {
        var bench = Bench()
        let target = bench.target(message: 1)
        bench.tell(bench.targets([target]))
        bench.turn().pushes.forEach { bench.deliver($0) }
        let answer = bench.tell(bench.targets([target])).reports
        #expect(answer.map(\.id) == [target.id])
        #expect(answer.map(\.result) == [.delivered])
        #expect(bench.advance(seconds: 20).isEmpty)
        #expect(bench.limiter.waiting == 0)
    }

    @Test func `a target that a former life has sent is let go with its report`() {
        var bench = Bench()
        let target = bench.target(message: 1)
        bench.room = Room(places: [], settledServices: [])
        bench.tell(bench.targets([target]))
        bench.deliver(Push(target, timestampSeconds: bench.now.wallSeconds))
        bench.room = Room.boundless([.apnsGateway])
        #expect(bench.advance(seconds: 20).isEmpty)
        #expect(bench.limiter.waitingTargets.count == 0)
    }

    @Test func `a retarget changes what waits and leaves another hand-over alone`() {
        var bench = Bench()
        bench.tell(bench.targets([bench.target(message: 1)]))
        bench.tell(.retarget(Retarget(id: PushID(message: 1, device: 1), attempt: 2, token: "cc")))
        bench.tell(.retarget(Retarget(id: PushID(message: 1, device: 1), attempt: 1, token: "b2b2")))
        #expect(bench.turn().pushes.map(\.token) == ["b2b2"])
    }

    @Test func `what has not gone by its send-before is given back`() {
        var bench = Bench()
        bench.room = Room(places: [], settledServices: [])
        bench.tell(bench.targets([bench.target(message: 1)]))
        let back = bench.advance(seconds: 31)
        #expect(back.map(\.second) == [30])
        #expect(back.map(\.message).reports.map(\.reason) == ["send-before"])
        #expect(bench.limiter.waiting == 0)
    }

    @Test func `what has expired is reported expired`() {
        var bench = Bench()
        bench.room = Room(places: [], settledServices: [])
        bench.tell(bench.targets([bench.target(message: 1)], expirationIn: 10))
        #expect(bench.advance(seconds: 31).map(\.message).reports.map(\.result) == [.expired])
    }

    @Test(arguments: [(LossReason.newLife, Int64(0)), (.gone, 50_000)])
    func `a lost push is given back, with what stood on its wire`(reason: LossReason, wait: Int64) {
        var bench = Bench()
        bench.tell(bench.targets([bench.target(message: 1)]))
        let push = bench.turn().pushes[0]
        let reports = bench.lose([.push(push.id, attempt: 1)], reason).reports
        #expect(reports.map(\.result) == [.retry])
        #expect(reports.map(\.retryAtMilliseconds) == [bench.now.wall + wait])
        #expect(reports.map(\.wireTimestampSeconds) == [push.timestampSeconds])
        #expect(bench.lose([.push(push.id, attempt: 1)], reason).isEmpty)
    }

    @Test func `a hand-over that comes late, after it was given back, is no new one`() {
        var bench = Bench()
        bench.tell(
            .hello(Hello(windows: Windows(), paused: [Pause(application: "A", environment: .production)])))
        var target = bench.target(message: 1)
        #expect(bench.tell(bench.targets([target])).reports.map(\.reason) == ["paused"])
        bench.tell(.hello(Hello(windows: Windows())))
        #expect(bench.tell(bench.targets([target])).isEmpty)
        #expect(bench.turn().isEmpty)
        target.attempt = 2
        bench.tell(bench.targets([target]))
        #expect(bench.turn().pushes.map(\.attempt) == [2])
    }

    @Test func `what is paused is given back, but for the trial`() {
        var bench = Bench()
        var trial = bench.target(message: 2, device: 2)
        trial.trial = true
        bench.tell(bench.targets([bench.target(message: 1), trial]))
        let hello = Hello(windows: Windows(), paused: [Pause(application: "A", environment: .production)])
        #expect(bench.tell(.hello(hello)).reports.map(\.id.message) == [1])
        #expect(
            bench.tell(bench.targets([bench.target(message: 3, device: 3)])).reports.map(\.reason) == [
                "paused"
            ])
        #expect(bench.turn().pushes.map(\.id.message) == [2])
        bench.tell(.hello(Hello(windows: Windows())))
        bench.tell(bench.targets([bench.target(message: 4, device: 4)]))
        #expect(bench.turn().pushes.map(\.id.message) == [4])
    }

    @Test func `a caller's fresh timestamp stands on the wire, and a repeat keeps the first one`() {
        var bench = Bench()
        var repeated = bench.target(message: 1)
        repeated.wireTimestampSeconds = bench.now.wallSeconds - 20
        bench.tell(bench.targets([repeated]))
        #expect(bench.turn().pushes.map(\.timestampSeconds) == [bench.now.wallSeconds - 20])
        var stale = bench.target(message: 2, device: 2)
        stale.wireTimestampSeconds = bench.now.wallSeconds - 31
        bench.tell(bench.targets([stale]))
        #expect(bench.turn().pushes.map(\.timestampSeconds) == [bench.now.wallSeconds])
    }

    @Test func `one application's queue does not hold up another's, and the room is shared`() {
        var bench = Bench()
        let many = (1...3_000).map { bench.target(message: 1, device: Int64($0)) }
        bench.tell(bench.targets(many, application: "A"))
        bench.tell(bench.targets([bench.target(message: 2, device: 9_999)], application: "B"))
        bench.room = Room(
            places: [.init(instance: InstanceName(.apnsGateway), windows: Windows(pushes: 200))],
            settledServices: [.apnsGateway])
        let pushes = bench.turn().pushes
        #expect(pushes.contains { $0.id.message == 2 })
        #expect(pushes.count < 200 && pushes.count >= 100)
    }

    @Test func `lim-no-leak: nothing is left of what was delivered`() {
        var bench = Bench()
        for message in 1...2_000 {
            bench.tell(bench.targets([bench.target(message: Int64(message), device: Int64(message))]))
            bench.turn().pushes.forEach { bench.deliver($0) }
        }
        _ = bench.advance(seconds: 20)
        #expect(bench.turn().isEmpty)
        #expect(bench.limiter.waiting == 0)
        #expect(bench.limiter.underway.isEmpty)
        #expect(bench.limiter.paces.count == 0)
    }
}

@Suite struct `Heap of slots` {
    @Test func `elements come out in order`() {
        var heap = Heap<Int>()
        var numbers = (0..<500).map { ($0 * 7_919) % 1_009 }
        numbers.forEach { heap.push($0) }
        var out: [Int] = []
        while let first = heap.first {
            out.append(first)
            heap.removeFirst()
        }
        numbers.sort()
        #expect(out == numbers)
    }
}
