import Contracts
import Crypto
import Foundation
import Testing
import Web

@testable import liveline

/// The five services and a simulator, each a process of its own that a test starts, signals and starts again.
final class Fleet {
    /// In the order in which they are started.
    static let services = ["apns-gateway", "rate-limiter", "token-registry", "segmenter", "ingest"]
    static let simulator = "apns-simulator"

    let directory: URL
    let runDirectory: String
    let dataDirectory: String
    private let ports: [Int]
    private var processes: [String: Foundation.Process] = [:]
    private var client = HTTPClient(connectionsMax: 32)

    /// Writes the configuration; nothing runs yet.
    ///
    /// - Parameters:
    ///   - runDirectory: Where the sockets are; in a short folder of its own if not given.
    ///   - dataDirectory: Where the stores are; in that folder too if not given.
    ///   - delivery: The `delivery` object of the configuration.
    /// - Throws: What keeps the files from being written.
    init(runDirectory: String? = nil, dataDirectory: String? = nil, delivery: String = "{}") throws {
        directory = URL(filePath: "/tmp/lf-\(UInt32.random(in: 0 ... .max))")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        self.runDirectory = runDirectory ?? directory.path + "/run"
        self.dataDirectory = dataDirectory ?? directory.path + "/data"
        ports = try FreePorts.find(4).map(Int.init)
        try FileManager.default.createDirectory(
            atPath: self.dataDirectory, withIntermediateDirectories: true)
        try PrivateFile.write(try ProviderKey.generate().privatePEM(), to: directory.path + "/key.p8")
        try Data(configuration(delivery).utf8).write(to: URL(filePath: configurationFile))
    }

    deinit {
        for process in processes.values where process.isRunning {
            kill(process.processIdentifier, SIGKILL)
            process.waitUntilExit()
        }
        try? FileManager.default.removeItem(at: directory)
    }

    var configurationFile: String { directory.path + "/liveline.json" }
    private var certificateFile: String { directory.path + "/apns.pem" }

    private func configuration(_ delivery: String) -> String {
        """
        {"runDirectory":"\(runDirectory)","dataDirectory":"\(dataDirectory)","delivery":\(delivery),\
        "http":{"listen":"127.0.0.1:\(ports[0])"},"log":{"level":"debug"},\
        "apns":{"production":"https://127.0.0.1:\(ports[1])","sandbox":"https://127.0.0.1:\(ports[3])",\
        "caFile":"\(certificateFile)"},"applications":[{"code":"AAAAA-00001","bundleId":"com.example.orders",\
        "firebaseProject":"demo","apiTokens":["k-test"],"deviceTokens":["d-test"],\
        "keys":[{"teamId":"TEAM123456","keyId":"KEY1234567","file":"\(directory.path)/key.p8"}]}]}
        """
    }

    // MARK: Processes

    /// Starts the simulator and all five, and waits until each is ready.
    func startAll(simulator options: [String] = []) throws {
        try startSimulator(options)
        for service in Fleet.services { try start(service) }
        for service in Fleet.services { try waitUntilReady(service) }
    }

    func startSimulator(_ options: [String] = []) throws {
        try launch(
            Fleet.simulator,
            [
                "--listen", "127.0.0.1:\(ports[1])", "--sandbox-listen", "127.0.0.1:\(ports[3])",
                "--control", "127.0.0.1:\(ports[2])", "--any-key",
                "--certificate-out", certificateFile, "--ingest", "http://127.0.0.1:\(ports[0])",
            ] + options)
        try wait(for: "the simulator") { (try? self.control("GET", "/healthz")) != nil }
    }

    /// Starts a service, without waiting for it.
    ///
    /// - Parameters:
    ///   - service: Which one.
    ///   - name: What the process is called here, if it is not the only one of its service.
    ///   - options: Further words of its command line.
    /// - Throws: What keeps it from being started.
    func start(_ service: String, as name: String? = nil, _ options: [String] = []) throws {
        try launch(name ?? service, ["--config", configurationFile] + options, program: service)
    }

    /// Starts all five by `liveline up`, and waits until each is ready.
    func up() throws {
        try launch("up", ["up", "--config", configurationFile], program: "liveline")
        for service in Fleet.services { try waitUntilReady(service) }
    }

