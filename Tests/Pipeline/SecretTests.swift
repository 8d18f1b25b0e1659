import Foundation
import Testing

@Suite(.serialized, .timeLimit(.minutes(10))) struct `The executables at their most talkative` {
    private static let token = String(repeating: "a1", count: 80)

    private func start(_ auth: String, state: String = #"{"step":1}"#, content: String = #""Cooking""#)
        -> String
    {
        """
        {"request":{"application":"AAAAA-00001","auth":"\(auth)","notifications":[{"content":\(content),\
        "title":"Order 12","live_activity":{"event":"start","content-state":\(state),\
        "attributes-type":"Order","attributes":{"pushwoosh":{"activityId":"ord-12"}}},"live_activity_id":"ord-12",\
        "devices":["p1"]}]}}
        """
    }

    @Test func `ing-secrets-in-logs: no answer and no log line of any service holds a secret`() throws {
        let pipeline = try RunningPipeline(environment: ["LIVELINE_LOG_LEVEL": "trace"])
        let path = "/json/1.3/startLiveActivity"
        let fcm = """
            {"message":{"token":"reg-1","apns":{"live_activity_token":"\(Self.token)","payload":{"aps":{\
            "event":"update","content-state":{"step":2}}}}}}
            """
        let answers = [
            try pipeline.door(path, start("sk-leak-4242", content: "7")),
            try pipeline.door(path, start("sk-leak-4242")),
            try pipeline.door(path, "no JSON: sk-leak-4242"),
            try pipeline.door(
                "/v1/projects/demo/messages:send", fcm, authorization: "Bearer ya.leak-4242"),
            try pipeline.door(
                "/json/1.3/setTags", #"{"request":{"application":"AAAAA-00001","hwid":"p1","tags":{}}}"#,
                authorization: "Token leak-4242"),
            try pipeline.door("/token", "grant_type=x&assertion=leak-4242"),
        ]
        #expect(answers.allSatisfy { !$0.contains("leak-4242") })
        try pipeline.addPhone()
        #expect(try pipeline.door(path, start("k-demo")).contains("\"status_code\":200"))
        #expect(try pipeline.door("/v1/projects/demo/messages:send", fcm).contains("messages/"))
        let activity = try pipeline.activityToken().token
        let key = try String(
            contentsOf: pipeline.directory.appending(path: "data/AuthKey_KEY1234567.p8"), encoding: .utf8)
        #expect(try pipeline.stop() == 0)
        let log = pipeline.log
        #expect(log.contains("ingest"))
        for secret in ["leak-4242", "k-demo", "d-demo", "eyJ", "PRIVATE KEY", Self.token, activity] {
            #expect(!log.contains(secret), "\(secret)")
        }
        for line in key.split(separator: "\n") { #expect(!log.contains(line)) }
    }

    @Test func `ing-start-retried: a call whose caller is gone starts each phone once`() throws {
        let pipeline = try RunningPipeline()
        try pipeline.addPhone()
        try leave(pipeline, start("k-demo"))
        let second = try pipeline.door("/json/1.3/startLiveActivity", start("k-demo"))
        #expect(second.contains("\"status_code\":200"))
        let third = try pipeline.door("/json/1.3/startLiveActivity", start("k-demo", state: #"{"step":9}"#))
        #expect(third.contains("already running"))
        let shown = try pipeline.control("/phones/p1") { $0.contains("\"verdict\":\"started\"") }
        #expect(shown.components(separatedBy: "\"verdict\":\"started\"").count == 2)
        #expect(try pipeline.stop() == 0)
    }

    /// Sends a whole request and closes the connection before anything is answered.
    private func leave(_ pipeline: RunningPipeline, _ body: String) throws {
        let shell = Foundation.Process()
        shell.executableURL = URL(filePath: "/bin/bash")
        shell.arguments = ["-c", "exec 3<>/dev/tcp/127.0.0.1/\(pipeline.doorPort); cat >&3"]
        let input = Pipe()
        shell.standardInput = input
        try shell.run()
        let request =
            "POST /json/1.3/startLiveActivity HTTP/1.1\r\nHost: x\r\nContent-Length: \(body.utf8.count)\r\n\r\n"
        try input.fileHandleForWriting.write(contentsOf: Data((request + body).utf8))
        try input.fileHandleForWriting.close()
        shell.waitUntilExit()
        #expect(shell.terminationStatus == 0)
    }
}
