import Testing

@testable import liveline

struct SubcommandsTests {
    private let screen = Screen()

    private func run(_ words: String...) -> Int32 { Subcommands.run(words, on: screen.console) }

    @Test func `without a command the help is a remark and the code is usage`() {
        #expect(run() == 64)
        #expect(screen.remarks.contains { $0.hasPrefix("usage: liveline COMMAND") })
        #expect(screen.output == [])
    }

    @Test(arguments: ["--help", "help"]) func `help is a result`(word: String) {
        #expect(run(word) == 0)
        for command in Subcommands.all {
            #expect(screen.output.contains { $0.contains("\n  \(command.name) ") })
        }
    }

    @Test func `every command has its help`() {
        for command in Subcommands.all {
            #expect(run(command.name, "--help") == 0)
            #expect(screen.output.last?.hasPrefix("usage: liveline \(command.name) ") == true)
        }
    }

    @Test func `a command that is not there is named`() {
        #expect(run("go") == 64)
        #expect(screen.remarks == ["liveline: go: no such command; liveline --help lists them"])
    }

    @Test func `faults are remarks with the command's name`() {
        #expect(run("check") == 64)
        #expect(
            screen.remarks == ["liveline check: FILE: missing", "liveline check: --help shows what it takes"])
    }

    @Test func `the version is one line`() {
        #expect(run("--version") == 0)
        #expect(screen.output == [Subcommands.version])
    }
}
