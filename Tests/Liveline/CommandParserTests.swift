import Arguments
import Service
import Testing

@testable import liveline

struct CommandParserTests {
    private func up(_ words: String...) throws -> UpCommand {
        guard case .command(let command) = try UpCommand.parse(words) else {
            throw CommandFailure(.software, "help")
        }
        return command
    }

    private func faults<Command: Subcommand>(_: Command.Type, _ words: [String]) -> [String] {
        do throws(CommandFailure) {
            _ = try Command.parse(words)
            return []
        } catch {
            #expect(error.code == .usage)
            return error.messages
        }
    }

    @Test func `a value follows as the next word or behind an equals sign`() throws {
        #expect(try up("--config", "a.json").configurationFile == "a.json")
        #expect(try up("--config=a=b.json").configurationFile == "a=b.json")
    }

    @Test func `a list is joined from commas and repeats`() throws {
        #expect(
            try up("--only", "ingest,segmenter", "--only", "rate-limiter").only == [
                "ingest", "segmenter", "rate-limiter",
            ])
    }

    @Test func `nothing given leaves the defaults`() throws {
        let command = try up()
        #expect(command.configurationFile == nil)
        #expect(command.drainSeconds == 30)
        #expect(!command.hasSimulator)
    }

    @Test func `help is answered whatever else is wrong`() throws {
        guard case .help = try UpCommand.parse(["--what", "--help"]) else {
            Issue.record("no help")
            return
        }
    }

    @Test(arguments: [
        (["--what"], "--what: unknown option"),
        (["--config"], "--config: a value is missing"),
        (["--config="], "--config : a text is expected"),
        (["--simulator=yes"], "--simulator: takes no value"),
        (["--drain", "x"], "--drain x: a number from 1 to 3600 is expected"),
        (["--drain", "0"], "--drain 0: a number from 1 to 3600 is expected"),
        (["word"], "word: unexpected"),
        (["--", "--config"], "--config: unexpected"),
        (
            ["--only", "ingest,gateway"],
            "--only gateway: no such service; there are ingest, segmenter, token-registry, rate-limiter, apns-gateway"
        ),
    ])
    func `a fault names the word`(words: [String], fault: String) {
        #expect(faults(UpCommand.self, words) == [fault])
    }

    @Test func `all faults come at once`() {
        #expect(faults(UpCommand.self, ["--what", "--drain", "x"]).count == 2)
        #expect(
            faults(SendCommand.self, ["start"]) == [
                "--activity: missing", "--state: missing",
                "--filter, --devices, --users: one of them is needed",
                "--type: missing",
            ])
    }

    @Test(arguments: [
        (["update", "--activity", "a", "--state", "{}"], []),
        (["begin", "--activity", "a", "--state", "{}"], ["begin: unexpected"]),
        (
            ["start", "--activity", "a", "--state", "{}", "--type", "T", "--filter", "f", "--users", "u"],
            ["--filter, --devices, --users: one of them is needed"]
        ),
    ])
    func `send knows what an event needs`(words: [String], expected: [String]) {
        #expect(faults(SendCommand.self, words) == expected)
    }

    @Test(arguments: [
        (["create"], ["create: a number of phones is expected"]),
        (["create", "x"], ["create: a number of phones is expected"]),
        (["create", "3"], []), ([], []), (["show"], []), (["rotate"], ["rotate: a hardware id is expected"]),
        (["dismiss", "p"], ["--activity: missing"]), (["show", "p", "q"], ["q: unexpected"]),
    ])
    func `phones knows what an action needs`(words: [String], expected: [String]) {
        #expect(faults(PhonesCommand.self, words) == expected)
    }

    @Test(arguments: [
        ([], ["orders, fan-out, latency, import, neighbours or outage: missing"]), (["orders"], []),
        (["fan-out", "--own"], []),
        (["orders", "--drill", "kill-each"], ["--drill: only with --own"]),
        (["latency", "--own", "--drill", "kill-each"], ["--drill: only with orders"]),
        (["orders", "--own", "--drill", "x"], ["--drill x: kill-each is expected"]),
        (["orders", "--url", "localhost"], ["--url localhost: a URL with http:// or https:// is expected"]),
    ])
    func `load knows its scenarios`(words: [String], expected: [String]) {
        #expect(faults(LoadCommand.self, words) == expected)
    }

    @Test func `a command without options has no list of them in its help`() {
        #expect(CheckCommand.help.hasPrefix("usage: liveline check FILE\n\nReports"))
        #expect(!CheckCommand.help.contains("options:"))
    }

    @Test func `help shows every option once, in columns`() {
        for option in UpCommand.options { #expect(UpCommand.help.contains("\n  \(option.name)")) }
        #expect(UpCommand.help.hasPrefix("usage: liveline up "))
        let columns = UpCommand.help.split(separator: "\n").filter { $0.hasPrefix("  --") }.map { line in
            line.firstRange(of: "  ", after: 2)
        }
        #expect(Set(columns).count == 1)
    }

    @Test func `names of options and commands are told apart`() {
        #expect(Set(Subcommands.all.map { $0.name }).count == Subcommands.all.count)
        #expect(Set(LoadCommand.options.map(\.name)).count == LoadCommand.options.count)
        #expect(Set(SendCommand.options.map(\.name)).count == SendCommand.options.count)
    }
}

extension Substring {
    /// Where the help text of an option begins: behind the last run of two spaces that starts after a place.
    fileprivate func firstRange(of gap: String, after place: Int) -> Int {
        var spaces = 0
        for (column, character) in enumerated() where column >= place {
            if character != " ", spaces >= 2 { return column }
            spaces = character == " " ? spaces + 1 : 0
        }
        return -1
    }
}
