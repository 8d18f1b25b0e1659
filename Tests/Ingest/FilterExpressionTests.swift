import Contracts
import Testing

@testable import ingest

@Suite struct FilterExpressionTests {
    private static let application = "AAAAA-00001"

    private static func tag(_ comparison: Filter.Comparison, _ values: TagValue...) -> Filter {
        .tag(name: "T", comparison: comparison, values: values)
    }

    private static func parse(_ text: String) throws(FilterFault) -> Filter {
        try FilterExpression.parse(text, application: application)
    }

    static let conditions: [(String, Filter)] = [
        (#"T("T", EQ, "x")"#, tag(.equal, .string("x"))),
        (#" t ( "T" , eq , 7 ) "#, tag(.equal, .integer(7))),
        (#"T("T",NotEq,7)"#, tag(.notEqual, .integer(7))),
        (#"T("T", LTE, 1.5)"#, tag(.lessOrEqual, .number(1.5))),
        (#"T("T", GTE, -2e+3)"#, tag(.greaterOrEqual, .integer(-2_000))),
        (#"T("T", GTE, 2026-01-31)"#, tag(.greaterOrEqual, .string("2026-01-31"))),
        (#"T("T", GTE, "2026-01-31 00:00:00")"#, tag(.greaterOrEqual, .string("2026-01-31"))),
        (#"T("T", LTE, "2026-01-31 10:00:00")"#, tag(.lessOrEqual, .string("2026-01-31 10:00:00"))),
        (
            #"T("T", EQ, "2026-01-31 00:00:00")"#,
            tag(.oneOf, .string("2026-01-31 00:00:00"), .string("2026-01-31"))
        ),
        (#"T("T", EQ, true)"#, tag(.equal, .boolean(true))),
        (#"T("T", EQ, "false")"#, tag(.oneOf, .string("false"), .boolean(false))),
        (#"T("T", NOTEQ, "true")"#, tag(.noneOf, .string("true"), .boolean(true))),
        (#"T("T", BETWEEN, [1, 9])"#, tag(.between, .integer(1), .integer(9))),
        (#"T("T", IN, ["a", "b"])"#, tag(.oneOf, .string("a"), .string("b"))),
        (#"T("T", EQ, ["a", "b"])"#, tag(.oneOf, .string("a"), .string("b"))),
        (#"T("T", IN, ["a"])"#, tag(.oneOf, .string("a"))),
        (#"T("T", NOTIN, [1])"#, tag(.noneOf, .integer(1))),
        (#"T("T", NOTSET)"#, tag(.notSet)), (#"T("T", not set)"#, tag(.notSet)),
        (#"T("T", not_set)"#, tag(.notSet)), (#"AT("AAAAA-00001", "T", EQ, 1)"#, tag(.equal, .integer(1))),
        (#"A("aaaaa-00001")"#, .everyone), (#"A("AAAAA-00001", ["Android", "iOS"])"#, .everyone),
        (#"A("AAAAA-00001", ["Android"])"#, .any([])),
        (#"T("T", EQ, "a \"q\" \\ \d é")"#, tag(.equal, .string(#"a "q" \ \d é"#))),
        // A combining mark on a quote and on a backslash.
        ("T(\"T\", EQ, \"\\\"\u{301}\\\\\u{301}\")", tag(.equal, .string("\"\u{301}\\\u{301}"))),
    ]

    @Test(arguments: conditions)
    func `a condition is read`(_ text: String, _ filter: Filter) throws {
        #expect(try FilterExpressionTests.parse(text) == filter)
    }

    private static let one = tag(.equal, .integer(1))
    private static let two = tag(.equal, .integer(2))
    private static let three = tag(.equal, .integer(3))

    /// `1` stands for `T("T", EQ, 1)`, and so on.
    static let joined: [(String, Filter)] = [
        ("1 * 2", .all([one, two])), ("1 + 2 + 3", .any([one, two, three])),
        (#"1 \ 2"#, .except(one, minus: two)), (#"1 \ 2 \ 3"#, .except(one, minus: .any([two, three]))),
        (#"((1 \ 2) \ 3)"#, .except(one, minus: .any([two, three]))),
        (#"1 \ (2 \ 3)"#, .except(one, minus: .except(two, minus: three))), ("((1))", one),
        ("((1 * 2) * 3)", .all([one, two, three])), ("(1 + (2 * 3))", .any([one, .all([two, three])])),
        ("((1 + 2) * 3)", .all([.any([one, two]), three])),
    ]

    @Test(arguments: joined)
    func `conditions are joined as parentheses say`(_ text: String, _ filter: Filter) throws {
        let text = text.replacing(/[123]/) { #"T("T", EQ, \#($0.output))"# }
        #expect(try FilterExpressionTests.parse(text) == filter)
    }

    /// What pypushwoosh 0.3.1 prints for filters of each of its kinds.
    static let printedByTheVendor: [String] = [
        #"(T("Level", GTE, 5) * T("Name", IN, ["Ann", "Bob"]))"#,
        #"(((T("Level", GTE, 5) * T("Name", IN, ["Ann", "Bob"])) + AT("AAAAA-00001", "Date", LTE, "2013-05-01 00:00:00")) \ T("b", EQ, "true"))"#,
        #"(A("AAAAA-00001", ["IOS", "ANDROID"]) * T("Days", NOTIN, [1, 2]))"#,
        #"((((T("a", EQ, 1) * T("b", EQ, 2)) * T("c", EQ, 3)) * T("d", NOTEQ, "x")) * A("AAAAA-00001"))"#,
        #"T("L", EQ, ["a"])"#, #"T("A", BETWEEN, [1, 2])"#,
        #"T("d", BETWEEN, ["2013-05-01", "2013-06-01T10:00"])"#,
    ]

    @Test(arguments: printedByTheVendor)
    func `what the vendor's client prints is read`(_ text: String) throws {
        _ = try FilterExpressionTests.parse(text)
    }

    @Test(arguments: conditions.map(\.0) + printedByTheVendor)
    func `a filter is read as it is printed`(_ text: String) throws {
        let filter = try FilterExpressionTests.parse(text)
        let printed = filter.expression(application: FilterExpressionTests.application)
        let again = try FilterExpressionTests.parse(printed)
        #expect(again.expression(application: FilterExpressionTests.application) == printed)
        #expect(again == filter)
    }

    static let faults: [(String, String)] = [
        ("", "at byte 0: a condition is missing here"), ("()", "at byte 1: a condition is missing here"),
        ("*", "at byte 0: a condition is missing here"), ("?", "at byte 0: unexpected character"),
        (#"(T("a", NOTSET)"#, "at byte 0: the parenthesis is not closed"),
        (#"T("a", NOTSET))"#, "at byte 14: no parenthesis is open"),
        (#"T("a", NOTSET) *"#, "at byte 16: a condition is missing here"),
        (#"T("a", NOTSET) T("b", NOTSET)"#, #"at byte 15: one of * + \ ) is missing here"#),
        (
            #"T("a", NOTSET) + T("b", NOTSET) * T("c", NOTSET)"#,
            "at byte 32: different operators side by side; say by parentheses what is meant"
        ),
        (#"X("a")"#, "at byte 0: unknown condition; T, AT and A are known"),
        (#"G("AAAAA-00001")"#, "at byte 0: G(…) is not supported"),
        (#"Event("a")"#, "at byte 0: EVENT(…) is not supported"),
        (#"T("a", NOTSET) * updated(7)"#, "at byte 17: UPDATED(…) is not supported"),
        (#"A("BBBBB-00002")"#, "at byte 2: only the filter's own application can be named"),
        (
            #"AT("BBBBB-00002", "a", EQ, 1)"#,
            "at byte 3: only the filter's own application can be named"
        ),
        (#"A("AAAAA-00001", "IOS")"#, "at byte 17: [ is missing before the platforms"),
        ("T", "at byte 1: ( is missing after T"),
        ("T(a)", "at byte 2: the tag's name in quotes is missing here"),
        (#"T("", EQ, 1)"#, "at byte 2: must have 1 to 1024 bytes"),
        (#"T("a" EQ, 1)"#, "at byte 6: , is missing after the tag's name"),
        (#"T("a", LIKE, 1)"#, "at byte 7: must be EQ, NOTEQ, LTE, GTE, BETWEEN, IN, NOTIN or NOTSET"),
        (#"T("a", "EQ", 1)"#, "at byte 7: EQ, NOTEQ, LTE, GTE, BETWEEN, IN, NOTIN or NOTSET is missing here"),
        (#"T("a", NOT, 1)"#, "at byte 10: SET is missing here"),
        (#"T("a", EQ 1)"#, "at byte 10: , is missing after the operator"),
        (#"T("a", EQ, )"#, "at byte 11: a value is missing here"),
        (
            #"T("a", EQ, x)"#, "at byte 11: must be a number, a date, true, false or a text in quotes"
        ),
        (#"T("a", EQ, 0x1)"#, "at byte 11: must be a number, a date, true, false or a text in quotes"),
        (#"T("a", EQ, 1e999)"#, "at byte 11: must be a number, a date, true, false or a text in quotes"),
        (#"T("a", EQ, 1"#, "at byte 12: ) is missing after the value"),
        (#"T("a", NOTSET, 1)"#, "at byte 13: ) is missing after NOTSET"),
        (#"T("a", EQ, [])"#, "at byte 11: must be a value, or a list of at least one"),
        (#"T("a", LTE, [1])"#, "at byte 12: must be one value"),
        (
            #"T("a", BETWEEN, [1])"#, "at byte 16: must be a list of two values, both texts or both numbers"
        ),
        (
            #"T("a", BETWEEN, [1, "b"])"#,
            "at byte 16: must be a list of two values, both texts or both numbers"
        ),
        (#"T("a", IN, 1)"#, "at byte 11: must be a list of at least one value"),
        (#"T("a", IN, [1 2])"#, "at byte 14: a comma or ] is missing here"),
        (#"T("a", EQ, "x)"#, "at byte 11: the quote is not closed"),
        ("T(\"a\", EQ, \"x\u{7}\")", "at byte 13: must not hold control characters"),
    ]

    @Test(arguments: faults)
    func `a fault says where it is`(_ text: String, _ problem: String) {
        let fault = #expect(throws: FilterFault.self) { try FilterExpressionTests.parse(text) }
        #expect(fault?.text == problem)
    }

    private static func nested(_ levels: Int) -> String {
        (0..<levels).reduce(#"T("a", EQ, 1)"#) { inner, level in
            "(\(#"T("b", EQ, 2)"#) \(["*", "+", "\\"][level % 3]) \(inner))"
        }
    }

    @Test func `what is too long or too deep is refused`() throws {
        _ = try FilterExpressionTests.parse(FilterExpressionTests.nested(FilterLimits.depthMax))
        let condition = #"T("a", EQ, 1)"#
        let tooMuch = [
            FilterExpressionTests.nested(FilterLimits.depthMax + 1),
            String(repeating: "(", count: FilterLimits.parenthesesMax) + condition,
            Array(repeating: condition, count: FilterLimits.termsMax + 1).joined(separator: "*"),
            String(repeating: " ", count: FilterLimits.bytesMax + 1),
            "T(\"a\", IN, [\(Array(repeating: "1", count: FilterLimits.valuesMax + 1).joined(separator: ","))])",
            String(repeating: "(", count: 16_000), String(repeating: #"\"#, count: 16_000),
        ]
        for text in tooMuch {
            #expect(throws: FilterFault.self) { try FilterExpressionTests.parse(text) }
        }
        // A chain as the vendor's client prints it is no deep nesting.
        let chain = (1..<90).reduce(condition) { text, _ in "(\(text) \\ \(condition))" }
        _ = try FilterExpressionTests.parse(chain)
    }

    @Test(arguments: conditions.map(\.0) + printedByTheVendor)
    func `whatever is cut off or changed ends with a filter or a fault`(_ text: String) {
        let bytes = Array(text.utf8)
        let junk = Array("([,\\\"-9\u{0}".utf8)
        for index in bytes.indices {
            _ = try? FilterExpressionTests.parse(String(decoding: bytes[..<index], as: UTF8.self))
            _ = try? FilterExpressionTests.parse(String(decoding: bytes[index...], as: UTF8.self))
            for other in junk {
                var changed = bytes
                changed[index] = other
                _ = try? FilterExpressionTests.parse(String(decoding: changed, as: UTF8.self))
                changed = bytes
                changed.insert(other, at: index)
                _ = try? FilterExpressionTests.parse(String(decoding: changed, as: UTF8.self))
            }
            var without = bytes
            without.remove(at: index)
            _ = try? FilterExpressionTests.parse(String(decoding: without, as: UTF8.self))
        }
    }
}
