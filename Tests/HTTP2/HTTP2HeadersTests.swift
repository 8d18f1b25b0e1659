import HTTP2
import Testing

@Suite
struct HTTP2HeadersTests {
    @Test func `fields keep their order and doubles`() {
        let headers = HTTP2Headers([("a", "1"), ("b", ""), ("a", "2")])
        #expect(headers.count == 3)
        #expect(headers["a"] == "1")
        #expect(headers["b"] == "")
        #expect(headers["c"] == nil)
        #expect(headers.all("a") == ["1", "2"])
        #expect(headers.pairs.map { "\($0.name)=\($0.value)" } == ["a=1", "b=", "a=2"])
    }

    @Test func `cutting back keeps what every request shares`() {
        var headers = HTTP2Headers([("shared", "yes")])
        for id in ["x", "y"] {
            headers.truncate(to: 1)
            headers.append("apns-id", bytes: Array(id.utf8), indexed: false)
            #expect(headers.pairs.map(\.value) == ["yes", id])
        }
        headers.truncate(to: 5)
        #expect(headers.count == 2)
        headers.truncate(to: 0)
        #expect(headers.isEmpty)
        #expect(headers == HTTP2Headers())
    }

    @Test func `the list size counts 32 bytes a field`() {
        #expect(HTTP2Headers([("abc", "de"), ("f", "")]).listSize == 6 + 64)
    }
}
