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
