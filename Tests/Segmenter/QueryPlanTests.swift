import Contracts
import Store
import Testing

@testable import segmenter

@Suite struct `Queries of conditions` {
    /// The stretches of values that every kind of condition asks for.
    static let spans: [ValueSpan] = {
        let values: [TagValue] = [
            .string("x"), .string("2026-01-31"), .integer(7), .number(1.5), .boolean(true), .list(["x"]),
        ]
        var spans: [ValueSpan] = [.any]
        for value in values {
            spans += ValueSpan.equal(value, today: 20_000)
            spans += ValueSpan.atMost(value, today: 20_000)
            spans += ValueSpan.atLeast(value, today: 20_000)
            spans += ValueSpan.between(value, value, today: 20_000)
        }
        return spans
    }()

    private func plan(_ sql: String, _ values: [Value]) throws -> String {
        let profiles = try Profiles(.memory)
        var steps: [String] = []
        try profiles.database.query(SQL("EXPLAIN QUERY PLAN \(sql)"), values: values) {
            steps.append($0.text(3))
        }
        return steps.joined(separator: "; ")
    }

    @Test(arguments: spans)
    func `few devices with a value are found in the index on values`(_ span: ValueSpan) throws {
        let plan = try plan(ConditionReader.first(span), [.int(1)] + span.operands)
        let place = "INDEX tags_value (tag=?\(span.condition == nil ? ")" : " AND value")"
        #expect(plan.hasPrefix("SEARCH tags USING") && plan.contains(place), "\(plan)")
        #expect(!plan.contains(";"), "\(plan)")
    }

    @Test(arguments: spans)
    func `a stretch of devices is read from the index or along the column`(_ span: ValueSpan) throws {
        let plan = try plan(
            ConditionReader.within(span), [.int(1), .int(64), .int(128)] + span.operands)
        let place =
            span.isPoint
            ? "INDEX tags_value (tag=? AND value=? AND device>? AND device<?)"
            : "PRIMARY KEY (tag=? AND device>? AND device<?)"
        #expect(plan.hasPrefix("SEARCH tags USING") && plan.hasSuffix(place), "\(plan)")
    }

    @Test(arguments: spans.filter(\.isPoint))
    func `the next device with a value is one look into the index`(_ span: ValueSpan) throws {
        let plan = try plan(ConditionReader.following(span), [.int(1), .int(64)] + span.operands)
        #expect(plan.hasSuffix("INDEX tags_value (tag=? AND value=? AND device>?)"), "\(plan)")
    }

    static let others: [(sql: String, values: Int, place: String)] = [
        (
            "SELECT id FROM devices WHERE id >= ? AND id < ? AND \(AudienceReading.reachable)", 3,
            "SEARCH devices USING INTEGER PRIMARY KEY (rowid>? AND rowid<?)"
        ),
        (
            UserDevices.nextText, 5,
            "SEARCH devices USING INDEX devices_user (application=? AND user=? AND rowid>?)"
        ),
        (
            "SELECT device FROM tags WHERE tag = ? AND device >= ? ORDER BY device LIMIT 1", 2,
            "SEARCH tags USING PRIMARY KEY (tag=? AND device>?)"
        ),
    ]

    @Test(arguments: others)
    func `devices are found by number or by user`(_ query: (sql: String, values: Int, place: String)) throws {
        #expect(try plan(query.sql, Array(repeating: .int(1), count: query.values)) == query.place)
    }
}
