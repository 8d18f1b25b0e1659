import Foundation
import JSON
import Testing

@testable import apns_simulator

/// Somebody else's client that sends as fast as it can.
@Suite(.timeLimit(.minutes(10))) struct FullSpeedTests {
    private static let tool = "/usr/bin/h2load"
    private static let pushes = 10_000

    @Test(
        .enabled(
            if: FileManager.default.isExecutableFile(atPath: tool),
            "h2load is not installed (nghttp2-client)"))
    func `h2load has all its pushes taken, and the phone is shown each`() throws {
        let rig = try Rig(["--initial-streams", "1000", "--requests-per-token", "0"])
        _ = try rig.control(
            "POST", "phones",
            #"{"hwid":"p","application":"A","activity":{"id":"m","contentState":{"n":0},"token":"ab"}}"#)
        let scratch = try Scratch()
        let (body, output, end) = (scratch.path + "/b", scratch.path + "/o", scratch.path + "/e")
        try Data(changeBody(timestamp: Stage.nowMilliseconds() / 1_000)).write(to: URL(filePath: body))
        let listener = try #require(rig.server.listeners.first { $0.environment == .production })
        let load = Process()
        load.executableURL = URL(filePath: "/bin/sh")
        load.arguments = [
            "-c",
            """
            \(Self.tool) -n \(Self.pushes) -c 4 -m 100 -d \(body) -H 'authorization: bearer \(rig.bearer)' \
            -H 'apns-topic: \(activityTopic)' -H 'apns-push-type: liveactivity' -H 'apns-priority: 10' \
            https://127.0.0.1:\(listener.port)/3/device/ab >\(output) 2>&1; mv \(output) \(end)
            """,
        ]
        try load.run()
        // The end is a file: a process's own needs a run loop of Foundation's.
        try rig.wait { FileManager.default.fileExists(atPath: end) }
        let text = try String(contentsOfFile: end, encoding: .utf8)
        #expect(text.contains("\(Self.pushes) succeeded, 0 failed, 0 errored, 0 timeout"), "\(text)")
        let counters = try rig.control("GET", "counters")
        #expect(counters["answers"]?["200"]?.int64 == Int64(Self.pushes))
        #expect(counters["connections"]?["opened"]?.int64 == 4)
        #expect(try rig.control("GET", "phones/p")["pushes"]?.int64 == Int64(Self.pushes))
    }
}
