import Foundation
import Testing

@Suite(.serialized, .timeLimit(.minutes(10))) struct `The real executables together` {
    /// Numbers beyond what a double holds, a joined emoji as escapes, and every kind of value.
    static let state =
        #"{"a":1.0,"b":9007199254740993,"c":1e400,"d":"\ud83d\udc68\u200d\ud83c\udf73","e":0,"f":false,"g":null,"#
        + #""h":{},"i":[]}"#

    @Test func `carry a content-state byte for byte through both doors`() throws {
        let pipeline = try RunningPipeline()
        try pipeline.addPhone()
        try start(pipeline)
        let (started, token) = try pipeline.activityToken()
        #expect(started.contains(Self.state))
        let update = try pipeline.door(
            "/v1/projects/demo/messages:send",
            """
            {"message":{"token":"reg-1","apns":{"live_activity_token":"\(token)","payload":{"aps":{\
            "timestamp":\(Int(Date().timeIntervalSince1970)),"event":"update","content-state":\(Self.state)}}}}}
            """)
        #expect(update.contains("projects/demo/messages/"))
        let updated = try pipeline.control("/phones/p1") { $0.contains("\"verdict\":\"updated\"") }
        #expect(
            updated.components(separatedBy: Self.state).count
                > started.components(separatedBy: Self.state).count)
        #expect(try pipeline.stop() == 0)
    }

    private func start(_ pipeline: RunningPipeline) throws {
        let answer = try pipeline.door(
            "/json/1.3/startLiveActivity",
            """
            {"request":{"application":"AAAAA-00001","auth":"k-demo","notifications":[{"content":"Cooking",\
            "title":"Order 12","live_activity":{"event":"start","content-state":\(Self.state),\
            "attributes-type":"Order","attributes":{"pushwoosh":{"activityId":"ord-12"}}},\
            "live_activity_id":"ord-12","devices":["p1"]}]}}
            """)
        #expect(answer.contains("\"status_code\":200"))
    }

    static let alone: [(service: String, expected: [String])] = [
        (
            "ingest",
            [
                #""status_code":200"#, #""type":"command","to":"segmenter""#,
                #""contentState":"{\"step\":1.0}""#, "notifications[0].live_activity_id",
            ]
        ),
        ("segmenter", [#""recipients":["phone-1"]"#]),
        (
            "token-registry",
            [
                #""type":"targets","to":"rate-limiter.1""#, #""type":"settled","to":"ingest""#,
                #""delivered":1"#,
            ]
        ),
        (
            "rate-limiter",
            [#""result":"superseded""#, #""contentState":"{\"step\":2}""#, #""timestampSeconds":4000000015"#]
        ),
        ("apns-gateway", [#"":path":"/3/device/a1a1""#, #""reason":"Unregistered""#]),
    ]

    @Test(arguments: alone)
    func `run alone on the examples`(_ example: (service: String, expected: [String])) throws {
        let examples = URL(filePath: #filePath).deletingLastPathComponent().appending(
            path: "../../compose/examples")
        let input = try String(
            contentsOf: examples.appending(path: "\(example.service).jsonl"), encoding: .utf8)
        let (code, output, _) = try Program.run(
            example.service,
            [
                "--stdio", "--clock", "manual:4000000000", "--config",
                examples.appending(path: "liveline.json").path,
            ],
            input: input)
        #expect(code == 0)
        for part in example.expected { #expect(output.contains(part)) }
    }

    @Test(arguments: [
        "ingest", "segmenter", "token-registry", "rate-limiter", "apns-gateway", "apns-simulator", "liveline",
    ])
    func `answer help and version, and refuse what they do not know`(_ name: String) throws {
        let help = try Program.run(name, ["--help"])
        #expect(help.code == 0 && help.output.contains("usage: \(name)"))
        let unknown = try Program.run(name, ["--no-such-option"])
        #expect(unknown.code == 64 && unknown.errors.contains("no-such-option"))
        guard name != "liveline" else { return }
        let version = try Program.run(name, ["--version"])
        #expect(version.code == 0 && version.output.hasPrefix(name))
    }
}

@Suite(.timeLimit(.minutes(10))) struct `Numbers out of all bounds` {
    @Test(
        arguments: [
            (#""expirationSeconds":4102444800"#, #""expirationSeconds":9223372036854775807"#),
            (#""burst":1"#, #""burst":9223372036854775807"#),
            (#""lastWireSeconds":0"#, #""lastWireSeconds":9223372036854775807"#),
        ])
    func `are one bad line, and the next one is served`(_ sound: String, _ wild: String) throws {
        let example = URL(filePath: #filePath).deletingLastPathComponent()
            .appending(path: "../../compose/examples/rate-limiter.jsonl")
        let input = try String(contentsOf: example, encoding: .utf8)
        let (code, output, errors) = try Program.run(
            "rate-limiter", ["--stdio", "--clock", "manual:4000000000"],
            input: input.replacing(sound, with: wild, maxReplacements: 1))
        #expect(code == 65)
        #expect(errors.contains("bad-line"))
        #expect(output.contains(#""type":"pushes""#))
    }
}
