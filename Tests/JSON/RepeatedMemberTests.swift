import JSON
import Testing

@Suite struct RepeatedMemberTests {
    @Test(arguments: [
        (#"{"a":1,"a":2}"#, 7, "a"),
        (#"{"a":1,"b":2,"a":3}"#, 13, "a"),
        (#"{"a":1,"\u0061":2}"#, 7, "a"),
        (#"{"\u0061":1,"a":2}"#, 12, "a"),
        (#"{"\u0061":1,"\u0061":2}"#, 12, "a"),
        (#"{"":1,"":2}"#, 6, #"[""]"#),
        (#"{"👨":1,"\ud83d\udc68":2}"#, 10, #"["👨"]"#),
        (#"{"/":1,"\/":2}"#, 7, #"["/"]"#),
        (#"{"x":{"y":[0,{"z":{},"z":[]}]}}"#, 21, "x.y[1].z"),
        (#"[[[{"event":1,"event":1}]]]"#, 14, "[0][0][0].event"),
        (
            #"{"notifications":[{"live_activity_id":"ord-12","live_activity_id":"ord-99"}]}"#, 47,
            "notifications[0].live_activity_id"
        ),
    ])
    func `a repeated name is refused with its place`(text: String, offset: Int, path: String) {
        #expect(refusal(text) == JSONError(kind: .repeatedMember, byteOffset: offset, path: path))
    }

    @Test(arguments: 2...20)
    func `a repeated last name is found among any number of members`(count: Int) {
        let names = (1..<count).map { "\"n\($0)\":{\"n1\":0}" }.joined(separator: ",")
        #expect(refusal("{\(names)}") == nil)
        #expect(refusal("{\(names),\"\\u006e1\":0}")?.path == "n1")
    }

    @Test(arguments: [
        #"{"a":{"a":1},"b":{"a":1}}"#, #"[{"a":1},{"a":1}]"#, #"{"a":1,"A":2}"#, #"{"a":1,"a\u0000":2}"#,
        #"{"a":"a","b":"a"}"#, #"{"\\u0061":1,"a":2}"#,
    ])
    func `names that differ in place or bytes are not repeated`(text: String) {
        #expect(refusal(text) == nil)
    }

    @Test func `names that Swift takes for equal are different members`() throws {
        let composed = "\u{E9}"
        let decomposed = "e\u{301}"
        #expect(composed == decomposed)
        let root = try JSONDocument(text: "{\"\(composed)\":1,\"\(decomposed)\":2}").root
        #expect(root[composed]?.int64 == 1)
        #expect(root[decomposed]?.int64 == 2)
        #expect(try JSONDocument(text: #"{"\u212a":1}"#).root["K"] == nil)
    }
}
