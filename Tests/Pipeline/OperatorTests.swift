import Foundation
import Testing
import Web

@testable import liveline

/// What an operator meets: a second start, and what `liveline doctor` and `liveline status` say of the real executables.
@Suite(.serialized, .timeLimit(.minutes(10))) struct `An operator` {
    @Test func `who starts all a second time in one run directory is told so at once, and the first goes on`()
        throws
    {
        let pipeline = try RunningPipeline()
        let file = pipeline.data.appending(path: "liveline.json")
        let before = try Data(contentsOf: file)
        let run = pipeline.directory.path + "/run"
        let up = ["up", "--simulator", "--run", run, "--data", pipeline.data.path, "--http", "127.0.0.1:1"]
        for words in [up, ["up", "--config", file.path]] {
            let second = try Program.run("liveline", words)
            #expect(second.code == 75)
            #expect(second.output.isEmpty)
            let lines = second.errors.split(separator: "\n")
            #expect(lines.count == 1)
            #expect(lines.first?.hasPrefix("liveline up: \(run): another liveline up") == true, "\(lines)")
        }
        #expect(try Data(contentsOf: file) == before)
        #expect(pipeline.count("liveline warning ended") == 0)
        try pipeline.addPhone()
        #expect(try pipeline.stop() == 0)
    }

    @Test func `who starts it again after kill -9 of it has all services back`() throws {
        let pipeline = try RunningPipeline()
        try pipeline.killAndStart()
        try pipeline.addPhone()
        #expect(pipeline.count("liveline warning ended") == 0, "\(pipeline.log)")
        #expect(try pipeline.stop() == 0)
    }

    @Test(arguments: ["status", "doctor", "up"])
    func `a command goes by the file that the environment names, as the services do`(_ command: String) throws
    {
        let process = Foundation.Process()
        process.executableURL = Program.folder.appending(path: "liveline")
        process.arguments = [command]
        process.environment = ["LIVELINE_CONFIG": "/nowhere/liveline.json"]
        let output = Pipe()
        (process.standardOutput, process.standardError) = (output, output)
        try process.run()
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        #expect(process.terminationStatus != 0)
        #expect(text.contains("/nowhere/liveline.json"), "\(text)")
    }

    @Test func `who names a relative data directory gets a configuration that holds from everywhere`() throws
    {
        let directory = FileManager.default.temporaryDirectory.appending(
            path: "ll-\(UInt32.random(in: 0 ... .max))")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: directory) }
        let ports = try FreePorts.find(4).map { "127.0.0.1:\($0)" }
        let up = """
            cd \(directory.path) && exec \(Program.folder.path)/liveline up --simulator --data d/data --run d/run \
            --http \(ports[0]) --apns \(ports[1]) --control \(ports[2]) --apns-channels \(ports[3]) > log 2>&1
            """
        let process = Foundation.Process()
        process.executableURL = URL(filePath: "/bin/sh")
        process.arguments = ["-c", up]
        try process.run()
        let log = directory.appending(path: "log")
        let deadline = Date(timeIntervalSinceNow: 40)
        func text() -> String { (try? String(contentsOf: log, encoding: .utf8)) ?? "" }
        while !text().contains("liveline info ready"), process.isRunning {
            try #require(Date() < deadline, "\(text())")
            Thread.sleep(forTimeInterval: 0.02)
        }
        #expect(process.isRunning, "\(text())")
        let file = directory.appending(path: "d/data/liveline.json").path
        let doctor = try Program.run("liveline", ["doctor", "--config", file])
        #expect(!doctor.output.contains("cannot be"), "\(doctor.output)")
        #expect(try Program.run("liveline", ["status", "--config", file]).code == 0)
        process.terminate()
        process.waitUntilExit()
        #expect(process.terminationStatus == 0)
    }

    // MARK: The doctor

    private func doctor(_ fleet: Fleet) throws -> String {
        try Program.run("liveline", ["doctor", "--config", fleet.configurationFile]).output
    }

    @Test func `sees a service that is held, an application that APNs refuses, and a stop of all`() throws {
        let fleet = try Fleet(delivery: #"{"intervalSeconds":0}"#)
        try fleet.startAll()
        let sound = try doctor(fleet)
        for words in ["does not", "is held", "is paused", "cannot be reached"] {
            #expect(!sound.contains(words), "\(sound)")
        }

        fleet.signal("segmenter", SIGSTOP)
        let held = try doctor(fleet)
        #expect(held.contains("segmenter.1 (process ") && held.contains("is held"), "\(held)")
        let status = try Program.run("liveline", ["status", "--config", fleet.configurationFile])
        #expect(status.code == 1)
        #expect(status.output.contains("does not answer") && !status.output.contains("not running"))
        fleet.signal("segmenter", SIGCONT)

        try fleet.addPhones(1)
        try fleet.control("POST", "/script", #"{"status":403,"reason":"InvalidProviderToken"}"#)
        _ = try fleet.accepted([fleet.start("a1", on: "p1")])
        try fleet.wait(for: "a pause") { try fleet.log("token-registry").contains("warning paused") }
        let paused = try doctor(fleet)
        #expect(
            paused.contains("application AAAAA-00001 is paused in production: InvalidProviderToken"),
            "\(paused)")

        try fleet.start("ingest", as: "standby", ["--instance", "2"])
        try fleet.wait(for: "a stand-by") { try fleet.log("standby").contains("standing-by") }
        #expect(try !doctor(fleet).contains("ingest.2"))
        #expect(try fleet.stop("standby") == 0)
        #expect(try !doctor(fleet).contains("ingest.2"))
        for service in Fleet.services.reversed() { #expect(try fleet.stop(service) == 0) }
        let stopped = try doctor(fleet)
        #expect(stopped.contains("\(fleet.runDirectory): the services are stopped\n"), "\(stopped)")
        #expect(!stopped.contains("does not run") && !stopped.contains("cannot be reached"), "\(stopped)")
    }

    @Test(arguments: ["journal.sqlite", "journal.sqlite-wal"])
    func `is told that a store was removed under its service`(_ name: String) throws {
        let fleet = try Fleet()
        try fleet.startAll()
        try FileManager.default.removeItem(atPath: "\(fleet.dataDirectory)/\(name)")
        let told = try doctor(fleet)
        let what = "\(fleet.dataDirectory)/\(name) was removed or replaced while ingest works with it"
        #expect(told.contains(what) && told.contains("restart ingest"), "\(told)")
        #expect(!told.contains("may read it"), "\(told)")
    }
}
