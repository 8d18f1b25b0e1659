import Contracts
import Crypto
import Testing

@testable import Service

@Suite struct ConfigurationTests {
    private func read(
        _ text: String, environment: [String: String] = [:], options: Options = Options()
    ) throws -> Configuration {
        try Configuration.read(
            Array(text.utf8), directory: "/etc/liveline", options: options, environment: environment
        ).configuration
    }

    private func faults(_ text: String, environment: [String: String] = [:]) -> [String] {
        do {
            _ = try read(text, environment: environment)
            return []
        } catch let faults as ConfigurationFaults {
            return faults.faults.map(\.description)
        } catch {
            return ["\(error)"]
        }
    }

    /// An application with these members beside what each needs.
    private func application(_ members: String) -> String {
        #"{"applications": [{"code": "A", "bundleId": "com.example.a", \#(members)}]}"#
    }

    // MARK: What is read

    @Test func `an empty object is the defaults`() throws {
        #expect(try read("{}") == Configuration())
    }

    @Test func `every member is read`() throws {
        let configuration = try read(example)
        #expect(configuration.runDirectory == "/tmp/run")
        #expect(configuration.dataDirectory == "/tmp/data")
        #expect(configuration.retentionSeconds == 172_800)
        #expect(configuration.http.listen == "[::1]:8443")
        #expect(configuration.http.certificateFile == "/etc/liveline/http.pem")
        #expect(configuration.http.keyFile == "/abs/http.key")
        #expect(configuration.http.connectionsMax == 500)
        #expect(configuration.adminListen == [.ingest: "127.0.0.1:9101", .rateLimiter: "unix:/tmp/x"])
        #expect(configuration.apns.production == "https://127.0.0.1:2197")
        #expect(configuration.apns[.sandbox] == "https://api.sandbox.push.apple.com")
        #expect(
            configuration.apns.channels[.production] == "https://api-manage-broadcast.push.apple.com:2196")
        #expect(configuration.apns.caFile == "/etc/liveline/ca.pem")
        #expect(configuration.apns.proxy == "http://p.example:3128")
        #expect(
            configuration.log
                == {
                    var log = Configuration.Log(); log.level = "debug"; log.json = true; return log
                }())
        #expect(configuration.delivery.intervalSeconds == 20)
        #expect(configuration.delivery.sendBeforeSeconds == 30)
        let application = try #require(configuration.application("AAAAA-00001"))
        #expect(application.bundleID == "com.example.orders")
        #expect(application.firebaseProject == "demo")
        #expect(application.environment == .sandbox)
        #expect(application.frequent && application.pushwooshAttributes)
        #expect(
            application.serviceAccounts == [
                Configuration.ServiceAccount(
                    clientEmail: "sender@demo.example", publicKeyFile: "/etc/liveline/sender.pem")
            ])
        #expect(
            application.keys == [
                Configuration.Key(
                    teamID: "TEAM123456", keyID: "KEY1234567", file: "/etc/liveline/AuthKey.p8",
                    environment: .production),
                Configuration.Key(
                    teamID: "TEAM123456", keyID: "KEY7654321", file: "/k/x.p8", environment: .sandbox),
            ])
    }

    @Test func `the example that is shipped is read without a fault`() throws {
        let root = #filePath.split(separator: "/").dropLast(3).joined(separator: "/")
        var options = Options()
        options.configurationPath = "/\(root)/compose/liveline.json"
        let read = try Configuration.read(options)
        #expect(read.configuration.applications.map(\.code) == ["AAAAA-00001"])
        #expect(read.warnings == [])
        // What it spells out are the defaults.
        #expect(read.configuration.delivery == DeliverySettings())
        #expect(read.configuration.retentionSeconds == Configuration().retentionSeconds)
        #expect(read.configuration.http == Configuration.HTTP())
        #expect(read.configuration.apns == Configuration.APNs())
    }

    @Test func `an application's pace stands over the common one`() throws {
        let configuration = try read(example)
        let application = try #require(configuration.application("AAAAA-00001"))
        #expect(application.delivery.intervalSeconds == 20)
        #expect(application.delivery.burst == 3)
        #expect(configuration.delivery.burst == 1)
    }

    @Test func `tokens are kept as digests`() throws {
        let digest = SHA256.hex("secret")
        let text = application(
            #""apiTokens": ["secret", "sha256:\#(digest.uppercased())"], "deviceTokens": []"#)
        let configuration = try read(text)
        #expect(configuration.applications[0].apiTokenDigests == [digest, digest])
        #expect(configuration.applications[0].deviceTokenDigests == [])
    }

    @Test func `without deviceTokens nothing is checked, and that is said`() throws {
        let read = try Configuration.read(
            Array(application(#""apiTokens": ["t"]"#).utf8), directory: ".")
        #expect(read.configuration.applications[0].deviceTokenDigests == nil)
        #expect(read.warnings.map(\.path) == ["applications[0].deviceTokens", "applications[0].keys"])
    }

    @Test(arguments: ["0", "86399", "-1", "315360001", #""week""#, "1.5"])
    func `a retention that makes no sense is refused by name`(_ value: String) {
        let fault = faults(#"{"retentionSeconds": \#(value)}"#)
        #expect(fault.count == 1)
        #expect(fault.first?.hasPrefix("retentionSeconds: ") == true)
    }

    @Test func `the environment sets the retention`() throws {
        let environment = ["LIVELINE_RETENTION_SECONDS": "86400"]
        #expect(try read("{}", environment: environment).retentionSeconds == 86_400)
        #expect(
            faults("{}", environment: ["LIVELINE_RETENTION_SECONDS": "1"]) == [
                "retentionSeconds: 1, must be from 86400 to 315360000"
            ])
    }

    // MARK: Environment and options

    @Test func `an option beats the environment, which beats the file`() throws {
        let text = #"{"runDirectory": "/file", "dataDirectory": "/file", "http": {"listen": "127.0.0.1:1"}}"#
        let environment = [
            "LIVELINE_RUN_DIRECTORY": "/environment", "LIVELINE_DATA_DIRECTORY": "/environment",
            "LIVELINE_HTTP_LISTEN": "127.0.0.1:2", "LIVELINE_DELIVERY_INTERVAL_SECONDS": "9",
            "LIVELINE_LOG_JSON": "true", "LIVELINE_ADMIN_RATE_LIMITER": "127.0.0.1:3",
            "LIVELINE_HTTP_CERTIFICATE_FILE": "c.pem", "LIVELINE_HTTP_KEY_FILE": "/k.pem", "OTHER": "x",
        ]
        var options = Options()
        options.runDirectory = "/option"
        let configuration = try read(text, environment: environment, options: options)
        #expect(configuration.runDirectory == "/option")
        #expect(configuration.dataDirectory == "/environment")
        #expect(configuration.http.listen == "127.0.0.1:2")
        #expect(configuration.delivery.intervalSeconds == 9)
        #expect(configuration.log.json)
        #expect(configuration.adminListen == [.rateLimiter: "127.0.0.1:3"])
        #expect(configuration.http.certificateFile == "/etc/liveline/c.pem")
    }

    @Test func `an empty variable counts as none, an unknown one is said`() throws {
        let read = try Configuration.read(
            Array("{}".utf8), directory: ".",
            environment: ["LIVELINE_HTTP_LISTEN": "", "LIVELINE_HTTP_LISTN": "x", "LIVELINE_CONFIG": "y"])
        #expect(read.configuration == Configuration())
        #expect(read.warnings.map(\.path) == ["LIVELINE_HTTP_LISTN"])
    }

    @Test func `a fault in the environment stands under the member's path`() {
        #expect(
            faults("{}", environment: ["LIVELINE_DELIVERY_BURST": "many"])
                == ["delivery.burst: must be a whole number"])
    }

    // MARK: Files

    @Test func `a file is read, and its directory is where other files are`() throws {
        let directory = try TemporaryDirectory()
        var options = Options()
        options.configurationPath = try directory.write(
            #"{"apns": {"caFile": "ca.pem"}}"#, to: "liveline.json")
        let read = try Configuration.read(options)
        #expect(read.configuration.apns.caFile == "\(directory.path)/ca.pem")
    }

    @Test func `a file that cannot be read is a fault that names it`() throws {
        let directory = try TemporaryDirectory()
        for path in ["\(directory.path)/none.json", directory.path] {
            var options = Options()
            options.configurationPath = path
            let error = try #require(throws: ConfigurationFaults.self) { _ = try Configuration.read(options) }
            #expect(error.faults.map(\.path) == [path])
        }
    }

    // MARK: Faults

    @Test func `all faults are told at once, in the order of the file`() {
        let text = #"""
            {"runDirectori": "/x", "http": {"listen": 8080}, "delivery": {"burst": 0, "intervalSeconds": 1.5},
             "applications": [
               {"code": "A", "keys": [{"teamId": "TEAM12345", "keyId": " KEY1234567", "file": "x"}]},
               {"code": "A", "bundleId": "b", "colour": 1}]}
            """#
        #expect(
            faults(text) == [
                "http.listen: a number, must be a string",
                "delivery.intervalSeconds: must be a whole number",
                "delivery.burst: 0, must be from 1 to 100",
                "applications[0].bundleId: is missing",
                "applications[0].keys[0].teamId: 9 characters, must be 10",
                "applications[0].keys[0].keyId: has white space in it",
                "applications[1].colour: unknown member",
                "applications[1].code: is that of applications[0] too, must be unique",
                "runDirectori: unknown member",
            ])
    }

    @Test(arguments: [
        ("", "not JSON: unexpected end, at byte 0"),
        ("[]", "a list, must be an object"),
        (#"{"http": []}"#, "http: a list, must be an object"),
        (
            #"{"http": {"listen": "localhost:80"}}"#,
            "http.listen: must be address:port, [address]:port or unix:path"
        ),
        (#"{"http": {"certificateFile": "x"}}"#, "http.keyFile: is missing beside the other"),
        (#"{"admin": {"limiter": "127.0.0.1:1"}}"#, "admin.limiter: unknown member"),
        (#"{"admin": {"ingest": ":1"}}"#, "admin.ingest: must be address:port, [address]:port or unix:path"),
        (
            #"{"apns": {"production": "http://x"}}"#,
            "apns.production: must be https://, a host, and perhaps a port"
        ),
        (#"{"apns": {"sandbox": "https://"}}"#, "apns.sandbox: must be https://, a host, and perhaps a port"),
        (
            #"{"apns": {"channels": {"sandbox": "http://x"}}}"#,
            "apns.channels.sandbox: must be https://, a host, and perhaps a port"
        ),
        (
            #"{"delivery": {"activeSeconds": 1000000}}"#,
            "delivery.activeSeconds: is more than removeSeconds"
        ),
        (#"{"log": {"level": "loud"}}"#, "log.level: must be one of error, warning, info, debug, trace"),
        (#"{"log": {"json": 1}}"#, "log.json: must be true or false"),
        (
            #"{"delivery": {"activeSeconds": 10, "removeSeconds": 9}}"#,
            "delivery.removeSeconds: is less than activeSeconds"
        ),
        (#"{"delivery": {"startBurst": -1}}"#, "delivery.startBurst: -1, must be from 1 to 1000"),
        (#"{"applications": {}}"#, "applications: an object, must be a list"),
        (#"{"applications": [7]}"#, "applications[0]: a number, must be an object"),
        (#"{"dataDirectory": ""}"#, "dataDirectory: is empty"),
        (#"{"runDirectory": ""}"#, "runDirectory: is empty"),
        (
            #"{"apns": {"proxy": "http://user:secret@proxy.example"}}"#,
            "apns.proxy: must be http://, perhaps user:password@, a host, and a port"
        ),
        (
            #"{"http": {"listen": "127.0.0.1:1", "listen": "127.0.0.1:2"}}"#,
            "not JSON: repeated member http.listen, at byte 35"
        ),
    ])
    func `a fault is named with its path`(text: String, fault: String) {
        #expect(faults(text).first == fault)
    }

    @Test func `a scalar of the environment counts, and its fault does not show a secret`() {
        let text = "{}"
        let environment = ["LIVELINE_APNS_PROXY": "http://user:secret@proxy.example"]
        let error = #expect(throws: ConfigurationFaults.self) {
            try Configuration.read(Array(text.utf8), directory: "/", environment: environment)
        }
        #expect(error?.description.contains("must be http://") == true)
        #expect(error?.description.contains("secret") == false)
    }

    @Test(arguments: [
        (#""environment": "development""#, "environment: must be one of production, sandbox"),
        (#""firebaseProject": """#, "firebaseProject: is empty"),
        (#""apiTokens": "t""#, "apiTokens: a string, must be a list"),
        (#""apiTokens": ["a b"]"#, "apiTokens[0]: must be visible ASCII characters without white space"),
        (#""apiTokens": [""]"#, "apiTokens[0]: must be visible ASCII characters without white space"),
        (#""deviceTokens": ["ok", "sha256:00"]"#, "deviceTokens[1]: must have 64 hex digits behind sha256:"),
        (#""apiTokens": [7]"#, "apiTokens[0]: a number, must be a string"),
        (#""keys": [{"teamId": "", "keyId": "KEY1234567", "file": "x"}]"#, "keys[0].teamId: is empty"),
        (
            #""keys": [{"teamId": "TEAM123456", "keyId": "KEY1234567\n", "file": "x"}]"#,
            "keys[0].keyId: has white space in it"
        ),
        (
            #""keys": [{"teamId": "TEAM 23456", "keyId": "KEY1234567", "file": "x"}]"#,
            "keys[0].teamId: has white space in it"
        ),
        (
            #""keys": [{"teamId": "TEAM-23456", "keyId": "KEY1234567", "file": "x"}]"#,
            "keys[0].teamId: must be letters and digits"
        ),
        (#""keys": [{"teamId": "TEAM123456", "file": "x"}]"#, "keys[0].keyId: is missing"),
        (#""keys": [{"teamId": "TEAM123456", "keyId": "KEY1234567"}]"#, "keys[0].file: is missing"),
        (
            #""serviceAccounts": [{"clientEmail": "x"}]"#,
            "serviceAccounts[0].clientEmail: is no e-mail address"
        ),
        (#""serviceAccounts": [{"clientEmail": "a@b"}]"#, "serviceAccounts[0].publicKeyFile: is missing"),
        (#""delivery": {"interval": 1}"#, "delivery.interval: unknown member"),
    ])
    func `a fault of an application is named with its path`(members: String, fault: String) {
        #expect(faults(application(members)).first == "applications[0].\(fault)")
    }

    @Test(arguments: [
        ("A B", "com.example", "code: must be at most 64 visible ASCII characters"),
        ("A", "com.example_x", "bundleId: must be letters, digits, dots and hyphens"),
        (
            "A", "com.example.push-type.liveactivity",
            "bundleId: must be the app's bundle id, without .push-type and what follows"
        ),
    ])
    func `names of no use are refused`(code: String, bundleID: String, fault: String) {
        let text = #"{"applications": [{"code": "\#(code)", "bundleId": "\#(bundleID)"}]}"#
        #expect(faults(text) == ["applications[0].\(fault)"])
    }

    @Test func `no fault shows a token`() {
        let text = application(#""apiTokens": ["top secret"], "deviceTokens": ["sha256:topsecret"]"#)
        #expect(!faults(text).joined().contains("top"))
        #expect(faults(text).count == 2)
    }

    @Test(arguments: [
        "http://a", "https://", "https://a/b", "https://a:0", "https://a:65536", "https://a:x",
        "https://u@a", "https://a?b", "https://a#b", "https://a b", "a",
    ])
    func `an APNs host is what the gateway takes as one`(url: String) {
        let problem = "must be https://, a host, and perhaps a port"
        #expect(
            faults(#"{"apns": {"production": "\#(url)", "sandbox": "\#(url)"}}"#)
                == ["apns.production: \(problem)", "apns.sandbox: \(problem)"])
        #expect(faults(#"{"apns": {"production": "https://[::1]:2197/"}}"#) == [])
    }

    @Test func `a pace that is inherited is at fault once, where it stands`() {
        let text = #"""
            {"delivery": {"burst": 0, "activeSeconds": 10, "removeSeconds": 9},
             "applications": [{"code": "A", "bundleId": "a"}, {"code": "B", "bundleId": "b", "delivery": {}},
                              {"code": "C", "bundleId": "c", "delivery": {"activeSeconds": 11}}]}
            """#
        #expect(
            faults(text) == [
                "delivery.burst: 0, must be from 1 to 100",
                "delivery.removeSeconds: is less than activeSeconds",
                "applications[2].delivery.activeSeconds: is more than removeSeconds",
            ])
    }

    @Test func `two applications may not stand for one Firebase project`() {
        let text = #"""
            {"applications": [{"code": "A", "bundleId": "a", "firebaseProject": "p"},
                              {"code": "B", "bundleId": "b", "firebaseProject": "p"}]}
            """#
        #expect(
            faults(text) == [
                "applications[1].firebaseProject: is that of applications[0] too, must be unique"
            ])
    }

    @Test func `a run directory too long for any service's socket is refused by all`() {
        // token-registry has the longest name, and all services read this file.
        let most = 107 - "/token-registry.1.answers".utf8.count
        let longest = "/" + String(repeating: "d", count: most - 1)
        #expect(faults(#"{"runDirectory": "\#(longest)"}"#) == [])
        let fault = faults(#"{"runDirectory": "\#(longest)d"}"#).first ?? ""
        #expect(
            fault.hasPrefix("runDirectory: bind: the path has 108 bytes, a Unix socket's at most 107: /ddd"))
    }
}

private let example = #"""
    {
      "runDirectory": "/tmp/run", "dataDirectory": "/tmp/data", "retentionSeconds": 172800,
      "http": {"listen": "[::1]:8443", "certificateFile": "http.pem", "keyFile": "/abs/http.key",
               "connectionsMax": 500},
      "admin": {"ingest": "127.0.0.1:9101", "rate-limiter": "unix:/tmp/x", "segmenter": null},
      "apns": {"production": "https://127.0.0.1:2197", "caFile": "ca.pem", "proxy": "http://p.example:3128"},
      "log": {"level": "debug", "json": true},
      "delivery": {"intervalSeconds": 20},
      "applications": [{
        "code": "AAAAA-00001", "bundleId": "com.example.orders", "firebaseProject": "demo",
        "environment": "sandbox", "apiTokens": ["t"], "deviceTokens": ["d"],
        "frequent": true, "pushwooshAttributes": true,
        "keys": [
          {"teamId": "TEAM123456", "keyId": "KEY1234567", "file": "AuthKey.p8", "environment": "production"},
          {"teamId": "TEAM123456", "keyId": "KEY7654321", "file": "/k/x.p8", "environment": "sandbox"}],
        "serviceAccounts": [{"clientEmail": "sender@demo.example", "publicKeyFile": "sender.pem"}],
        "delivery": {"burst": 3}
      }]
    }
    """#
