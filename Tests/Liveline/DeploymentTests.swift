import Contracts
import Crypto
import FoundationEssentials
import JSON
import Service
import Testing
import Web

@testable import liveline

struct DeploymentTests {
    private func deployment(simulator: Deployment.Simulator? = nil) -> Deployment {
        var configuration = Configuration()
        configuration.runDirectory = "/r"
        configuration.dataDirectory = "/d"
        configuration.http.listen = "127.0.0.1:9"
        return Deployment(
            executables: Executables(directory: "/b"), configurationFile: "/c.json",
            configuration: configuration,
            simulator: simulator)
    }

    @Test func `ingest goes down first, the registry when the gateway has reported, the simulator last`() {
        #expect(
            deployment(simulator: .init()).children.map(\.name) == [
                "ingest", "segmenter", "apns-gateway", "rate-limiter", "token-registry", "apns-simulator",
            ])
    }

    @Test func `a service is told its directories and the configuration`() {
        let child = deployment().children[0]
        #expect(child.path == "/b/ingest")
        #expect(child.arguments == ["--run", "/r", "--data", "/d", "--config", "/c.json"])
        #expect(child.probe?.unixSocketPath == "/r/ingest.1.admin")
        #expect(child.environment == [:])
        #expect(!child.comesFirst)
    }

    @Test func `with a simulator pushes go there, and it is ready before the others start`() throws {
        let simulator = Deployment.Simulator(
            listen: "127.0.0.1:1", channels: "127.0.0.1:3", control: "127.0.0.1:2", keys: ["--key", "K"])
        let children = deployment(simulator: simulator).children
        #expect(
            children[4].environment == [
                "LIVELINE_APNS_PRODUCTION": "https://127.0.0.1:1",
                "LIVELINE_APNS_SANDBOX": "https://127.0.0.1:1",
                "LIVELINE_APNS_CHANNELS_PRODUCTION": "https://127.0.0.1:3",
                "LIVELINE_APNS_CHANNELS_SANDBOX": "https://127.0.0.1:3",
                "LIVELINE_APNS_CA_FILE": "/d/apns-simulator.pem",
            ])
        let last = try #require(children.last)
        #expect(last.comesFirst)
        #expect(last.probe?.url == "http://127.0.0.1:2/healthz")
        #expect(
            last.arguments == [
                "--listen", "127.0.0.1:1", "--channels", "127.0.0.1:3", "--control", "127.0.0.1:2",
                "--certificate-out",
                "/d/apns-simulator.pem",
                "--ingest", "http://127.0.0.1:9", "--key", "K",
            ])
    }

    @Test func `the certificate of a simulator is named from the root on`() throws {
        var deployment = deployment(simulator: .init())
        deployment.configuration.dataDirectory = "d"
        let path = "\(FileManager.default.currentDirectoryPath)/d/apns-simulator.pem"
        let settings = deployment.children[4].environment
        #expect(settings["LIVELINE_APNS_CA_FILE"] == path)
        #expect(try #require(deployment.children.last).arguments.contains(path))
    }

    @Test func `only some services may be asked for`() {
        var some = deployment()
        some.services = [.apnsGateway, .ingest]
        #expect(some.children.map(\.name) == ["ingest", "apns-gateway"])
    }

    @Test func `an admin address of the configuration beats the socket`() {
        var configuration = Configuration()
        configuration.adminListen = [.ingest: "127.0.0.1:7", .segmenter: "unix:/s"]
        func request(_ service: ServiceName, _ number: Int = 1) -> (String, String?) {
            let request = AdminAddress(InstanceName(service, number), configuration).request(
                "/metrics", timeoutMilliseconds: 1)
            return (request.url, request.unixSocketPath)
        }
        #expect(request(.ingest) == ("http://127.0.0.1:7/metrics", nil))
        #expect(request(.ingest, 3) == ("http://127.0.0.1:9/metrics", nil))
        #expect(request(.segmenter) == ("http://localhost/metrics", "/s"))
        #expect(request(.rateLimiter, 2).1 == "/run/liveline/rate-limiter.2.admin")
    }

    @Test func `programs that are missing are named`() {
        #expect(throws: CommandFailure(.unavailable, "/b/x: no such program; swift build makes it")) {
            try Executables(directory: "/b").require(["x"])
        }
    }

    @Test func `ports that are found differ`() throws {
        let ports = try FreePorts.find(3)
        #expect(Set(ports).count == 3)
    }
}

