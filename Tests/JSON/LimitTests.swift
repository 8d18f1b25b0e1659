import JSON
import Testing

@Suite struct LimitTests {
    @Test(arguments: [1, 2, 64, 500])
    func `exactly the given number of levels is accepted`(depth: Int) {
        let arrays = { String(repeating: "[", count: $0) + String(repeating: "]", count: $0) }
        #expect(refusal(arrays(depth), depthMax: depth) == nil)
        let error = refusal(arrays(depth + 1), depthMax: depth)
        #expect(error?.kind == .tooDeep)
        #expect(error?.byteOffset == depth)
    }

    @Test func `a scalar has no level`() {
        #expect(refusal("1", depthMax: 0) == nil)
        #expect(refusal("[]", depthMax: 0)?.kind == .tooDeep)
    }

    @Test func `a hundred thousand levels are refused at the sixty-fifth`() {
        #expect(refusal(String(repeating: "[", count: 100_000))?.byteOffset == 64)
        let objects = refusal(String(repeating: #"{"a":"#, count: 100_000))
        #expect(objects?.kind == .tooDeep)
        #expect(objects?.byteOffset == 5 * 64)
    }

    @Test func `a hundred thousand levels can be allowed without using the stack`() {
        let count = 100_000
        let text = String(repeating: "[", count: count) + String(repeating: "]", count: count)
        #expect(refusal(text, depthMax: count) == nil)
    }

    @Test(.timeLimit(.minutes(10))) func `a hundred thousand members are compared in linear time`() {
        let members = (0..<100_000).map { "\"\($0)\":1" }.joined(separator: ",")
        #expect(refusal("{\(members)}") == nil)
        let error = refusal("{\(members),\"77\":2}")
        #expect(error == JSONError(kind: .repeatedMember, byteOffset: members.utf8.count + 2, path: "77"))
    }

    @Test(.timeLimit(.minutes(10))) func `a large object does not slow the ones after it down`() {
        let large = "{" + (0..<30_000).map { "\"\($0)\":1" }.joined(separator: ",") + "}"
        let small = "{" + "abcdefghi".map { "\"\($0)\":1" }.joined(separator: ",") + "}"
        let text = "[\(large),\(Array(repeating: small, count: 3_000).joined(separator: ","))]"
        #expect(refusal(text) == nil)
    }

    @Test func `every shorter part of a text is refused`() {
        let sample = Array(Samples.start.utf8)
        for count in 0..<sample.count {
            let error = refusal(Array(sample.prefix(count)))
            #expect(error != nil)
            #expect((error?.byteOffset ?? .max) <= count)
        }
    }

    @Test func `no single changed byte is a trap`() {
        let sample = Array(Samples.small.utf8)
        var accepted = 0
        for offset in sample.indices {
            for byte in UInt8.min...UInt8.max {
                var bytes = sample
                bytes[offset] = byte
                guard let document = try? JSONDocument(bytes) else { continue }
                accepted += 1
                visit(document.root)
            }
        }
        #expect(accepted > sample.count)
    }

    private func visit(_ value: JSONValue) {
        _ = (value.string, value.int64, value.double, value.bool, value.path, value.bytes)
        value.elements?.forEach(visit)
        value.members?.forEach { member in
            #expect(value[member.name] != nil)
            visit(member.value)
        }
    }
}

enum Samples {
    static let start = """
        {"request":{"application":"AAAAA-00001","auth":"k-test","notifications":[{"content":"Cooking",\
        "live_activity":{"event":"start","content-state":{"a":-9007199254740993,"b":[1.0,1e400,null,true]},\
        "attributes-type":"\\ud83d\\udc68é👨","attributes":{}},"devices":["dev-1"]}]}}
        """
    static let small = #"{"a":[1,-2.5e3,"é\n\ud83d\ude00",{"b":null}],"\u0063":true}"#
}
