import JSON
import Testing

@Suite struct JSONWriterTests {
    @Test func `an answer is written in the order of the calls`() throws {
        let part = try JSONDocument(text: #"{"n":[1.0, 1e400]}"#).root["n"]
        let bytes = JSONWriter.object { answer in
            answer.member("status_code", 200)
            answer.member("status_message", "OK \"x\"\n")
            answer.object("response") { response in
                response.member("Messages", ["a", "b"])
                response.array("list") { list in
                    list.element(true)
                    list.element(JSONNull())
                    list.object { $0.member("deep", Int64.min) }
                    list.array { _ in }
                }
                response.object("empty") { _ in }
            }
            answer.member("part", part)
            answer.member("absent", String?.none)
            answer.member("raw", JSONRaw(Array("-0.50".utf8)))
        }
        let expected = """
            {"status_code":200,"status_message":"OK \\"x\\"\\n","response":{"Messages":["a","b"],\
            "list":[true,null,{"deep":-9223372036854775808},[]],"empty":{}},"part":[1.0, 1e400],"absent":null,\
            "raw":-0.50}
            """
        #expect(String(decoding: bytes, as: UTF8.self) == expected)
        #expect(refusal(bytes) == nil)
    }

    @Test func `an outermost array is written too`() {
        let bytes = JSONWriter.array { list in
            for number in 1...3 { list.element(number) }
            list.element([[Int]](arrayLiteral: [], [4]))
        }
        #expect(String(decoding: bytes, as: UTF8.self) == "[1,2,3,[[],[4]]]")
    }

    @Test func `an error inside is passed on`() {
        struct Stop: Error {}
        #expect(throws: Stop.self) {
            try JSONWriter.object { answer in
                answer.member("a", 1)
                throw Stop()
            }
        }
    }

    @Test(arguments: [
        ("", #""""#), ("a/b", #""a/b""#), ("\"\\", #""\"\\""#),
        ("\u{8}\t\n\u{C}\r\0\u{1F}", #""\b\t\n\f\r\u0000\u001f""#),
        ("\r\n", #""\r\n""#), ("é👨\u{200D}🍳", "\"é👨\u{200D}🍳\""),
        ("\u{7F}\u{9B}\u{2028}", #""\u007f\u009b\u2028""#),
    ])
    func `a string is quoted`(string: String, expected: String) {
        #expect(JSONText.quote(string) == expected)
    }

    @Test func `every scalar of the first 12,000 comes back from its quoted form`() throws {
        let string = String(String.UnicodeScalarView((0..<12_000).compactMap(Unicode.Scalar.init)))
        let back = try JSONDocument(text: JSONText.quote(string)).root.string
        #expect(back.map { Array($0.utf8) } == Array(string.utf8))
    }
}
