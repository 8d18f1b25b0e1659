import Contracts
import Foundation
import Testing

@Suite struct InstanceNameTests {
    @Test(arguments: ServiceName.allCases)
    func `a name is read from what it is written as`(service: ServiceName) {
        for number in [1, 12, InstanceName.numberMax] {
            #expect(InstanceName(InstanceName(service, number).description) == InstanceName(service, number))
        }
    }

    @Test(arguments: [
        "", "ingest", "ingest.", "ingest.0", "ingest.1000", "ingest.-1", ".1", "other.1", "ingest.1.1",
    ])
    func `what is no name is none`(text: String) {
        #expect(InstanceName(text) == nil)
    }

    @Test func `instances are ordered by service, then by number`() {
        let names = [InstanceName(.segmenter, 2), InstanceName(.segmenter, 10), InstanceName(.ingest, 3)]
        #expect(names.sorted().map(\.description) == ["ingest.3", "segmenter.2", "segmenter.10"])
    }

    @Test func `who is a neighbour has one`() {
        for service in ServiceName.allCases {
            for neighbour in service.neighbours {
                #expect(neighbour.neighbours.contains(service))
                #expect(service.needs(neighbour) == (Set([service, neighbour]) != [.ingest, .apnsGateway]))
            }
        }
    }
}

@Suite struct ChoiceCodingTests {
    private func decode<T: Decodable>(_ type: T.Type, _ text: String) throws -> T {
        try JSONDecoder().decode(type, from: Data(text.utf8))
    }