struct ClaimTests {
    private let directory: TemporaryDirectory

    init() throws {
        directory = try TemporaryDirectory()
    }

    private func claim(_ services: [ServiceName] = Deployment.goingDown) throws(CommandFailure) -> Claim {
        try Claim(services, in: directory.path, patienceMilliseconds: 0)
    }

    @Test func `a second one for the same services is refused, and names the directory`() throws {
        let first = try claim()
        let error = try #require(throws: CommandFailure.self) { _ = try claim([.segmenter]) }
        #expect(error.code == .temporary)
        let own = ProcessInfo.processInfo.processIdentifier
        #expect(
            error.messages == ["\(directory.path): another liveline up (process \(own)) runs segmenter here"])
        withExtendedLifetime(first) {}
    }

    @Test func `other services are free, and all are when it is gone`() throws {
        do {
            let first = try claim([.ingest])
            let second = try claim([.segmenter, .rateLimiter])
            withExtendedLifetime((first, second)) {}
        }
        _ = try claim()
    }

    @Test func `services that run by themselves are in the way`() throws {
        let lock = try #require(try InstanceLock("\(directory.path)/rate-limiter.1.lock"))
        let error = try #require(throws: CommandFailure.self) { _ = try claim() }
        #expect(error.code == .temporary)
        #expect(
            error.messages.first?.hasPrefix("\(directory.path): rate-limiter.1 runs here already") == true)
        withExtendedLifetime(lock) {}
    }

    @Test func `a directory that cannot be written is told`() {
        let error = #expect(throws: CommandFailure.self) {
            _ = try Claim([.ingest], in: "\(directory.path)/none", patienceMilliseconds: 0)
        }
        #expect(error?.code == .unavailable)
    }
}

struct TrialSetupTests {
    private let directory: TemporaryDirectory

    init() throws {
        directory = try TemporaryDirectory()
    }

    private func read(_ setup: TrialSetup) throws -> ReadConfiguration {
        var options = Options()
        options.configurationPath = setup.configurationFile
        return try ConfigurationFile.read(options)
    }

    @Test func `what it writes is a configuration without faults and doubts, with keys that are there`()
        throws
    {
        var setup = TrialSetup(directory: directory.path)
        setup.intervalSeconds = 3
        setup.http = "127.0.0.1:81"
        try setup.write()
        let read = try read(setup)
        #expect(read.warnings == [])
        #expect(NamedFiles(read.configuration).faults == [])
        #expect(read.configuration.applications.map(\.code) == [TrialSetup.application])
        #expect(read.configuration.applications[0].delivery.intervalSeconds == 3)
        #expect(read.configuration.http.listen == "127.0.0.1:81")
        #expect(read.configuration.runDirectory == "\(directory.path)/run")
    }

    @Test func `a directory that is relative stands in it from the root on, with all that is in it`() throws {
        let directory = FileManager.default.currentDirectoryPath
        let setup = TrialSetup(directory: "some/data", runDirectory: "some/run")
        let text = try JSONDocument(setup.configuration).root
        #expect(text["dataDirectory"]?.string == "\(directory)/some/data")
        #expect(text["runDirectory"]?.string == "\(directory)/some/run")
        #expect(setup.configurationFile == "\(directory)/some/data/liveline.json")
        #expect(TrialSetup(directory: "data").runDirectory == "\(directory)/data/run")
        let key = text["applications"]?.elements?.first?["keys"]?.elements?.first?["file"]?.string
        #expect(key == "\(directory)/some/data/AuthKey_KEY1234567.p8")
        #expect(setup.simulatorKeys.last?.hasSuffix(":\(directory)/some/data/AuthKey_KEY1234567.pem") == true)
    }

