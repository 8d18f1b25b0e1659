import Contracts
import Glibc
import Store
import Telemetry
import Testing

@testable import Service

@Suite(.timeLimit(.minutes(10))) struct AloneTests {
    let store = ToyStore()
    let log = LogCollector()

    /// Runs a toy with these lines as its standard input.
    private func run(
        _ lines: [String], clock: Options.ClockChoice = .manual(startMilliseconds: 0),
        adapter: ToyAdapter? = nil
    ) throws -> (output: [String], code: ExitCode) {
        var output: [UInt8] = []
        let context = ServiceContext(
            configuration: Configuration(), instance: segmenter, epoch: 1,
            logger: Logger(service: "segmenter", sink: log.sink), isAlone: true)
        let alone = Alone(
            context: context, core: { _ in ToySegmenter() }, store: store, adapter: adapter,
            clock: AloneClock(clock), write: { output += $0 })
        let directory = try TemporaryDirectory()
        let path = try directory.write(lines.joined(separator: "\n"), to: "input")
        let input = open(path, O_RDONLY)
        try #require(input >= 0)
        defer { close(input) }
        let code = alone.run(input: input)
        let text = String(decoding: output, as: UTF8.self)
        return (text.split(separator: "\n").map(String.init), code)
    }

    private let commandLine = #"""
        {"type":"command","body":{"sequence":7,"application":"A","kind":"update","run":1,"activity":"o-1",
        "order":{"seconds":1,"sequence":7},"acceptedAtMilliseconds":1000,"audience":{"activity":true}},
        "contentState":"{\"n\": 1.0, \"t\": \"é\"}"}
        """#.replacing("\n", with: "")

    @Test func `a message leads to lines, with raw members as they came`() throws {
        let result = try run([commandLine])
        #expect(result.code == .stopped)
        #expect(store.rows == [7])
        #expect(result.output.count == 1)
        let line = try #require(result.output.first)
        #expect(line.hasPrefix(#"{"type":"batch","to":"token-registry.1","body":{"command":{"#))
        #expect(line.hasSuffix(#","contentState":"{\"n\": 1.0, \"t\": \"é\"}"}"#))
    }

    @Test func `events and outputs are lines too`() throws {
        let result = try run([#"{"type":"event","body":"hello"}"#])
        #expect(result.output == [#"{"type":"output","body":"done hello"}"#])
        #expect(log.lines == ["segmenter info did what=hello"])
    }

    @Test func `a manual clock gives the core its turns on the way`() throws {
        let result = try run([
            #"{"type":"event","body":"in 1500"}"#, #"{"advance":1}"#, #"{"advance":0.499}"#,
            #"{"advance":15}"#,
        ])
        #expect(
            result.output == [
                #"{"type":"output","body":"done in 1500"}"#, #"{"type":"output","body":"due at 1500"}"#,
            ])
    }

    @Test func `the real clock keeps its time between lines`() throws {
        var pair: [CInt] = [0, 0]
        #expect(pipe(&pair) == 0)
        defer { close(pair[0]) }
        let context = ServiceContext(
            configuration: Configuration(), instance: segmenter, epoch: 1,
            logger: Logger(service: "segmenter", sink: log.sink), isAlone: true)
        var output: [UInt8] = []
        let writer = pair[1]
        var isEnded = false
        let alone = Alone<ToySegmenter, ToyAdapter>(
            context: context, core: { _ in ToySegmenter() }, store: store, adapter: nil,
            clock: AloneClock(.real),
            write: { bytes in
                output += bytes
                // The input ends when the timer has done its work.
                guard !isEnded, String(decoding: output, as: UTF8.self).contains("due at") else { return }
                close(writer)
                isEnded = true
            })
        let line = "{\"type\":\"event\",\"body\":\"in 30\"}\n"
        #expect(write(writer, line, line.utf8.count) == line.utf8.count)
        #expect(alone.run(input: pair[0]) == .stopped)
        #expect(String(decoding: output, as: UTF8.self).contains("due at"))
    }

    @Test(arguments: [
        ("{", "not JSON: unexpected end, at byte 1"), ("7", "must be an object"),
        ("{}", "type is missing or no string"),
        (#"{"type":"event"}"#, "body is missing"), (#"{"type":"telegram","body":{}}"#, "type is unknown"),
        (#"{"type":"event","body":7}"#, "body: must be a string"),
        (#"{"type":"event","body":"x","extra":1}"#, "unknown member extra"),
        (#"{"type":"noted","body":{}}"#, "body: keys is missing"),
        (#"{"type":"noted","body":{"keys":[7]}}"#, "body: keys.[0] has the wrong type"),
        (#"{"type":"noted","body":{"keys":["x"]}}"#, "body: keys.[0] is wrong"),
        (#"{"type":"noted","body":{"keys":[]},"alert":"1"}"#, "unknown member alert"),
        (#"{"type":"noted","body":{"keys":[]},"from":"x"}"#, "from is no instance, such as ingest.1"),
        (#"{"advance":-1}"#, "advance must be a number of seconds from 0 to 315360000"),
        (#"{"advance":"1"}"#, "advance must be a number of seconds from 0 to 315360000"),
        (#"{"advance":1,"type":"event"}"#, "unknown member type"),
    ])
    func `a bad line is told with its number, and the next is taken`(line: String, problem: String) throws {
        let result = try run([line, "", #"{"type":"event","body":"good"}"#])
        #expect(result.code == .data)
        #expect(result.output == [#"{"type":"output","body":"done good"}"#])
        let lines = log.lines.filter { $0.contains("bad-line") }
        #expect(lines == [#"segmenter error bad-line line=1 problem=\#(quoted(problem))"#])
    }

    @Test func `a line that is too long is a bad line like others`() throws {
        let long = #"{"type":"event","body":""# + String(repeating: "x", count: 16 << 20) + #""}"#
        let good = #"{"type":"event","body":"good"}"#
        let result = try run([good, long, good])
        #expect(result.code == .data)
        #expect(result.output.count == 2)
        #expect(
            log.lines.filter { $0.contains("bad-line") }
                == [#"segmenter error bad-line line=2 problem="longer than 16777216 bytes""#])
    }

    private func quoted(_ problem: String) -> String { problem.contains(" ") ? "\"\(problem)\"" : problem }

    @Test func `raw members must be strings that hold JSON`() throws {
        let wrong = [
            commandLine.replacing(#""contentState":"{"#, with: #""contentState":"{{"#),
            commandLine.replacing(#""contentState":"#, with: #""contentState":7,"alert":"#),
        ]
        for line in wrong { #expect(try run([line]).code == .data) }
        #expect(log.lines.count == 2)
        #expect(store.rows == [])
    }

    @Test func `the real clock is not moved by lines`() throws {
        #expect(try run([#"{"advance":1}"#], clock: .real).code == .data)
    }

    @Test func `a line says who sends, if it matters`() throws {
        let result = try run([#"{"type":"noted","body":{"keys":[]},"from":"token-registry.3"}"#])
        #expect(result.code == .stopped)
    }

    @Test func `a failed store is told, and the next line finds a fresh core`() throws {
        var isFull = true
        store.fault = { name in
            guard isFull, name.hasPrefix("insert") else { return nil }
            isFull = false
            return ToyStore.full
        }
        let result = try run([commandLine, #"{"type":"event","body":"next"}"#])
        #expect(result.code == .unavailable)
        #expect(store.rows == [4])
        #expect(result.output == [#"{"type":"output","body":"done next"}"#])
    }

    @Test func `an adapter that is used alone gets the outputs and gives events`() throws {
        let adapter = ToyAdapter()
        adapter.events = ["from outside"]
        let result = try run([#"{"type":"event","body":"typed"}"#], adapter: adapter)
        #expect(result.output == [])
        #expect(Set(adapter.outputs) == ["done from outside", "done typed"])
        #expect(adapter.isDraining)
    }
}

@Suite struct LineReaderTests {
    @Test func `lines are cut wherever the reads end`() throws {
        var pair: [CInt] = [0, 0]
        #expect(pipe(&pair) == 0)
        defer { close(pair[0]) }
        var reader = LineReader(pair[0])
        var lines: [LineReader.Line] = []
        for part in ["a", "b\n", "\ncd\ne", "f"] {
            #expect(write(pair[1], part, part.utf8.count) == part.utf8.count)
            lines += try reader.read() ?? []
        }
        close(pair[1])
        #expect(try reader.read() == nil)
        #expect(
            try (lines + reader.rest()).map { String(decoding: try $0.get(), as: UTF8.self) }
                == ["ab", "", "cd", "ef"])
    }

    @Test(arguments: [
        (["abcde\n", "f\n"], ["long", "f"]), (["abcd\n", "f"], ["abcd", "f"]),
        (["abc", "de", "f\ng"], ["long", "g"]), (["abcde", "fghij", "\n\n"], ["long", ""]),
        (["a\nbcdef"], ["a", "long"]), (["abcde", "\nabcde", "\nf\n"], ["long", "long", "f"]),
    ])
    func `a line that is too long is told in its place`(parts: [String], expected: [String]) throws {
        var pair: [CInt] = [0, 0]
        #expect(pipe(&pair) == 0)
        defer { for end in pair { close(end) } }
        var reader = LineReader(pair[0], lineBytesMax: 4)
        var lines: [LineReader.Line] = []
        for part in parts {
            #expect(write(pair[1], part, part.utf8.count) == part.utf8.count)
            lines += try reader.read() ?? []
        }
        let words = (lines + reader.rest()).map { line in
            switch line {
            case .success(let bytes): String(decoding: bytes, as: UTF8.self)
            case .failure: "long"
            }
        }
        #expect(words == expected)
    }
}
