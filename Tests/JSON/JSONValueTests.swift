import JSON
import Testing

@Suite struct JSONValueTests {
    @Test func `a part comes out byte for byte`() throws {
        let state = #"{ "a":1.0, "b":9007199254740993,"c":1e400 ,"d":"\u00e9\/" }"#
        let root = try JSONDocument(text: "{\"x\": \(state) ,\"y\":[1.0 , -0]}").root
        #expect(text(root["x"]) == state)
        #expect(text(root["x"]?["a"]) == "1.0")
        #expect(text(root["x"]?["d"]) == #""\u00e9\/""#)
        #expect(text(root["y"]) == "[1.0 , -0]")
        #expect(root["x"]?.byteRange == 6..<6 + state.utf8.count)
        #expect(root.byteRange == 0..<root.bytes.count)
    }

    @Test(
        arguments: [
            ("0", 0), ("-0", 0), ("12", 12), ("-7", -7), ("9007199254740993", 9_007_199_254_740_993),
            ("9223372036854775807", .max), ("-9223372036854775808", .min), ("9223372036854775808", nil),
            ("-9223372036854775809", nil), ("18446744073709551615", nil), ("99999999999999999999", nil),
            ("12.0", nil),
            ("1e3", nil), (#""12""#, nil), ("true", nil), ("null", nil), ("[1]", nil),
        ] as [(String, Int64?)])
    func `an integer is exact or not there`(text: String, expected: Int64?) throws {
        #expect(try JSONDocument(text: text).root.int64 == expected)
    }

    @Test(
        arguments: [
            ("1.5", 1.5), ("-2e3", -2_000), ("12", 12), ("1e400", nil), ("-1e400", nil), ("1e-400", 0),
            (#""1""#, nil),
        ] as [(String, Double?)])
    func `a double is finite or not there`(text: String, expected: Double?) throws {
        #expect(try JSONDocument(text: text).root.double == expected)
    }

    @Test(arguments: [
        (#""""#, ""), (#""plain""#, "plain"), (#""\"\\\/\b\f\n\r\t""#, "\"\\/\u{8}\u{C}\n\r\t"),
        (#""a\u0000b""#, "a\0b"), (#""\u00E9\u20ac""#, "é€"),
        (#""\ud83d\udc68\u200d\ud83c\udf73""#, "👨\u{200D}🍳"),
        (#""\udbff\udfff\ud800\udc00""#, "\u{10FFFF}\u{10000}"), (#""\u2764\ufe0f""#, "\u{2764}\u{FE0F}"),
        ("\"👨\u{200D}🍳\"", "👨\u{200D}🍳"), (#""e\u0301""#, "e\u{301}"), (#""\\u0041""#, "\\u0041"),
    ])
    func `a string is unescaped and nothing more`(text: String, expected: String) throws {
        let string = try #require(try JSONDocument(text: text).root.string)
        #expect(Array(string.utf8) == Array(expected.utf8))
    }

    @Test func `each kind answers for itself alone`() throws {
        let root = try JSONDocument(text: #"[{},[],"s",1,true,false,null]"#).root
        let values = try #require(root.elements)
        #expect(values.map(\.kind) == [.object, .array, .string, .number, .bool, .bool, .null])
        #expect(values.map(\.bool) == [nil, nil, nil, nil, true, false, nil])
        #expect(values.map(\.string) == [nil, nil, "s", nil, nil, nil, nil])
        #expect(values.map(\.isNull) == [false, false, false, false, false, false, true])
        #expect(values.map { $0.elements != nil } == [false, true, false, false, false, false, false])
        #expect(values.map { $0.members != nil } == [true, false, false, false, false, false, false])
    }

    @Test func `members come in order with their names unescaped`() throws {
        let root = try JSONDocument(text: #"{"z":1,"\u0061\n":{"q":[1,{"r":2}]},"":3}"#).root
        let members = try #require(root.members)
        #expect(members.map(\.name) == ["z", "a\n", ""])
        #expect(members.map { text($0.value) } == ["1", #"{"q":[1,{"r":2}]}"#, "3"])
        #expect(members.count == 3)
    }

    @Test func `elements skip what stands inside them`() throws {
        let root = try JSONDocument(text: "[[1,[2]],{\"a\":[3]},4]").root
        let elements = try #require(root.elements)
        #expect(elements.count == 3)
        #expect(elements.map(text) == ["[1,[2]]", #"{"a":[3]}"#, "4"])
        #expect(try JSONDocument(text: "[]").root.elements?.isEmpty == true)
        #expect(try JSONDocument(text: "{}").root.members?.first == nil)
    }

    @Test func `a member is found however its name is written`() throws {
        let root = try JSONDocument(text: #"{"live\u005factivity":1,"\ud83d\udc68":2,"a":{"b":3}}"#).root
        #expect(root["live_activity"]?.int64 == 1)
        #expect(root["👨"]?.int64 == 2)
        #expect(root["b"] == nil)
        #expect(root["a"]?["b"]?.int64 == 3)
        #expect(root["a"]?["b"]?["c"] == nil)
        #expect(root[#"live\u005factivity"#] == nil)
    }

    @Test func `a path leads from the outermost value`() throws {
        let text =
            #"{"message":{"apns":{"payload":{"aps":{"event":"x"}}}},"n":[0,{"content-state":1,"@type":2,"a.b":3}]}"#
        let root = try JSONDocument(text: text).root
        #expect(root.path == "")
        #expect(
            root["message"]?["apns"]?["payload"]?["aps"]?["event"]?.path == "message.apns.payload.aps.event")
        let second = try #require(root["n"]?.elements?.dropFirst().first)
        #expect(second.path == "n[1]")
        #expect(second.members?.map(\.value.path) == ["n[1].content-state", "n[1].@type", #"n[1]["a.b"]"#])
        #expect(second.path(of: "live_activity_id") == "n[1].live_activity_id")
        #expect(root.path(of: "request") == "request")
    }
}
