import Processes
import Testing

@testable import liveline

struct SupervisionTests {
    private let killed = ProcessExit.signal(9)

    /// Children that are all ready at time 0.
    private func ready(_ count: Int, _ settings: SupervisionSettings = SupervisionSettings()) -> Supervision {
        var supervision = Supervision(comesFirst: Array(repeating: false, count: count), settings: settings)
        _ = supervision.tick(0)
        for place in 0..<count { _ = supervision.becameReady(place, 0) }
        return supervision
    }

    @Test func `all are started at once`() {
        var supervision = Supervision(comesFirst: [false, false])
        #expect(supervision.nextDeadlineMilliseconds == 0)
        #expect(supervision.tick(0) == [.start(0), .start(1)])
        #expect(supervision.tick(1) == [])
        #expect(supervision.nextDeadlineMilliseconds == nil)
        #expect(!supervision.isReady)
        #expect(supervision.becameReady(0, 5) == [])
        #expect(supervision.becameReady(1, 6) == [])
        #expect(supervision.isReady)
    }

    @Test func `the others wait until what comes first is ready`() {
        var supervision = Supervision(comesFirst: [false, false, true])
        #expect(supervision.tick(0) == [.start(2)])
        #expect(supervision.becameReady(2, 7) == [.start(0), .start(1)])
    }

    @Test func `what comes first may die later without stopping the others`() {
        var supervision = Supervision(comesFirst: [false, true])
        _ = supervision.tick(0)
        _ = supervision.becameReady(1, 0)
        _ = supervision.ended(1, killed, 10)
        _ = supervision.ended(0, killed, 10)
        #expect(supervision.tick(210) == [.start(0), .start(1)])
    }

    @Test func `a child that dies is started again after doubling times`() {
        var supervision = ready(1)
        var now: Int64 = 0
        var delays: [Int64] = []
        for _ in 0..<8 {
            #expect(supervision.ended(0, killed, now) == [])
            let due = supervision.nextDeadlineMilliseconds ?? -1
            delays.append(due - now)
            #expect(supervision.tick(due - 1) == [])
            #expect(supervision.tick(due) == [.start(0)])
            now = due + 1
        }
        #expect(delays == [200, 400, 800, 1_600, 3_200, 6_400, 10_000, 10_000])
    }

    @Test(arguments: [(29_999, 400), (30_000, 200)])
    func `a long life lets the times begin anew`(life: Int64, delay: Int64) {
        var supervision = ready(1)
        _ = supervision.ended(0, killed, 0)
        _ = supervision.tick(200)
        _ = supervision.ended(0, killed, 200 + life)
        #expect(supervision.nextDeadlineMilliseconds == 200 + life + delay)
    }

    @Test func `a child that cannot be started is tried again`() {
        var supervision = Supervision(comesFirst: [false])
        _ = supervision.tick(0)
        #expect(supervision.ended(0, nil, 0) == [])
        #expect(supervision.tick(200) == [.start(0)])
    }

    @Test func `one that is held down stays down until it is let up`() {
        var supervision = ready(2)
        #expect(supervision.holdDown(0) == [.kill(0)])
        #expect(supervision.ended(0, killed, 5) == [])
        #expect(supervision.nextDeadlineMilliseconds == nil)
        #expect(supervision.tick(1_000_000) == [])
        #expect(!supervision.isReady)
        #expect(supervision.letUp(1, 1_000_000) == [])
        #expect(supervision.letUp(0, 1_000_000) == [.start(0)])
        #expect(supervision.becameReady(0, 1_000_001) == [])
        #expect(supervision.isReady)
        _ = supervision.holdDown(0)
        _ = supervision.ended(0, killed, 1_000_002)
        #expect(supervision.stop(1_000_003) == [.terminate(1)])
        #expect(supervision.letUp(0, 1_000_004) == [])
    }

    @Test func `children go down one after the other, in order`() {
        var supervision = ready(3)
        #expect(supervision.stop(0) == [.terminate(0)])
        #expect(!supervision.isOver)
        #expect(supervision.ended(0, .code(0), 5) == [.terminate(1)])
        #expect(supervision.ended(1, .code(0), 9) == [.terminate(2)])
        #expect(supervision.ended(2, .code(0), 9) == [])
        #expect(supervision.isOver)
    }

    @Test func `one that dies out of order is not started again and not terminated`() {
        var supervision = ready(3)
        _ = supervision.stop(0)
        #expect(supervision.ended(1, killed, 1) == [.terminate(0)])
        #expect(supervision.ended(0, .code(0), 2) == [.terminate(2)])
        #expect(supervision.tick(20_000) == [])
    }

    @Test func `what waits to be started again is over when all stop`() {
        var supervision = ready(2)
        _ = supervision.ended(0, killed, 0)
        #expect(supervision.stop(1) == [.terminate(1)])
        _ = supervision.ended(1, .code(0), 2)
        #expect(supervision.isOver)
        #expect(supervision.tick(1_000) == [])
    }

    @Test func `what has not stopped in time is killed`() {
        var supervision = ready(2, SupervisionSettings(drainMilliseconds: 100))
        _ = supervision.stop(0)
        #expect(supervision.nextDeadlineMilliseconds == 100)
        #expect(supervision.tick(99) == [])
        #expect(supervision.tick(100) == [.kill(0), .kill(1)])
        #expect(supervision.ended(0, killed, 101) == [])
        #expect(supervision.ended(1, killed, 101) == [])
        #expect(supervision.isOver)
    }

    @Test func `told to stop again it asks all at once, and kills what stays a second longer`() {
        var supervision = ready(3)
        _ = supervision.stop(0)
        #expect(supervision.stop(10) == [.terminate(0), .terminate(1), .terminate(2)])
        #expect(supervision.stop(20) == [])
        #expect(supervision.ended(0, .code(0), 30) == [])
        #expect(supervision.nextDeadlineMilliseconds == 1_010)
        #expect(supervision.tick(1_009) == [])
        #expect(supervision.tick(1_010) == [.kill(1), .kill(2)])
        #expect(supervision.stop(1_011) == [])
        #expect(supervision.nextDeadlineMilliseconds == nil)
    }

    @Test func `told to stop again late it waits no longer than it would have`() {
        var supervision = ready(1, SupervisionSettings(drainMilliseconds: 100))
        _ = supervision.stop(0)
        #expect(supervision.stop(90) == [.terminate(0)])
        #expect(supervision.tick(100) == [.kill(0)])
    }

    @Test(arguments: [64, 78] as [Int32])
    func `a child that will never be ready stops all of them`(code: Int32) {
        var supervision = Supervision(comesFirst: [false, false])
        _ = supervision.tick(0)
        #expect(supervision.ended(1, .code(code), 3) == [.terminate(0)])
        #expect(supervision.hopeless?.child == 1)
        #expect(supervision.hopeless?.code == code)
        _ = supervision.ended(0, .code(0), 4)
        #expect(supervision.isOver)
    }

    @Test(arguments: [69, 70, 75] as [Int32])
    func `other codes are tried again`(code: Int32) {
        var supervision = Supervision(comesFirst: [false])
        _ = supervision.tick(0)
        _ = supervision.ended(0, .code(code), 3)
        #expect(supervision.hopeless == nil)
        #expect(supervision.tick(203) == [.start(0)])
    }

    @Test func `one that was ready once is started again whatever its code`() {
        var supervision = ready(1)
        _ = supervision.ended(0, .code(78), 0)
        #expect(supervision.tick(200) == [.start(0)])
    }
}
