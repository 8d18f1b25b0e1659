import Foundation
import Glibc
import Synchronization
import Testing
import Web

@testable import liveline

/// The executables of this build, run as their users run them.
enum Program {
    /// The folder that the tests were built into holds the executables too.
    static let folder = URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent()

    /// Runs a program of this build, or one by its path, to its end.
    static func run(
        _ name: String, _ arguments: [String], input: String = ""
    ) throws -> (code: Int32, output: String, errors: String) {
        let process = Foundation.Process()
        let (stdin, stdout, stderr) = (Pipe(), Pipe(), Pipe())
        process.executableURL = name.hasPrefix("/") ? URL(filePath: name) : folder.appending(path: name)
        process.arguments = arguments
        process.standardInput = stdin
        process.standardOutput = stdout
        process.standardError = stderr
        try process.run()
        try stdin.fileHandleForWriting.write(contentsOf: Data(input.utf8))
        try stdin.fileHandleForWriting.close()
        let output = String(decoding: stdout.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        let errors = String(decoding: stderr.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        return (process.terminationStatus, output, errors)
    }
}

/// What was logged, from whichever thread.
private final class Said: Sendable {
    private let bytes = Mutex("")

    var text: String { bytes.withLock { $0 } }
    func add(_ more: String) { bytes.withLock { $0 += more } }
}

/// Five services and a simulator, started by `liveline up --simulator` in a directory of their own.
final class RunningPipeline {
    let directory: URL
    private var process = Foundation.Process()
    private var output = Pipe()
    private let ports: [Int]
    private let environment: [String: String]
    private let said = Said()

    /// Starts everything, with more variables in its environment if wanted, and waits until it is ready.
    init(environment: [String: String] = [:]) throws {
        directory = FileManager.default.temporaryDirectory.appending(
            path: "ll-\(UInt32.random(in: 0 ... .max))")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        ports = try FreePorts.find(4).map(Int.init)
        self.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
        try launch()
    }

    private func launch() throws {
        process.executableURL = Program.folder.appending(path: "liveline")
        process.arguments = [
            "up", "--simulator", "--run", directory.path + "/run", "--data", directory.path + "/data",
            "--http", "127.0.0.1:\(ports[0])", "--apns", "127.0.0.1:\(ports[1])", "--control",
            "127.0.0.1:\(ports[2])", "--apns-channels", "127.0.0.1:\(ports[3])",
        ]
        process.environment = environment
        process.standardError = output
        process.standardOutput = FileHandle.nullDevice
        try process.run()
        try waitForReady()
    }

    private func waitForReady() throws {
        var log = ""
        while !log.contains("liveline info ready") {
            let data = output.fileHandleForReading.availableData
            try #require(!data.isEmpty, "it ended before it was ready: \(log)")
            log += String(decoding: data, as: UTF8.self)
        }
        said.add(log)
        // Read on, or a full pipe would stop it.
        output.fileHandleForReading.readabilityHandler = { [said] handle in
            let more = String(decoding: handle.availableData, as: UTF8.self)
            said.add(more)
        }
    }

    /// Kills `liveline up` itself, starts it again at once, and waits until it is ready.
    func killAndStart() throws {
        kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
        output.fileHandleForReading.readabilityHandler = nil
        (process, output) = (Foundation.Process(), Pipe())
        try launch()
    }

    /// What all processes have logged so far.
    var log: String { said.text }

    /// How often something stands in the log.
    func count(_ words: String) -> Int { log.components(separatedBy: words).count - 1 }

    /// Where stores, keys and the configuration are.
    var data: URL { directory.appending(path: "data") }

    /// Has all of them read the configuration again, and waits until they have.
    func reload() throws {
        let before = count("info reloaded")
        kill(process.processIdentifier, SIGHUP)
        try wait("reloaded") { count("info reloaded") >= before + 5 }
    }

    /// Waits until something holds.
    func wait(_ what: String, until isRight: () throws -> Bool) throws {
        let deadline = Date(timeIntervalSinceNow: 40)
        while try !isRight() {
            try #require(Date() < deadline, "it does not come to this: \(what)\n\(log)")
            Thread.sleep(forTimeInterval: 0.02)
        }
    }

    /// Where the HTTP door listens.
    var doorPort: Int { ports[0] }

    /// Stops it and removes its directory.
    ///
    /// - Parameter seconds: After how many it is told so again, if it is.
    /// - Returns: Its exit code.
    /// - Throws: What keeps the directory from being removed.
    func stop(again seconds: Double? = nil) throws -> Int32 {
        process.terminate()
        if let seconds {
            Thread.sleep(forTimeInterval: seconds)
            process.terminate()
        }
        process.waitUntilExit()
        try FileManager.default.removeItem(at: directory)
        return process.terminationStatus
    }

    /// Where its HTTP door is.
    var doorURL: String { "http://127.0.0.1:\(ports[0])" }

    /// Adds an application like the one that is there, and waits until the door knows it.
    func addApplication(_ code: String) throws {
        let file = directory.appending(path: "data/liveline.json")
        var root = try #require(
            try JSONSerialization.jsonObject(with: Data(contentsOf: file)) as? [String: Any])
        var applications = try #require(root["applications"] as? [[String: Any]])
        var added = applications[0]
        added["code"] = code
        added["firebaseProject"] = nil
        applications.append(added)
        root["applications"] = applications
        try JSONSerialization.data(withJSONObject: root).write(to: file)
        kill(process.processIdentifier, SIGHUP)
        let deadline = Date(timeIntervalSinceNow: 30)
        while try call(
            "GET", "\(doorURL)/v1/applications/\(code)/activities/none", ""
        ).contains("no such application") {
            try #require(Date() < deadline, "the configuration is not read again")
            Thread.sleep(forTimeInterval: 0.02)
        }
    }

    /// Calls the HTTP door, as a server.
    func door(_ path: String, _ body: String, authorization: String = "Bearer k-demo") throws -> String {
        try call("POST", "http://127.0.0.1:\(ports[0])\(path)", body, authorization: authorization)
    }

    /// Asks the HTTP door, as a server.
    func ask(_ path: String) throws -> String {
        try call("GET", "http://127.0.0.1:\(ports[0])\(path)", "")
    }

    /// Makes the phone `p1` and waits until the door knows it.
    func addPhone() throws {
        _ = try control(
            "POST", "/phones",
            """
            {"hwid":"p1","application":"AAAAA-00001","bundleId":"com.example.orders","deviceToken":"d-demo",\
            "attributesTypes":["Order"]}
            """)
        _ = try control("/counters") { $0.contains(/"registrations":\{[^}]*"accepted":2\b/) }
    }

    /// Waits until `p1` has the token of its activity, which iOS makes somewhat later than the start.
    ///
    /// - Returns: what the simulator shows of the phone, and the token.
    func activityToken() throws -> (shown: String, token: String) {
        let token = /"activities":\[\{.*?"token":"([0-9a-f]+)"/
        let shown = try control("/phones/p1") { $0.contains(token) }
        return (shown, String(try #require(shown.firstMatch(of: token)).1))
    }

    /// Calls the simulator's control port.
    func control(_ method: String, _ path: String, _ body: String = "") throws -> String {
        try call(method, "http://127.0.0.1:\(ports[2])\(path)", body)
    }

    /// Calls the HTTP door with any method.
    func own(_ method: String, _ path: String, _ body: String = "") throws -> String {
        try call(method, "http://127.0.0.1:\(ports[0])\(path)", body)
    }

    /// Kills the process of a service as `kill -9` does; it is started again by itself.
    func killService(_ service: String) throws {
        let marks = [directory.path + "/run", "/" + service]
        for process in try FileManager.default.contentsOfDirectory(atPath: "/proc") {
            guard let id = Int32(process),
                let line = try? Data(contentsOf: URL(filePath: "/proc/\(id)/cmdline"))
            else { continue }
            let words = String(decoding: line, as: UTF8.self).split(separator: "\0").map(String.init)
            guard words.first?.hasSuffix(marks[1]) == true, words.contains(marks[0]) else { continue }
            _ = Glibc.kill(id, SIGKILL)
        }
    }

    private func call(
        _ method: String, _ url: String, _ body: String, authorization: String = "Bearer k-demo"
    ) throws -> String {
        let response = try HTTPClient.perform(
            HTTPClientRequest(
                method: method, url: url,
                headers: ["Authorization": authorization, "Content-Type": "application/json"],
                body: Array(body.utf8)))
        return String(decoding: response.body, as: UTF8.self)
    }

    /// Asks the control port until what it says fulfils a condition.
    func control(_ path: String, until isRight: (String) -> Bool) throws -> String {
        let deadline = Date(timeIntervalSinceNow: 30)
        while true {
            let said = try control("GET", path)
            if isRight(said) { return said }
            try #require(Date() < deadline, "it does not come to it: \(said)")
            Thread.sleep(forTimeInterval: 0.02)
        }
    }
}
