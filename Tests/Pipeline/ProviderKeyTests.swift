import Crypto
import Foundation
import Testing

/// Keys that are wrong, from the file to the phone, with the real executables.
@Suite(.serialized, .timeLimit(.minutes(10))) struct `A provider key` {
    /// What is wrong with it, though it is well-formed.
    enum Fault: String, CaseIterable {
        case swappedNames = "team and key id swapped"
        case anotherKey = "another key"
    }

    @Test(arguments: Fault.allCases)
    func `jwt-config-swapped: that APNs refuses makes work wait until it is corrected`(_ fault: Fault) throws
    {
        let pipeline = try RunningPipeline()
        try pipeline.startThree()
        let files = ["liveline.json", "AuthKey_KEY1234567.p8"].map { pipeline.data.appending(path: $0) }
        let right = try files.map { try Data(contentsOf: $0) }
        try Self.spoil(files, right, fault)
        try pipeline.reload()
        let codes = try (1...3).map { try pipeline.update($0) }
        try pipeline.wait("a pause") { pipeline.count("warning paused") > 0 }
        for (file, content) in zip(files, right) { try content.write(to: file) }
        for code in codes {
            let status = try pipeline.ask("/v1/messages/\(code)")
            #expect(!status.contains(#""state":"settled""#), "\(status)")
        }
        #expect(try pipeline.control("GET", "/phones/p-2").contains(#""verdict":"updated""#) == false)
        try pipeline.reload()
        for (number, code) in codes.enumerated() {
            _ = try pipeline.control("/phones/p-\(number)") { $0.contains(#""verdict":"updated""#) }
            try pipeline.wait("settled") {
                try pipeline.ask("/v1/messages/\(code)").contains(#""delivered":1"#)
            }
        }
        let warnings = pipeline.log.split(separator: "\n").filter { $0.contains("warning paused") }
        #expect(warnings.count == 1)
        #expect(warnings.allSatisfy { $0.contains("AAAAA-00001") && $0.contains("InvalidProviderToken") })
        #expect(try pipeline.stop() == 0)
    }

    private static func spoil(_ files: [URL], _ right: [Data], _ fault: Fault) throws {
        switch fault {
        case .swappedNames:
            let text = String(decoding: right[0], as: UTF8.self)
                .replacing(#""teamId":"TEAM123456""#, with: #""teamId":"KEY1234567""#)
                .replacing(#""keyId":"KEY1234567""#, with: #""keyId":"TEAM123456""#)
            try #require(text.contains(#""keyId":"TEAM123456""#))
            try Data(text.utf8).write(to: files[0])
        case .anotherKey: try Data(ProviderKey.generate().privatePEM().utf8).write(to: files[1])
        }
    }

    /// Shell lines that make the file `k`, and what the gateway says of it.
    static let wrong: [(String, String)] = [
        ("openssl genrsa -out k 2048", "RSA"),
        ("openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-384 -out k", "secp384r1"),
        (
            "openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -aes256 -pass pass:x -out k",
            "password"
        ),
        (
            "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /CN=a -keyout x -out k",
            "certificate"
        ),
        (
            "openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 | openssl pkey -pubout -out k",
            "public key"
        ),
        (": > k", "empty"), ("mkdir k", "directory"),
    ]

    @Test(arguments: wrong)
    func `key-wrong-kind: start-up refuses it with its own reason`(_ line: String, _ reason: String) throws {
        let directory = FileManager.default.temporaryDirectory.appending(
            path: "ll-\(UInt32.random(in: 0 ... .max))")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: directory) }
        let file = directory.appending(path: "liveline.json")
        let text = """
            {"runDirectory": "\(directory.path)/run", "dataDirectory": "\(directory.path)", "applications": [{
            "code": "AAAAA-00001", "bundleId": "com.example.orders", "apiTokens": ["k"], "deviceTokens": ["d"],
            "keys": [{"teamId": "TEAM123456", "keyId": "KEY1234567", "file": "k"}]}]}
            """
        try Data(text.utf8).write(to: file)
        let made = try Program.run("/bin/sh", ["-c", "cd \(directory.path) && { \(line); } 2>/dev/null"])
        try #require(made.code == 0)
        let options = ["--config", file.path, "--stdio", "--apns", "https://127.0.0.1:1"]
        let (code, _, errors) = try Program.run("apns-gateway", options)
        #expect(code == 78)
        #expect(errors.contains("AAAAA-00001") && errors.contains(reason), "\(errors)")
        // The check that operators run says the same.
        let check = try Program.run("liveline", ["check", file.path])
        #expect(check.code == 78)
        #expect(check.errors.contains(reason), "\(check.errors)")
    }
}

extension RunningPipeline {
    /// Three phones, each with an activity that it shows and a token for it.
    fileprivate func startThree() throws {
        _ = try control(
            "POST", "/phones",
            """
            {"prefix":"p-","first":0,"count":3,"application":"AAAAA-00001","bundleId":"com.example.orders",\
            "deviceToken":"d-demo","attributesTypes":["Order"]}
            """)
        try wait("registrations of the phones") { try accepted() >= 6 }
        for number in 1...3 {
            let answer = try notify(
                "startLiveActivity",
                """
                {"content":"Cooking","live_activity":{"event":"start","content-state":{"n":0},\
                "attributes-type":"Order","attributes":{"activityId":"ord-\(number)"}},"live_activity_id":"ord-\(number)",\
                "devices":["p-\(number - 1)"]}
                """)
            try #require(answer.contains("\"status_code\":200"), "\(answer)")
        }
        try wait("registrations of the activities") { try accepted() >= 9 }
    }

    private func accepted() throws -> Int {
        let counters = try control("GET", "/counters")
        return counters.firstMatch(of: /"registrations":\{[^}]*"accepted":(\d+)/).flatMap { Int($0.1) } ?? 0
    }

    /// Updates one of the activities; the message's code.
    fileprivate func update(_ number: Int) throws -> String {
        let answer = try notify(
            "updateLiveActivity",
            """
            {"live_activity":{"event":"update","content-state":{"n":1}},"live_activity_id":"ord-\(number)"}
            """)
        return String(try #require(answer.firstMatch(of: /"Messages":\["([^"]+)"/), "\(answer)").1)
    }

    private func notify(_ method: String, _ notification: String) throws -> String {
        try door(
            "/json/1.3/\(method)",
            """
            {"request":{"application":"AAAAA-00001","auth":"k-demo","notifications":[\(notification)]}}
            """)
    }
}