    private func launch(_ name: String, _ arguments: [String], program: String? = nil) throws {
        let process = Foundation.Process()
        let log = logFile(name)
        if !FileManager.default.fileExists(atPath: log) {
            _ = FileManager.default.createFile(atPath: log, contents: nil)
        }
        let output = try #require(FileHandle(forWritingAtPath: log))
        try output.seekToEnd()
        process.executableURL = Program.folder.appending(path: program ?? name)
        process.arguments = arguments
        process.standardInput = FileHandle.nullDevice
        (process.standardOutput, process.standardError) = (output, output)
        try process.run()
        processes[name] = process
    }

    func waitUntilReady(_ service: String) throws {
        let request = HTTPClientRequest(
            url: "http://localhost/readyz", timeoutMilliseconds: 2_000,
            unixSocketPath: "\(runDirectory)/\(service).1.admin")
        try wait(for: "\(service) to be ready") { (try? HTTPClient.perform(request))?.status == 200 }
    }

    func isRunning(_ name: String) -> Bool { processes[name]?.isRunning ?? false }

    func signal(_ name: String, _ signal: Int32) {
        guard let process = processes[name], process.isRunning else { return }
        kill(process.processIdentifier, signal)
    }

    /// Waits until a process has ended.
    ///
    /// - Returns: its exit code; 128 and the signal that ended it.
    func exitCode(_ name: String, withinSeconds seconds: Double = 20) throws -> Int32 {
        let process = try #require(processes[name])
        try wait(for: "\(name) to end", seconds: seconds) { !process.isRunning }
        process.waitUntilExit()
        return process.terminationReason == .exit
            ? process.terminationStatus : 128 + process.terminationStatus
    }

    /// Asks a process to stop, in order.
    func stop(_ name: String, withinSeconds seconds: Double = 20) throws -> Int32 {
        signal(name, SIGTERM)
        return try exitCode(name, withinSeconds: seconds)
    }

    /// Kills a process at once.
    func kill9(_ name: String) throws {
        signal(name, SIGKILL)
        #expect(try exitCode(name) == 128 + SIGKILL)
    }

    /// The most memory that a process has held, in MiB (proc(5), `VmHWM`).
    func peakMebibytes(_ name: String) throws -> Int {
        let process = try #require(processes[name])
        let status = try String(contentsOfFile: "/proc/\(process.processIdentifier)/status", encoding: .utf8)
        let kibibytes = try #require(status.firstMatch(of: /VmHWM:\s+(\d+) kB/)).1
        return (Int(kibibytes) ?? 0) / 1_024
    }

    func logFile(_ name: String) -> String { "\(directory.path)/\(name).log" }

    func log(_ name: String) throws -> String { try String(contentsOfFile: logFile(name), encoding: .utf8) }

    // MARK: Calls

    func wait(for what: String, seconds: Double = 30, until isRight: () throws -> Bool) throws {
        let deadline = Date(timeIntervalSinceNow: seconds)
        while try !isRight() {
            try #require(Date() < deadline, "waited in vain for \(what)")
            Thread.sleep(forTimeInterval: 0.02)
        }
    }

    /// Calls the simulator's control port.
    @discardableResult
    func control(_ method: String, _ path: String, _ body: String = "") throws -> String {
        let answer = try HTTPClient.perform(
            HTTPClientRequest(
                method: method, url: "http://127.0.0.1:\(ports[2])\(path)",
                headers: ["Content-Type": "application/json"], body: Array(body.utf8)))
        return String(decoding: answer.body, as: UTF8.self)
    }

    /// A call of the door, as the application's server makes it.
    func request(_ method: String, _ path: String, _ body: String = "") -> HTTPClientRequest {
        HTTPClientRequest(
            method: method, url: "http://127.0.0.1:\(ports[0])\(path)",
            headers: ["Authorization": "Bearer k-test", "Content-Type": "application/json"],
            body: Array(body.utf8))
    }