    @Test(arguments: ["{}", #"{"unknown":1}"#, #"{"devices":["a"],"users":["b"]}"#, "[]", "1", "null"])
    func `an audience is exactly one known kind`(text: String) {
        #expect(throws: (any Error).self) { try decode(Audience.self, text) }
        #expect(throws: (any Error).self) { try decode(TagChange.self, text) }
        #expect(throws: (any Error).self) { try decode(Registration.Change.self, text) }
        #expect(throws: (any Error).self) { try decode(Filter.self, text) }
    }

    @Test(
        arguments: [
            ("true", .boolean(true)), ("1", .integer(1)), ("1.5", .number(1.5)), (#""1""#, .string("1")),
            (#"["a"]"#, .list(["a"])), ("9223372036854775807", .integer(.max)),
        ] as [(String, TagValue)])
    func `a tag's value keeps its type`(text: String, value: TagValue) throws {
        #expect(try decode(TagValue.self, text) == value)
    }

    @Test(arguments: ["null", "{}", "[1]"])
    func `what is no tag's value is refused`(text: String) {
        #expect(throws: (any Error).self) { try decode(TagValue.self, text) }
    }
}

@Suite struct PaceTests {
    private let interval: Int64 = 15_000

    private func sent(_ pace: Pace, at now: Int64, _ priority: Int) -> Pace {
        var pace = pace
        pace.sent(
            atMilliseconds: now, priority: priority, intervalMilliseconds: interval, order: order,
            wireSeconds: now / 1000)
        return pace
    }

    private func slot(_ pace: Pace, _ priority: Int, burst: Int = 1) -> Int64 {
        pace.slotMilliseconds(priority: priority, intervalMilliseconds: interval, burst: burst)
    }

    @Test func `the first push goes at once, the next after the interval`() {
        #expect(slot(Pace(), 10) <= 0)
        #expect(slot(sent(Pace(), at: 100_000, 10), 10) == 115_000)
        #expect(slot(sent(Pace(), at: 100_000, 10), 5) == 115_000)
    }

    @Test func `after a push at 5 a 10 may follow at once and another 5 waits`() {
        let pace = sent(Pace(), at: 100_000, 5)
        #expect(slot(pace, 10) <= 100_000)
        #expect(slot(pace, 5) == 115_000)
    }

    @Test func `a burst is used up and comes back`() {
        var pace = Pace()
        for _ in 0..<3 {
            #expect(slot(pace, 10, burst: 3) <= 100_000)
            pace = sent(pace, at: 100_000, 10)
        }
        #expect(slot(pace, 10, burst: 3) == 115_000)
    }

    @Test(
        arguments: [
            (nil, 100, 0, 100), (nil, 100, 100, 101), (nil, 100, 150, 151), (95, 100, 0, 95),
            (90, 100, 0, 90),
            (89, 100, 0, 100), (95, 100, 95, 100), (101, 100, 100, 101),
        ] as [(Int64?, Int64, Int64, Int64)])
    func `what stands on the wire never goes back and is never old`(
        caller: Int64?, now: Int64, last: Int64, wire: Int64
    ) {
        var pace = Pace()
        pace.lastWireSeconds = last
        #expect(pace.wireSeconds(callerSeconds: caller, nowSeconds: now) == wire)
    }
}

@Suite struct OutcomeCountsTests {
    @Test func `each outcome has a count of its own`() {
        var counts = OutcomeCounts()
        for (index, outcome) in Outcome.allCases.enumerated() { counts[outcome] = index + 1 }
        for (index, outcome) in Outcome.allCases.enumerated() { #expect(counts[outcome] == index + 1) }
        #expect(counts.total == 21)
    }
}

@Suite struct `The clock is set` {
    @Test func `by what lies between it and the monotonic one, little by little is not`() {
        var step = ClockStep()
        let first = Moment(monotonic: 5_000, wall: 1_700_000_000_000)
        #expect(step.notice(first) == nil)
        #expect(step.notice(first.advanced(byMilliseconds: 90_000)) == nil)
        #expect(step.notice(Moment(monotonic: 100_000, wall: first.wall + 95_999)) == nil)
        #expect(step.notice(Moment(monotonic: 100_001, wall: first.wall + 97_000)) == 1_000)
        #expect(step.notice(Moment(monotonic: 100_002, wall: first.wall)) == -97_001)
        #expect(step.notice(Moment(monotonic: 100_003, wall: first.wall + 1)) == nil)
    }

    @Test func `and a report goes by it, but for what APNs and the wire say`() {
        var report = Report(
            id: PushID(message: 1, device: 1), attempt: 1, application: "A", environment: .production,
            result: .retry)
        report.retryAtMilliseconds = 1_700_000_005_000
        report.sentAtMilliseconds = 1_700_000_000_000
        report.apnsTimestampMilliseconds = 1_700_000_001_000
        report.wireTimestampSeconds = 1_700_000_000
        var message = Message.report(report)
        message.moveInstants(byMilliseconds: 60_000)
        report.retryAtMilliseconds = 1_700_000_065_000
        report.sentAtMilliseconds = 1_700_000_060_000
        #expect(message == .report(report))
    }

    @Test func `and a target goes by it; what is not set stays so`() {
        var target = Target(
            id: PushID(message: 1, device: 1), attempt: 1, participant: 1,
            order: Order(seconds: 1_700_000_000, sequence: 1), token: "00", environment: .production,
            apnsID: "00000000-0000-4000-8000-000000000001", priority: 10, pace: Pace(),
            intervalMilliseconds: 15_000, burst: 1, notBeforeMilliseconds: 0,
            sendBeforeMilliseconds: 1_700_000_030_000)
        target.pace.fiveNotBeforeMilliseconds = 1_700_000_015_000
        let notification = Notification(event: .update, expirationSeconds: 1_700_000_900)
        func message(_ targets: [Target]) -> Message {
            .targets(
                Targets(application: "A", notification: notification, targets: targets, payload: Payload()))
        }
        var moved = message([target])
        moved.moveInstants(byMilliseconds: -10_000)
        target.pace.fiveNotBeforeMilliseconds -= 10_000
        target.sendBeforeMilliseconds -= 10_000
        #expect(moved == message([target]))
        var push = Push(target, timestampSeconds: 1_700_000_000)
        var pushes = Message.pushes(
            Pushes(application: "A", notification: notification, pushes: [push], payload: Payload()))
        pushes.moveInstants(byMilliseconds: 1_000)
        push.sendBeforeMilliseconds += 1_000
        #expect(
            pushes
                == .pushes(
                    Pushes(application: "A", notification: notification, pushes: [push], payload: Payload())))
    }
}
