import Store
import Testing

@Suite struct ValueTests {
    @Test(arguments: [
        Value.null, 0, -1, .int(.max), .int(.min), 1.5, .double(-.infinity), "", "liveline",
        "👩‍👩‍👧 e\u{301}", "a\0b\0", .blob([]), .blob([0]), .blob([0, 255, 0]),
        .text(String(repeating: "x", count: 1 << 21)), .blob([UInt8](repeating: 7, count: 1 << 21)),
    ])
    func `a value comes back as it was bound`(value: Value) throws {
        let database = try table()
        try database.run("INSERT INTO t VALUES(1, ?)", value)
        let read = try database.first("SELECT v, typeof(v) FROM t") { row -> Value in
            switch row.text(1) {
            case "null": .null
            case "integer": .int(row.int(0))
            case "real": .double(row.double(0))
            case "text": .text(row.text(0))
            default: .blob(row.blob(0))
            }
        }
        #expect(read == value)
    }

    @Test func `optional forms tell NULL from empty`() throws {
        let database = try Database(.memory)
        let nulls = try database.first("SELECT NULL") {
            ($0.optionalInt(0), $0.optionalText(0), $0.optionalBlob(0), $0.isNull(0), $0.text(0), $0.blob(0))
        }
        #expect(nulls?.0 == nil && nulls?.1 == nil && nulls?.2 == nil)
        #expect(nulls?.3 == true && nulls?.4 == "" && nulls?.5 == [])
        let values = try database.first("SELECT ?, ?, ?", 0, "", .blob([])) {
            ($0.optionalInt(0), $0.optionalText(1), $0.optionalBlob(2), $0.isNull(2), $0.count)
        }
        #expect(values?.0 == 0 && values?.1 == "" && values?.2 == [] && values?.3 == false && values?.4 == 3)
    }

    @Test func `absent Swift values become NULL`() {
        #expect(Value(Int64?.none) == nil && Value(String?.none) == nil && Value([UInt8]?.none) == nil)
        #expect(Value(Int64(4)) == 4 && Value("a" as String?) == "a" && Value([1] as [UInt8]?) == .blob([1]))
        #expect(Value(true) == 1 && Value(false) == 0)
    }

    @Test func `a truth value is read back`() throws {
        let database = try Database(.memory)
        let read = try database.first("SELECT ?, ?, NULL", Value(true), Value(false)) {
            [$0.bool(0), $0.bool(1), $0.bool(2)]
        }
        #expect(read == [true, false, false])
    }
}