    /// A call of a phone.
    func phoneRequest(_ method: String, _ hwid: String, _ members: String) -> HTTPClientRequest {
        var request = request(
            "POST", "/json/1.3/\(method)",
            #"{"request":{"application":"AAAAA-00001","hwid":"\#(hwid)","device_type":1,\#(members)}}"#)
        request.headers = ["Authorization": "Token d-test", "Content-Type": "application/json"]
        return request
    }

    /// Calls the door and waits for the answer.
    func door(_ method: String, _ path: String, _ body: String = "") throws -> (status: Int, body: String) {
        let answer = try HTTPClient.perform(request(method, path, body))
        return (answer.status, String(decoding: answer.body, as: UTF8.self))
    }

    /// Makes calls, 32 at a time, and waits for all answers.
    ///
    /// - Returns: what was answered to each; nil where there was no answer.
    func calls(_ requests: [HTTPClientRequest]) -> [(status: Int, body: String)?] {
        var answers: [(Int, String)?] = Array(repeating: nil, count: requests.count)
        var open = requests.count
        for (number, request) in requests.enumerated() {
            client.send(request) { result in
                open -= 1
                guard case .success(let answer) = result else { return }
                answers[number] = (answer.status, String(decoding: answer.body, as: UTF8.self))
            }
        }
        Poller(client).run(timeoutMilliseconds: 60_000) { open == 0 }
        return answers
    }
}

// MARK: - What is played

extension Fleet {
    /// Makes phones `p1`, `p2`, …, and waits until the door knows them.
    func addPhones(_ count: Int) throws {
        try control(
            "POST", "/phones",
            """
            {"count":\(count),"prefix":"p","application":"AAAAA-00001","bundleId":"com.example.orders",\
            "deviceToken":"d-test","attributesTypes":["Order"]}
            """)
        try wait(for: "registrations") {
            let counters = try self.control("GET", "/counters")
            let accepted = counters.firstMatch(of: /"registrations":\{[^}]*"accepted":(\d+)/).flatMap {
                Int($0.1)
            }
            return accepted == 2 * count
        }
    }

    func start(_ activity: String, on phone: String) -> HTTPClientRequest { start(activity, on: [phone]) }

    func start(_ activity: String, on phones: [String]) -> HTTPClientRequest {
        let devices = phones.map { #""\#($0)""# }.joined(separator: ",")
        return notify(
            "startLiveActivity",
            #"{"content":"Cooking","title":"Order","live_activity":{"event":"start","content-state":{"n":0},"#
                + #""attributes-type":"Order","attributes":{"activityId":"\#(activity)"}},"#
                + #""live_activity_id":"\#(activity)","devices":[\#(devices)]}"#)
    }

    func update(_ activity: String, _ n: Int, event: String = "update", filler: String? = nil)
        -> HTTPClientRequest
    {
        let more = filler.map { #","filler":"\#($0)""# } ?? ""
        return notify(
            "updateLiveActivity",
            #"{"live_activity":{"event":"\#(event)","content-state":{"n":\#(n)\#(more)}},"live_activity_id":"\#(activity)"}"#
        )
    }

    private func notify(_ method: String, _ notification: String) -> HTTPClientRequest {
        request(
            "POST", "/json/1.3/\(method)",
            #"{"request":{"application":"AAAAA-00001","auth":"k-test","notifications":[\#(notification)]}}"#)
    }

    /// The code of the message that a call was answered with.
    static func code(_ answer: (status: Int, body: String)?) -> String? {
        answer?.body.firstMatch(of: /"Messages":\["([^"]+)"/).map { String($0.1) }
    }

    /// Makes calls of which every one must be accepted.
    func accepted(_ requests: [HTTPClientRequest]) throws -> [String] {
        let patient = requests.map { request in
            var request = request
            request.timeoutMilliseconds = 60_000
            return request
        }
        return try calls(patient).map { try #require(Fleet.code($0), "\(String(describing: $0))") }
    }

    /// Waits until messages are settled.
    ///
    /// - Returns: how many of their deliveries had each outcome.
    func outcomes(_ codes: [String], seconds: Double = 60) throws -> [String: Int] {
        var open = codes
        var sums: [String: Int] = [:]
        try wait(for: "all to be settled", seconds: seconds) {
            let answers = self.calls(open.map { self.request("GET", "/v1/messages/\($0)") })
            var again: [String] = []
            for (code, answer) in zip(open, answers) {
                guard let body = answer?.body, body.contains(#""state":"settled""#) else {
                    again.append(code)
                    continue
                }
                let counts = body.firstMatch(of: /"outcomes":\{([^}]*)\}/)?.1 ?? ""
                for count in counts.matches(of: /"([a-z]+)":(\d+)/) {
                    sums[String(count.1), default: 0] += Int(count.2) ?? 0
                }
            }
            open = again
            return open.isEmpty
        }
        return sums.filter { $0.value > 0 }
    }

    /// Waits until a phone shows a state of an activity.
    func waitUntilShown(_ n: Int, on phone: String, seconds: Double = 60) throws {
        try wait(for: "n=\(n) on \(phone)", seconds: seconds) {
            let view = try self.control("GET", "/phones/\(phone)")
            return view.components(separatedBy: #""history":"#)[0]
                .contains(#""contentState":{"n":\#(n)}"#)
        }
    }
}
