import Testing

@testable import Web

struct HTTPTargetTests {
    @Test(arguments: [
        ("/", "/", []), ("", "", []), ("*", "*", ["*"]), ("//a//b/", "//a//b/", ["a", "b"]),
        ("/a%20b/c%2Fd", "/a b/c/d", ["a b", "c/d"]), ("/%C3%A9", "/é", ["é"]),
        (
            "/v1/projects/demo/messages:send", "/v1/projects/demo/messages:send",
            ["v1", "projects", "demo", "messages:send"]
        ),
        ("http://host:80/a?b", "/a", ["a"]), ("http://host", "/", []), ("/a#f?g", "/a", ["a"]),
        ("/a+b", "/a+b", ["a+b"]),
    ])
    func `a path is decoded and split`(target: String, path: String, segments: [String]) throws {
        let parsed = try #require(HTTPTarget(target))
        #expect(parsed.path == path)
        #expect(parsed.segments == segments)
    }

    @Test(arguments: [
        ("/?a=1&b=2", ["a=1", "b=2"]), ("/?a", ["a="]), ("/?a=b=c", ["a=b=c"]), ("/?&&", []), ("/?", []),
        ("/?a+b=%2B+", ["a b=+ "]), ("/?a=1&a=2", ["a=1", "a=2"]), ("/?a=?", ["a=?"]),
    ])
    func `a query is decoded in its order`(target: String, items: [String]) throws {
        #expect(try #require(HTTPTarget(target)).queryItems.map { "\($0.name)=\($0.value)" } == items)
    }

    @Test(arguments: [
        "/a b", "/a\tb", "/%", "/%1", "/%g1", "/%00", "/%ff", "/%C3", "/?%", "/?a=%f", "/%ed%a0%80",
    ])
    func `a target that is not well formed is none`(target: String) {
        #expect(HTTPTarget(target) == nil)
    }
}

struct HTTPHeadersTests {
    @Test func `names are compared without case, values are kept in order`() {
        var headers: HTTPHeaders = ["Content-Type": "a", "x-b": "1"]
        headers.add("X-B", "2")
        #expect(headers["content-TYPE"] == "a")
        #expect(headers["X-b"] == "1")
        #expect(headers.values("x-B") == ["1", "2"])
        #expect(headers["X"] == nil)
        // A letter and a sign that differ by the same bit.
        #expect(HTTPHeaders(dictionaryLiteral: ("X^", "1"))["x~"] == nil)
    }

    @Test(arguments: [
        ("", "a"), ("a b", "a"), ("a:", "a"), ("a", "\r"), ("a", "\n"), ("a", "\u{0}"), ("ä", "a"),
    ])
    func `a field that would change the message is not writable`(name: String, value: String) {
        #expect(!HTTPHeaders(dictionaryLiteral: (name, value)).areWritable)
    }
}

struct PollerTests {
    private final class Alarm: Pollable {
        let descriptor: CInt = -1
        var nextDeadlineMilliseconds: Int64?
        var calls = 0

        func process(nowMilliseconds: Int64) {
            calls += 1
            nextDeadlineMilliseconds = calls < 3 ? nowMilliseconds : nil
        }
    }

    @Test func `a deadline is kept without any descriptor`() {
        let alarm = Alarm()
        alarm.nextDeadlineMilliseconds = MonotonicClock.nowMilliseconds() + 20
        let isDone = Poller(alarm).run(timeoutMilliseconds: 20_000) { alarm.calls == 3 }
        #expect(isDone)
    }

    @Test func `the loop ends when its time is over`() {
        let start = MonotonicClock.nowMilliseconds()
        let isDone = Poller(Alarm()).run(timeoutMilliseconds: 20) { false }
        #expect(!isDone)
        #expect(MonotonicClock.nowMilliseconds() - start >= 20)
    }
}
