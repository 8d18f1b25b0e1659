import Foundation
import Testing

@Suite(.serialized, .timeLimit(.minutes(10))) struct `A bulk import through the real executables` {
    private static let devices = 6_000

    /// Devices that all have one tag, one on a line.
    private static var lines: [String] {
        (0..<devices).map { number in
            let digits = String(number + 0x1_0000_0000, radix: 16) + "00000000"
            let token = String(digits.suffix(16))
            return #"{"hwid":"imported-\#(number)","push_token":"\#(token)","tags":{"imported":true},"#
                + #""push_to_start_tokens":[{"token":"\#(token)5a","attributes_type":"Order"}]}"# + "\n"
        }
    }

    /// Lets `liveline import` begin with what comes on its standard input.
    private func begin(_ pipeline: RunningPipeline) throws -> (
        process: Foundation.Process, input: FileHandle, output: Pipe
    ) {
        let process = Foundation.Process()
        let (input, output) = (Pipe(), Pipe())
        process.executableURL = Program.folder.appending(path: "liveline")
        process.arguments = ["import", "-", "--url", pipeline.doorURL, "--auth", "k-demo"]
        process.standardInput = input
        process.standardOutput = output
        try process.run()
        return (process, input.fileHandleForWriting, output)
    }

    private func notify(_ pipeline: RunningPipeline, _ method: String, _ members: String) throws {
        let answer = try pipeline.door(
            "/json/1.3/\(method)",
            """
            {"request":{"application":"BBBBB-00002","auth":"k-demo","notifications":[{\
            "live_activity_id":"ord-12",\(members)}]}}
            """)
        #expect(answer.contains("\"status_code\":200"), "\(answer)")
    }

    @Test func `delays no other application, and all of it arrives`() throws {
        let pipeline = try RunningPipeline()
        try pipeline.addApplication("BBBBB-00002")
        _ = try pipeline.control(
            "POST", "/phones",
            """
            {"hwid":"p1","application":"BBBBB-00002","bundleId":"com.example.orders","deviceToken":"d-demo",\
            "attributesTypes":["Order"]}
            """)
        _ = try pipeline.control("/counters") { $0.contains(/"registrations":\{[^}]*"accepted":2\b/) }
        let (importing, input, output) = try begin(pipeline)
        let lines = Self.lines
        try input.write(contentsOf: Data(lines.dropLast().joined().utf8))
        try notify(
            pipeline, "startLiveActivity",
            #""content":"c","title":"t","live_activity":{"event":"start","content-state":{"n":1},"#
                + #""attributes-type":"Order","attributes":{"pushwoosh":{"activityId":"ord-12"}}},"devices":["p1"]"#
        )
        _ = try pipeline.control("/phones/p1") { $0.contains("\"verdict\":\"started\"") }
        try notify(
            pipeline, "updateLiveActivity", #""live_activity":{"event":"update","content-state":{"n":2}}"#)
        _ = try pipeline.control("/phones/p1") { $0.contains("\"verdict\":\"updated\"") }
        #expect(importing.isRunning)
        try input.write(contentsOf: Data(lines[lines.count - 1].utf8))
        try input.close()
        let said = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        importing.waitUntilExit()
        #expect(importing.terminationStatus == 0)
        #expect(said == "accepted 6,000, refused 0\n")
        let deadline = Date(timeIntervalSinceNow: 60)
        let filter =
            #"{"request":{"application":"AAAAA-00001","auth":"k-demo","operator":"AND","#
            + #""conditions":[["imported","EQ",true]]}}"#
        while try !pipeline.door("/json/1.3/compileFilter", filter).contains("\"count\":6000") {
            try #require(Date() < deadline, "not all of it arrives")
            Thread.sleep(forTimeInterval: 0.05)
        }
        #expect(try pipeline.stop() == 0)
    }
}