    @Test func `a simulator beside it is where pushes go`() throws {
        var setup = TrialSetup(directory: directory.path)
        setup.simulator = Deployment.Simulator(listen: "127.0.0.1:1", channels: "127.0.0.1:2")
        try setup.write()
        let apns = try read(setup).configuration.apns
        #expect(APNsEnvironment.allCases.map { apns[$0] } == ["https://127.0.0.1:1", "https://127.0.0.1:1"])
        #expect(
            APNsEnvironment.allCases.map { apns.channels[$0] } == [
                "https://127.0.0.1:2", "https://127.0.0.1:2",
            ])
    }

    @Test func `a key that is there is kept`() throws {
        let setup = TrialSetup(directory: directory.path)
        try setup.write()
        let file = "\(directory.path)/AuthKey_KEY1234567.p8"
        let key = try String(contentsOfFile: file, encoding: .utf8)
        try setup.write()
        #expect(try String(contentsOfFile: file, encoding: .utf8) == key)
    }

    @Test func `the directory is gone with its value`() throws {
        var temporary: TemporaryDirectory? = try TemporaryDirectory()
        let path = try #require(temporary?.path)
        #expect(FileManager.default.fileExists(atPath: path))
        temporary = nil
        #expect(!FileManager.default.fileExists(atPath: path))
    }
}

struct CheckCommandTests {
    private let directory: TemporaryDirectory
    private let screen = Screen()

    init() throws {
        directory = try TemporaryDirectory()
    }

    private func check(_ text: String) throws -> [String] {
        let file = "\(directory.path)/liveline.json"
        try TextFile.write(text, to: file)
        guard case .command(let command) = try CheckCommand.parse([file]) else { return ["help"] }
        do throws(CommandFailure) {
            #expect(try command.run(on: screen.console) == .good)
            return []
        } catch {
            #expect(error.code == .configuration)
            return error.messages
        }
    }

    @Test func `a file in order says so`() throws {
        let setup = TrialSetup(directory: directory.path)
        try setup.write()
        #expect(try check(String(decoding: setup.configuration, as: UTF8.self)) == [])
        #expect(screen.output == ["\(directory.path)/liveline.json: in order, 1 application"])
    }

    @Test func `doubts are told, and are no faults`() throws {
        #expect(try check(#"{"applications":[{"code":"A","bundleId":"b"}]}"#) == [])
        #expect(screen.output.contains { $0.hasPrefix("warning: applications[0].deviceTokens: is missing") })
    }

