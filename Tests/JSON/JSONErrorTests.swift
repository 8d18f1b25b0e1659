import JSON
import Testing

@Suite struct JSONErrorTests {
    @Test(arguments: [
        (#"{"request":{"auth":1,"auth":2}}"#, "repeated member request.auth, at byte 21"),
        ("nope", "invalid literal, at byte 0"),
        (#"{"a":[1,{"b":tru}]}"#, "invalid literal in a[1].b, at byte 13"),
        (#"{"a":[1 2]}"#, "expected a comma or a closing bracket in a, at byte 8"),
        (#"{"a":[[],01]}"#, "invalid number in a[1], at byte 10"),
        (#"{"a":{"b":1,"c"}}"#, "expected a colon in a, at byte 15"),
        (#"{"a":1"#, "unexpected end, at byte 6"),
    ])
    func `a description says what is wrong and where`(text: String, description: String) {
        #expect(refusal(text)?.description == description)
    }

    @Test(arguments: [
        "sk-leak-4242", #"{"auth":"sk-leak-4242"#, #"{"auth":"sk-leak-4242",}"#, #"{"auth" "sk-leak-4242"}"#,
        #"{"auth":sk-leak-4242}"#, #"["sk-leak-4242" 1]"#, #"{"auth":"sk-leak-4242","auth":"sk-leak-4242"}"#,
    ])
    func `no value is ever shown`(text: String) throws {
        let error = try #require(refusal(text))
        #expect(!"\(error) \(String(reflecting: error))".contains("leak"))
    }

    @Test func `a hostile name stays short and on one line`() throws {
        let name = "\\n\\u001b" + String(repeating: "x", count: 5_000)
        let error = try #require(refusal("{\"\(name)\":oops}"))
        #expect(error.description.utf8.count < 200)
        #expect(error.path.hasPrefix(#"["\n\u001bxx"#))
        #expect(error.path.hasSuffix("…\"]"))
        #expect(error.path.utf8.allSatisfy { $0 >= 0x20 })
    }

    @Test func `each kind has words of its own`() {
        let texts = JSONError.Kind.allCases.map { JSONError(kind: $0, byteOffset: 0, path: "p").description }
        #expect(Set(texts).count == texts.count)
    }
}
