import Contracts
import Testing

@testable import segmenter

/// Today is 2023-11-14.
@Suite struct `Filters over dates, days and lists` {
    private func bench() throws -> Bench {
        var bench = try Bench()
        let days = [
            "a": "2023-11-14", "b": "2023-11-13 10:30:00", "c": "2023-11-07", "d": "2023-10-31T08:00",
            "e": "2023-11-20", "f": "20231114",
        ]
        for (device, day) in days.sorted(by: { $0.key < $1.key }) {
            try bench.register(device, .tags(["seen": .set(.string(day))]))
        }
        try bench.register("n", .tags(["seen": .set(.integer(7)), "sizes": .set(.list(["38", "40"]))]))
        try bench.register("m", .tags(["sizes": .set(.list(["40", "1.5"])), "size": .set(.string("40"))]))
        return bench
    }

    struct Case: Sendable, CustomTestStringConvertible {
        var filter: Filter
        var matched: String
        var testDescription: String { "\(filter)" }

        init(
            _ comparison: Filter.Comparison, _ values: [TagValue], _ matched: String, tag: String = "seen"
        ) {
            filter = .tag(name: tag, comparison: comparison, values: values)
            self.matched = matched
        }
    }

    static let cases: [Case] = [
        // A day is all of its hours.
        Case(.equal, [.string("2023-11-13")], "b"), Case(.notEqual, [.string("2023-11-13")], "acdefn"),
        Case(.oneOf, [.string("2023-11-13"), .string("2023-11-14")], "ab"),
        Case(.lessOrEqual, [.string("2023-10-31")], "d"),
        Case(.greaterOrEqual, [.string("2023-11-13")], "abe"),
        Case(.between, [.string("2023-11-07"), .string("2023-11-13")], "bc"),
        Case(.equal, [.string("2023-11-13 10:30:00")], "b"),
        Case(.lessOrEqual, [.string("2023-11-13 10:00:00")], "cd"),
        // A whole number counts days back; a text that is no date lies neither before nor behind a day.
        Case(.equal, [.integer(0)], "a"), Case(.equal, [.integer(1)], "b"), Case(.equal, [.integer(-6)], "e"),
        Case(.equal, [.integer(7)], "cn"), Case(.lessOrEqual, [.integer(7)], "abcen"),
        Case(.greaterOrEqual, [.integer(7)], "cdn"), Case(.between, [.integer(1), .integer(13)], "bcn"),
        Case(.oneOf, [.integer(0), .integer(14)], "ad"), Case(.noneOf, [.integer(0), .integer(14)], "bcefn"),
        Case(.notEqual, [.integer(7)], "abdef"), Case(.lessOrEqual, [.number(7.5)], "n"),
        Case(.greaterOrEqual, [.integer(.max)], ""), Case(.lessOrEqual, [.integer(.min)], ""),
        Case(.between, [.integer(0), .string("3")], ""), Case(.notSet, [], "m"),
        // A number is also the member of a list that is written so, but not a text.
        Case(.equal, [.integer(40)], "nm", tag: "sizes"), Case(.oneOf, [.integer(38)], "n", tag: "sizes"),
        Case(.equal, [.number(1.5)], "m", tag: "sizes"), Case(.notEqual, [.integer(38)], "m", tag: "sizes"),
        Case(.noneOf, [.integer(38), .number(1.5)], "", tag: "sizes"),
        Case(.equal, [.integer(40)], "", tag: "size"), Case(.equal, [.string("40")], "m", tag: "size"),
    ]

    @Test(arguments: cases)
    func `a condition matches`(_ example: Case) throws {
        var bench = try bench()
        #expect(try bench.matched(example.filter).joined() == example.matched)
    }

    @Test func `days are counted back from the message's acceptance, not from the pass`() throws {
        var bench = try bench()
        let command = bench.command(
            .filter(.tag(name: "seen", comparison: .equal, values: [.integer(0)])))
        bench.now.wall += 86_400_000
        _ = try bench.tell(.command(command))
        #expect(try bench.drain().flatMap(\.recipients) == ["a"])
    }
}
