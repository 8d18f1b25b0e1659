import JSON
import Synchronization
import Testing

@testable import Telemetry

@Suite struct LoggerTests {
    private let collector = LogCollector()

    private func logger(_ level: LogLevel = .trace, _ format: LogFormat = .text) -> Logger {
        Logger(service: "rate-limiter", level: level, format: format, sink: collector.sink)
    }

    @Test func `an event is one line of service, level, event and fields`() {
        let token = String(repeating: "a1", count: 80)
        logger().warning(
            "peer-gone",
            ["peer": "apns-gateway", "attempt": 3, "last": false, "token": Shortened(token)])
        logger().info("ready")
        #expect(
            collector.lines == [
                "rate-limiter warning peer-gone peer=apns-gateway attempt=3 last=false token=a1a1a1…",
                "rate-limiter info ready",
            ])
    }

    @Test(arguments: [
        ("", #""""#), ("a b", #""a b""#), ("a=b", #""a=b""#), (#"say "x""#, #""say \"x\"""#),
        ("a\nb", #""a\nb""#),
        ("\u{1B}[31m", #""\u001b[31m""#), (#"C:\x"#, #""C:\\x""#), ("é", #""é""#),
        ("/run/a.sock", "/run/a.sock"),
        ("\r\nrate-limiter error fake", #""\r\nrate-limiter error fake""#), ("\u{7F}", #""\u007f""#),
    ])
    func `a value that is no plain word is quoted`(value: String, expected: String) {
        logger().info("event", ["key": value])
        #expect(collector.lines == ["rate-limiter info event key=\(expected)"])
    }

    @Test func `a line of JSON holds the same`() throws {
        logger(.trace, .json).error(
            "lost", ["path": "a \"b\"\n", "count": -2, "ok": true, "token": Shortened("beef99aa")])
        let line = try #require(collector.lines.first)
        #expect(
            line == #"""
                {"service":"rate-limiter","level":"error","event":"lost","path":"a \"b\"\n","count":-2,"ok":true,"token":"beef99…"}
                """#)
        #expect(try JSONDocument(text: line).root["count"]?.int64 == -2)
    }

    @Test(arguments: LogLevel.allCases)
    func `a level lets itself and all graver ones through`(level: LogLevel) {
        let logger = logger(level)
        logger.error("e")
        logger.warning("e")
        logger.info("e")
        logger.debug("e")
        logger.trace("e")
        let expected = LogLevel.allCases.filter { $0 <= level }.map { "rate-limiter \($0.name) e" }
        #expect(collector.lines == expected)
        #expect(LogLevel(name: level.name) == level)
    }

    @Test func `fields of a level that is not asked for are not built`() {
        let built = Mutex(0)
        func fields() -> LogFields {
            built.withLock { $0 += 1 }
            return [:]
        }
        logger(.info).debug("quiet", fields())
        #expect(built.withLock { $0 } == 0)
        logger(.info).info("loud", fields())
        #expect(built.withLock { $0 } == 1)
        #expect(LogLevel(name: "Info") == nil)
    }

    @Test(arguments: LogFormat.allCases)
    func `a line never exceeds what a pipe takes in one piece`(format: LogFormat) throws {
        var fields: LogFields = [:]
        for number in 0..<100 { fields.append("key\(number)", String(repeating: "\u{1}", count: 5_000)) }
        fields.append("none", nil)
        fields.append("last", 1)
        logger(.trace, format).info("flood", fields)
        let line = try #require(collector.drain().first)
        #expect(line.utf8.count < LogLine.sizeBytesMax)
        #expect(line.contains("omitted"))
        #expect(line.contains("last"))
        #expect(collector.lines.isEmpty)
        if format == .json { #expect(throws: Never.self) { try JSONDocument(text: line) } }
    }
}

@Suite struct ShortenedTests {
    @Test(arguments: [
        (String(repeating: "5a", count: 80), "5a5a5a…"), ("ABCDEF0123", "ABCDEF…"), ("ab", "ab…"), ("", "…"),
        ("sk-leak-4242", "…"), ("eyJhbGciOi", "e…"), ("<a1a1", "…"), ("a1b2 c3", "a1b2…"),
    ])
    func `at most six hexadecimal digits are shown`(token: String, expected: String) {
        #expect(Shortened(token).description == expected)
    }

    @Test func `the rest of a token is not kept`() {
        #expect(!String(reflecting: Shortened("a1a1a1c0ffee")).contains("c0ffee"))
        #expect(Shortened("a1a1a1c0ffee") == Shortened("a1a1a1000000"))
    }
}
