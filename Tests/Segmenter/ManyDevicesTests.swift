import Contracts
import Testing

@testable import segmenter

/// More devices than count as few, so that conditions are read along the columns and from the index.
@Suite struct `Filters over many devices` {
    private struct Device: Sendable {
        var hwid: String
        var city: String
        var age: Int
        var likes: [String]
        var isPlain: Bool
    }

    private static let cities = ["Oslo", "Paris", "Rome"]

    private static let devices: [Device] = (0..<9_000).map { index in
        Device(
            hwid: "d\(index)", city: cities[index % 3], age: index % 100,
            likes: index.isMultiple(of: 2) ? ["x", "y"] : ["y"], isPlain: index % 7 == 0)
    }

    private func bench() throws -> Bench {
        var bench = try Bench()
        try bench.together { bench in
            for (index, device) in Self.devices.enumerated() {
                // Those of another application stand between them.
                if index.isMultiple(of: 1_000) {
                    try bench.register(
                        device.hwid, .tags(["city": .set(.string("Oslo"))]), application: "B")
                }
                var tags: [String: TagChange] = ["city": .set(.string(device.city))]
                if !device.isPlain {
                    tags["age"] = .set(.integer(Int64(device.age)))
                    tags["likes"] = .set(.list(device.likes))
                }
                try bench.register(device.hwid, .tags(tags))
            }
        }
        return bench
    }

    private static func tag(
        _ name: String, _ comparison: Filter.Comparison, _ values: TagValue...
    ) -> Filter { .tag(name: name, comparison: comparison, values: values) }

    private static let cases: [(Filter, @Sendable (Device) -> Bool)] = [
        (.everyone, { _ in true }),
        (tag("city", .equal, .string("Paris")), { $0.city == "Paris" }),
        (tag("city", .notEqual, .string("Paris")), { $0.city != "Paris" }),
        (tag("city", .oneOf, .string("Paris"), .string("Rome")), { $0.city != "Oslo" }),
        (tag("city", .noneOf, .string("Paris"), .string("Rome")), { $0.city == "Oslo" }),
        (tag("city", .greaterOrEqual, .string("P")), { $0.city != "Oslo" }),
        (tag("age", .lessOrEqual, .integer(79)), { !$0.isPlain && $0.age <= 79 }),
        (tag("age", .greaterOrEqual, .integer(20)), { !$0.isPlain && $0.age >= 20 }),
        (tag("age", .between, .integer(10), .integer(90)), { !$0.isPlain && (10...90).contains($0.age) }),
        (tag("age", .equal, .integer(42)), { !$0.isPlain && $0.age == 42 }),
        (tag("age", .notEqual, .integer(42)), { !$0.isPlain && $0.age != 42 }),
        (tag("age", .notSet), { $0.isPlain }), (tag("nothing", .notSet), { _ in true }),
        (tag("nothing", .notEqual, .integer(1)), { _ in false }),
        (tag("likes", .equal, .string("y")), { !$0.isPlain }),
        (tag("likes", .noneOf, .string("x")), { !$0.isPlain && $0.likes == ["y"] }),
        (
            .except(
                tag("age", .greaterOrEqual, .integer(10)), minus: tag("age", .greaterOrEqual, .integer(80))),
            { !$0.isPlain && (10..<80).contains($0.age) }
        ),
        (
            .all([tag("city", .equal, .string("Rome")), tag("age", .equal, .integer(5))]),
            { !$0.isPlain && $0.city == "Rome" && $0.age == 5 }
        ),
        (
            .any([tag("age", .equal, .integer(99)), tag("age", .notSet)]),
            { $0.isPlain || $0.age == 99 }
        ),
        (
            .except(
                .any([tag("city", .equal, .string("Oslo")), tag("likes", .equal, .string("x"))]),
                minus: .all([tag("age", .lessOrEqual, .integer(90)), .except(.everyone, minus: .any([]))])),
            { ($0.city == "Oslo" || !$0.isPlain && $0.likes.count == 2) && ($0.isPlain || $0.age > 90) }
        ),
        (
            .all([tag("age", .lessOrEqual, .integer(40)), tag("age", .greaterOrEqual, .integer(41))]),
            { _ in false }
        ),
    ]

    @Test func `each condition matches whom a plain look at each device finds`() throws {
        var bench = try bench()
        for (filter, holds) in Self.cases {
            let expected = Self.devices.filter(holds).map(\.hwid)
            let matched = try bench.matched(filter)
            #expect(matched == expected, "\(filter)")
            let count = try bench.ask(.audience(filter: filter))
            #expect(count == [.answer(Answer(id: 1, content: .count(devices: expected.count)))], "\(filter)")
        }
    }
}
