import Arguments
import Testing
import Web

@testable import apns_simulator

@Suite struct SimulatorOptionsTests {
    @Test func `a command line is read`() throws {
        let options = try SimulatorOptions([
            "--any-key", "--listen", "127.0.0.1:0", "--sandbox-listen=[::1]:2199", "--control",
            "unix:/tmp/c.sock",
            "--ingest", "http://127.0.0.1:8080/", "--topic", "com.example.a", "--topic", "com.example.b",
            "--start-budget", "0", "--seed", "5", "--token-bytes", "32", "--no-registration-retries",
        ])
        #expect(options.listens.map(\.environment) == [.production, .sandbox])
        #expect(options.sandboxListen == ListenAddress(host: "::1", port: 2199))
        #expect(options.control == .unix(path: "/tmp/c.sock"))
        #expect(options.ingest == "http://127.0.0.1:8080")
        #expect(options.rules.bundleIDs == ["com.example.a", "com.example.b"])
        #expect(options.fleet.startBurst == 0)
        #expect(options.fleet.tokenLengths.liveActivity == 32)
        #expect(!options.fleet.retriesRegistrations)
    }

    @Test func `a key has team, id and file, and may have an environment and topics`() {
        let plain = KeyOption("TEAM123456:KEY1234567:/keys/a:b.pem")
        #expect(plain?.file == "/keys/a:b.pem")
        #expect(plain?.entry == ProviderKeyEntry(teamID: "TEAM123456", keyID: "KEY1234567"))
        let bound = KeyOption("TEAM123456:KEY1234567:k.pem:sandbox:topics=a.b,c.d")
        #expect(bound?.file == "k.pem")
        #expect(bound?.entry.environment == .sandbox)
        #expect(bound?.entry.topics == ["a.b", "c.d"])
        for wrong in ["TEAM:KEY1234567:k.pem", "TEAM123456:KEY1234567", "TEAM123456:KEY1234567:", ""] {
            #expect(KeyOption(wrong) == nil, "\(wrong)")
        }
    }

    @Test func `every fault is told at once`() {
        let faults = SimulatorOptions.Faults(messages: [
            "--fast: unknown option", "--listen localhost:1: a numeric address and port is expected",
            "--any-key: takes no value", "--seed: a value is missing",
            "--key or --any-key is needed: without either every push is refused",
        ])
        #expect(throws: faults) {
            try SimulatorOptions(["--fast", "--listen", "localhost:1", "--any-key=1", "--seed"])
        }
    }

    @Test func `help and version need no key`() throws {
        #expect(try SimulatorOptions(["--help"]).showsHelp)
        #expect(try SimulatorOptions(["--version"]).showsVersion)
    }

    @Test func `the help names every option once and fits a terminal`() {
        let lines = Help.text.split(separator: "\n", omittingEmptySubsequences: false)
        #expect(lines.first == "usage: apns-simulator (--key TEAM:KEYID:FILE | --any-key) [options]")
        for option in OptionTable.all {
            #expect(lines.count { $0.hasPrefix("  \(option.name) ") } == 1, "\(option.name)")
        }
        #expect(lines.allSatisfy { $0.count <= 120 })
        #expect(Help.text.contains("ends with 0 after SIGTERM"))
    }

    @Test func `the defaults in the help are those in force`() {
        let options = SimulatorOptions()
        #expect(options.listen.description == "127.0.0.1:2197")
        #expect(options.control.description == "127.0.0.1:2198")
        #expect(options.fleet.historyBytesMax == 67_108_864)
        #expect(options.initialStreamLimit == 1)
        #expect(options.answers.arrivalsMax == 100_000)
    }
}
