import Arguments
import Testing

struct CommandOptionsTests {
    private struct Settings: Equatable {
        var name = "default"
        var file: String?
        var list: [String] = []
        var small: Int8 = 0
        var count: Int64?
        var rate = 5
        var isOn = false
        var isKept = true
    }

    private let options = CommandOptions<Settings>([
        .text("--name", "TEXT", "a name", \.name), .text("--file", "FILE", "a file", \.file),
        .list("--list", "A,B", "some", \.list), .number("--small", "little", -1...7, \.small),
        .number("--count", "how many", 1...Int64.max, \.count),
        .number("--rate", "how fast", least: 1, \.rate),
        .flag("--on", "on", \.isOn), .flag("--drop", "drop", \.isKept, false),
    ])

    private func read(_ words: String...) -> (settings: Settings, faults: [String]) {
        var (settings, faults) = (Settings(), [String]())
        var rest = words[...]
        while let word = rest.popFirst() {
            if let fault = options.take(word, &rest, into: &settings) { faults.append(fault) }
        }
        return (settings, faults)
    }

    @Test func `values follow as the next word or behind an equals sign`() {
        var expected = Settings()
        expected.name = "a=b"
        expected.file = "--x"
        let (settings, faults) = read("--name=a=b", "--file", "--x")
        #expect(settings == expected)
        #expect(faults == [])
    }

    @Test func `lists grow, flags set what they say`() {
        var expected = Settings()
        expected.list = ["a", "b", "c"]
        expected.isOn = true
        expected.isKept = false
        #expect(read("--list", "a,b", "--on", "--list=c", "--drop").settings == expected)
    }

    @Test(arguments: [("-1", -1), ("7", 7), ("0", 0)] as [(String, Int8)])
    func `numbers of the range are taken`(text: String, number: Int8) {
        #expect(read("--small", text).settings.small == number)
    }

    @Test(arguments: [
        (["--nothing"], "--nothing: unknown option"), (["--nothing=x"], "--nothing: unknown option"),
        (["name"], "name: unknown option"), (["--name"], "--name: a value is missing"),
        (["--name="], "--name : a text is expected"), (["--file", ""], "--file : a text is expected"),
        (["--list", "a,,b"], "--list a,,b: texts with commas between them is expected"),
        (["--small", "8"], "--small 8: a number from -1 to 7 is expected"),
        (["--small", "1.0"], "--small 1.0: a number from -1 to 7 is expected"),
        (["--count", "0"], "--count 0: a number of 1 or more is expected"),
        (["--rate", "x"], "--rate x: a number of 1 or more is expected"),
        (["--on=yes"], "--on: takes no value"),
    ])
    func `a fault names the option`(words: [String], fault: String) {
        var settings = Settings()
        var rest = words.dropFirst()
        #expect(options.take(words[0], &rest, into: &settings) == fault)
    }

    @Test func `the help has one line an option, in two columns`() {
        #expect(
            options.help.prefix(3) == [
                "  --name TEXT  a name", "  --file FILE  a file", "  --list A,B   some",
            ])
        #expect(options.help.last == "  --drop       drop")
        #expect(options.help.count == 8)
    }

    @Test func `without options there is no help`() {
        #expect(CommandOptions<Settings>([]).help == [])
    }
}