    @Test func `every fault comes at once, those of named files too`() throws {
        let faults = try check(
            """
            {"http": {"listen": 1}, "apns": {"caFile": "nowhere.pem"},
             "applications": [{"code": "A", "bundleId": "b",
               "keys": [{"teamId": "TEAM123456", "keyId": "KEY1234567", "file": "nowhere.p8"}]}]}
            """)
        #expect(
            faults.map { $0.prefix { $0 != ":" } } == [
                "http.listen", "apns.caFile", "applications[0].keys[0].file",
            ])
    }

    /// A configuration whose door shows the files, which hold these texts.
    private func door(_ certificate: String, _ key: String) throws -> String {
        try PrivateFile.write(certificate, to: "\(directory.path)/c.pem")
        try PrivateFile.write(key, to: "\(directory.path)/k.pem")
        return #"{"http": {"certificateFile": "c.pem", "keyFile": "k.pem"}}"#
    }

    @Test func `a certificate and its key are in order, the wrong way round each is named`() throws {
        let own = try SelfSignedCertificate.make(hosts: ["localhost"])
        let path = directory.path
        #expect(try check(door(own.certificatePEM, own.keyPEM)) == [])
        #expect(
            try check(door(own.keyPEM, own.certificatePEM)) == [
                "http.certificateFile: \(path)/c.pem holds no certificate",
                "http.keyFile: \(path)/k.pem holds no private key",
            ])
        #expect(
            try check(door("x", own.keyPEM)) == ["http.certificateFile: \(path)/c.pem holds no certificate"])
    }

    @Test func `a key of another certificate and a damaged one are refused as the door refuses them`() throws
    {
        let own = try SelfSignedCertificate.make(hosts: ["localhost"])
        let other = try SelfSignedCertificate.make(hosts: ["localhost"])
        let damaged = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"
        let fault = ["http.certificateFile: cannot be used, or does not go with http.keyFile"]
        #expect(try check(door(own.certificatePEM, other.keyPEM)) == fault)
        #expect(try check(door(damaged, own.keyPEM)) == fault)
    }

    @Test func `authorities without a certificate are refused, as the gateway refuses them`() throws {
        let text = #"{"apns": {"caFile": "ca.pem"}}"#
        let file = "\(directory.path)/ca.pem"
        try TextFile.write("no certificate", to: file)
        #expect(
            try check(text).first?.hasPrefix("apns.caFile: \(file) holds no certificate that can be used: ")
                == true)
        try TextFile.write(try SelfSignedCertificate.make(hosts: ["localhost"]).certificatePEM, to: file)
        #expect(try check(text) == [])
    }

    @Test func `a certificate that does not hold any more, or not yet, is a doubt`() throws {
        let own = try SelfSignedCertificate.make(hosts: ["localhost"])
        _ = try door(own.certificatePEM, own.keyPEM)
        var http = Configuration.HTTP()
        http.certificateFile = "\(directory.path)/c.pem"
        let files = DoorFiles(http)
        let dates = try #require(CertificateDates.all(pem: Array(own.certificatePEM.utf8)).first)
        func warnings(_ seconds: Int64) -> [String] {
            files.warnings(at: Date(timeIntervalSince1970: Double(seconds)))
        }
        #expect(warnings(dates.notBeforeSeconds).isEmpty)
        #expect(warnings(dates.notAfterSeconds).isEmpty)
        #expect(warnings(dates.notAfterSeconds + 1).first?.contains("c.pem has expired, on 20") == true)
        #expect(warnings(dates.notBeforeSeconds - 1).first?.contains("is not valid before 20") == true)
        #expect(dates.notAfterSeconds - dates.notBeforeSeconds > 3_652 * 86_400)
        #expect(CertificateDates.all(pem: Array("none".utf8)).isEmpty)
    }

    @Test func `a private key that every user can read is a doubt`() throws {
        let own = try SelfSignedCertificate.make(hosts: ["localhost"])
        _ = try door(own.certificatePEM, own.keyPEM)
        let key = "\(directory.path)/AuthKey.p8"
        try PrivateFile.write(try ProviderKey.generate().privatePEM(), to: key)
        let text = #"""
            {"http": {"certificateFile": "c.pem", "keyFile": "k.pem"},
             "applications": [{"code": "A", "bundleId": "b", "apiTokens": ["t"], "deviceTokens": ["d"],
               "keys": [{"teamId": "TEAM123456", "keyId": "KEY1234567", "file": "AuthKey.p8"}]}]}
            """#
        #expect(try check(text) == [])
        #expect(screen.output.count == 1)
        let files = ["\(directory.path)/k.pem", key]
        for file in files {
            try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: file)
        }
        #expect(try check(text) == [])
        #expect(
            screen.output.dropFirst().dropLast() == [
                "warning: http.keyFile: \(files[0]) can be read by every user",
                "warning: applications[0].keys[0].file: \(files[1]) can be read by every user",
            ])
    }

    @Test func `the shipped example lacks nothing but its key files`() throws {
        let path = #filePath.split(separator: "/").dropLast(3).joined(separator: "/")
        let example = try String(contentsOfFile: "/\(path)/compose/liveline.json", encoding: .utf8)
        let faults = try check(example)
        #expect(
            faults.map { $0.prefix { $0 != ":" } } == [
                "applications[0].keys[0].file", "applications[0].serviceAccounts[0].publicKeyFile",
            ])
    }
}
