import Contracts
import Testing

@testable import Service

@Suite struct OptionsTests {
    @Test func `without words the defaults hold`() throws {
        #expect(try Options([]) == Options())
        #expect(Options().instance == 1)
    }

    @Test func `a value follows its option, or stands behind an equals sign`() throws {
        let options = try Options(["--config", "a=b.json", "--run=/r", "--data", "/d", "--instance=3"])
        #expect(options.configurationPath == "a=b.json")
        #expect(options.runDirectory == "/r")
        #expect(options.dataDirectory == "/d")
        #expect(options.instance == 3)
    }

    @Test func `an option beats the environment`() throws {
        let environment = ["LIVELINE_CONFIG": "/e.json", "LIVELINE_INSTANCE": "2"]
        #expect(try Options([], environment: environment).configurationPath == "/e.json")
        let options = try Options(["--config", "/o.json", "--instance", "4"], environment: environment)
        #expect(options.configurationPath == "/o.json")
        #expect(options.instance == 4)
    }

    @Test(
        arguments: [
            (["--stdio"], .stdio), (["--help", "--stdio"], .help), (["--stdio", "--help"], .help),
            (["--version"], .version), (["--stdio", "--version"], .version),
            (["--version", "--help"], .help),
        ] as [([String], Options.Mode)])
    func `help and version come before all else`(words: [String], mode: Options.Mode) throws {
        #expect(try Options(words).mode == mode)
    }

    @Test(
        arguments: [
            ("real", .real), ("manual", .manual(startMilliseconds: nil)),
            ("manual:1700000000", .manual(startMilliseconds: 1_700_000_000_000)),
        ] as [(String, Options.ClockChoice)])
    func `a clock is chosen`(word: String, clock: Options.ClockChoice) throws {
        #expect(try Options(["--stdio", "--clock", word]).clock == clock)
    }

    @Test func `the store of a service that runs alone is in memory or at a path`() throws {
        #expect(try Options(["--store", "memory"]).storePath == nil)
        #expect(try Options(["--store", "/s.sqlite"]).storePath == "/s.sqlite")
    }

    @Test func `a service declares options of its own`() throws {
        let declared = [OptionDeclaration("apns", value: "URL", help: "sends there")]
        #expect(try Options(["--apns", "https://x"], declared: declared).others == ["apns": "https://x"])
        #expect(Options.help(.apnsGateway, summary: "sends", declared: declared).contains("--apns URL"))
    }

    @Test(arguments: [
        (["file.json"], "unexpected argument file.json"), (["-h"], "unexpected argument -h"),
        (["--"], "unexpected argument --"), (["--bogus"], "unknown option --bogus"),
        (["--config"], "--config needs a value"), (["--run="], "--run needs a value"),
        (["--stdio=yes"], "--stdio takes no value"),
        (["--instance", "0"], "--instance takes a number from 1 to 999"),
        (["--instance", "1000"], "--instance takes a number from 1 to 999"),
        (["--clock", "fast"], "--clock takes real, manual or manual: and seconds since 1970"),
        (
            ["--clock", "manual:9223372036854775807"],
            "--clock takes real, manual or manual: and seconds since 1970"
        ),
    ])
    func `what makes no sense is refused by name`(words: [String], problem: String) throws {
        let failure = try #require(throws: ServiceFailure.self) { _ = try Options(words) }
        #expect(failure == ServiceFailure(.usage, "usage", problem))
    }

    @Test func `a bad instance in the environment is refused by name`() throws {
        let failure = try #require(throws: ServiceFailure.self) {
            _ = try Options([], environment: ["LIVELINE_INSTANCE": "x"])
        }
        #expect(failure.problem == "LIVELINE_INSTANCE takes a number from 1 to 999")
    }
}
