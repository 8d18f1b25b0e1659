import Contracts
import Testing

@testable import segmenter

@Suite struct `Filters over tags` {
    /// Four devices: a (Paris, 10, true, [x, y]), b (Rome, 20.5, false, [y]), c (Paris, no age), d (no tag).
    private func bench() throws -> Bench {
        var bench = try Bench()
        try bench.register(
            "a",
            .tags([
                "city": .set(.string("Paris")), "age": .set(.integer(10)), "vip": .set(.boolean(true)),
                "likes": .set(.list(["x", "y"])),
            ]))
        try bench.register(
            "b",
            .tags([
                "city": .set(.string("Rome")), "age": .set(.number(20.5)), "vip": .set(.boolean(false)),
                "likes": .set(.list(["y"])),
            ]))
        try bench.register("c", .tags(["city": .set(.string("Paris")), "likes": .set(.list([]))]))
        try bench.register("d", .profile(Profile()))
        return bench
    }

    struct Case: Sendable, CustomTestStringConvertible {
        var filter: Filter
        var matched: String
        var testDescription: String { "\(filter)" }

        init(_ name: String, _ comparison: Filter.Comparison, _ values: [TagValue], _ matched: String) {
            filter = .tag(name: name, comparison: comparison, values: values)
            self.matched = matched
        }

        init(_ filter: Filter, _ matched: String) {
            self.filter = filter
            self.matched = matched
        }
    }

    private static func city(_ city: String) -> Filter {
        .tag(name: "city", comparison: .equal, values: [.string(city)])
    }

    static let cases: [Case] = [
        Case("city", .equal, [.string("Paris")], "ac"), Case("city", .equal, [.string("paris")], ""),
        Case("city", .notEqual, [.string("Paris")], "b"),
        Case("city", .oneOf, [.string("Rome"), .string("Oslo")], "b"),
        Case("city", .noneOf, [.string("Rome"), .string("Oslo")], "ac"), Case("city", .notSet, [], "d"),
        Case("age", .equal, [.integer(10)], "a"), Case("age", .equal, [.number(10)], "a"),
        Case("age", .equal, [.string("10")], ""), Case("age", .lessOrEqual, [.integer(20)], "a"),
        Case("age", .greaterOrEqual, [.integer(10)], "ab"), Case("age", .greaterOrEqual, [.integer(21)], ""),
        Case("age", .between, [.integer(10), .number(20.5)], "ab"), Case("age", .notSet, [], "cd"),
        Case("city", .greaterOrEqual, [.integer(0)], ""),
        Case("city", .between, [.string("P"), .string("Q")], "ac"),
        Case("vip", .equal, [.boolean(true)], "a"), Case("vip", .equal, [.integer(0)], "b"),
        Case("likes", .equal, [.string("y")], "ab"),
        Case("likes", .oneOf, [.string("x"), .string("z")], "a"),
        Case("likes", .notEqual, [.string("x")], "bc"), Case("likes", .notSet, [], "d"),
        Case(.everyone, "abcd"), Case(.all([]), "abcd"), Case(.any([]), ""),
        Case(.all([city("Paris"), .tag(name: "age", comparison: .equal, values: [.integer(10)])]), "a"),
        Case(.any([city("Rome"), city("Paris")]), "abc"),
        Case(.except(.everyone, minus: city("Paris")), "bd"),
        Case(
            .all([.any([city("Rome"), city("Paris")]), .tag(name: "age", comparison: .notSet, values: [])]),
            "c"),
    ]

    @Test(arguments: cases)
    func `a condition matches`(_ example: Case) throws {
        var bench = try bench()
        #expect(try bench.matched(example.filter).joined() == example.matched)
    }

    /// The door takes no deeper ones.
    @Test(arguments: 0..<3)
    func `conditions nested eight levels deep are answered`(_ shift: Int) throws {
        var bench = try bench()
        let filter = (0..<8).reduce(Self.city("Rome")) { inner, level in
            switch (level + shift) % 3 {
            case 0: .all([.everyone, inner])
            case 1: .any([Self.city("Oslo"), inner])
            default: .except(.everyone, minus: inner)
            }
        }
        let matched = try bench.matched(filter).joined()
        let minuses = (0..<8).count { ($0 + shift) % 3 == 2 }
        #expect(matched == (minuses.isMultiple(of: 2) ? "b" : "acd"))
    }

    @Test func `a tag's name and value are data, not SQL`() throws {
        var bench = try Bench()
        let name = #"x' OR '1'='1"#
        try bench.register("a", .tags([name: .set(.string("v'); DROP TABLE tags; --"))]))
        try bench.register("b", .tags(["x": .set(.string("v"))]))
        let filter = Filter.tag(name: name, comparison: .equal, values: [.string("v'); DROP TABLE tags; --")])
        #expect(try bench.matched(filter) == ["a"])
    }

    @Test func `an application's filter sees its own devices`() throws {
        var bench = try bench()
        try bench.register("z", .tags(["city": .set(.string("Paris"))]), application: "B")
        #expect(try bench.matched(Self.city("Paris")) == ["a", "c"])
    }

    @Test func `devices that are not iPhones, or have unregistered, are left out`() throws {
        var bench = try bench()
        var android = Profile()
        android.deviceType = 3
        try bench.register("a", .profile(android))
        try bench.register("c", .unregister)
        #expect(try bench.matched(.everyone) == ["b", "d"])
        try bench.register("c", .profile(Profile()))
        #expect(try bench.matched(.everyone) == ["b", "c", "d"])
    }

    @Test func `a query counts and reads tags`() throws {
        var bench = try bench()
        let count = try bench.ask(.audience(filter: Self.city("Paris")), id: 5)
        #expect(count == [.answer(Answer(id: 5, content: .count(devices: 2)))])
        let tags = try bench.tell(.query(Query(id: 6, application: "A", kind: .tags(device: "b"))))
        #expect(
            tags == [
                .answer(
                    Answer(
                        id: 6,
                        content: .tags(values: [
                            "city": .string("Rome"), "age": .number(20.5), "vip": .boolean(false),
                            "likes": .list(["y"]),
                        ])))
            ])
        let other = try bench.tell(.query(Query(id: 7, application: "B", kind: .tags(device: "b"))))
        #expect(other == [.answer(Answer(id: 7, content: .tags(values: [:])))])
    }
}
