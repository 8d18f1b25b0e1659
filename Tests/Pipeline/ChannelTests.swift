import Foundation
import Testing

/// A broadcast channel through the real executables.
@Suite(.serialized, .timeLimit(.minutes(2))) struct `A broadcast channel` {
    private static let phones = [("new-1", "18.0"), ("new-2", "26.1"), ("old", "17.5")]
    private static let path = "/v1/applications/AAAAA-00001/channels"

    @Test func `is made, bound, updated and ended with one broadcast beside the pushes by token`() throws {
        let pipeline = try RunningPipeline()
        for (hwid, version) in Self.phones {
            _ = try pipeline.control(
                "POST", "/phones",
                """
                {"hwid":"\(hwid)","application":"AAAAA-00001","bundleId":"com.example.orders",\
                "osVersion":"\(version)","deviceToken":"d-demo","attributesTypes":["Match"]}
                """)
        }
        _ = try pipeline.control("/counters") { $0.contains(/"registrations":\{[^}]*"accepted":6\b/) }
        let channel = try makeChannel(pipeline)

        try start(pipeline, channel)
        for (hwid, _) in Self.phones { _ = try shows(pipeline, hwid, 1) }
        _ = try pipeline.control("/counters") { $0.contains(/"registrations":\{[^}]*"accepted":7\b/) }

        let update = try change(pipeline, "update", 2)
        for (hwid, _) in Self.phones { _ = try shows(pipeline, hwid, 2) }
        try expectCounts(pipeline, update, delivered: 2)
        #expect(try pipeline.control("GET", "/counters").contains(#""broadcasts":1,"reached":2"#))

        try pipeline.killService("apns-gateway")
        let end = try change(pipeline, "end", 3)
        for (hwid, _) in Self.phones {
            let phone = try shows(pipeline, hwid, 3)
            #expect(phone.contains(#""state":"ended""#))
        }
        try expectCounts(pipeline, end, delivered: 2)
        let counters = try pipeline.control("GET", "/counters")
        #expect(counters.contains(#""broadcasts":2"#) || counters.contains(#""broadcasts":3"#), "\(counters)")

        #expect(try pipeline.own("DELETE", "\(Self.path)/\(escaped(channel))").contains(#""deleted":true"#))
        #expect(try pipeline.own("GET", Self.path).contains(#""channels":[]"#))
        #expect(try pipeline.stop() == 0)
    }

    private func escaped(_ channel: String) -> String {
        channel.replacing("/", with: "%2F").replacing("+", with: "%2B").replacing("=", with: "%3D")
    }

    private func makeChannel(_ pipeline: RunningPipeline) throws -> String {
        let made = try pipeline.own("POST", Self.path, #"{"storagePolicy":0}"#)
        let channel = String(try #require(made.firstMatch(of: /"channel":"([^"]+)"/), "\(made)").1)
        #expect(made.contains(#""storagePolicy":0"#))
        #expect(try pipeline.own("GET", Self.path).contains(channel))
        return channel
    }

    private func start(_ pipeline: RunningPipeline, _ channel: String) throws {
        let devices = Self.phones.map { "\"\($0.0)\"" }.joined(separator: ",")
        let answer = try pipeline.door(
            "/json/1.3/startLiveActivity",
            """
            {"request":{"application":"AAAAA-00001","auth":"k-demo","notifications":[{"content":"Kick-off",\
            "title":"Match","channel":"\(channel)","live_activity":{"event":"start","content-state":{"n":1},\
            "attributes-type":"Match","attributes":{"pushwoosh":{"activityId":"match-1"}}},\
            "live_activity_id":"match-1","devices":[\(devices)]}]}}
            """)
        #expect(answer.contains("\"status_code\":200"), "\(answer)")
    }

    private func change(_ pipeline: RunningPipeline, _ event: String, _ n: Int) throws -> String {
        let answer = try pipeline.door(
            "/json/1.3/updateLiveActivity",
            """
            {"request":{"application":"AAAAA-00001","auth":"k-demo","notifications":[{"live_activity_id":"match-1",\
            "live_activity":{"event":"\(event)","content-state":{"n":\(n)}}}]}}
            """)
        return String(try #require(answer.firstMatch(of: /"Messages":\["([^"]+)"/), "\(answer)").1)
    }

    private func shows(_ pipeline: RunningPipeline, _ hwid: String, _ n: Int) throws -> String {
        try pipeline.control("/phones/\(hwid)") {
            // What the phone shows now stands before its history.
            $0.components(separatedBy: "\"history\"")[0].contains(#""contentState":{"n":\#(n)}"#)
        }
    }

    private func expectCounts(_ pipeline: RunningPipeline, _ code: String, delivered: Int) throws {
        let deadline = Date(timeIntervalSinceNow: 60)
        while true {
            let status = try pipeline.own("GET", "/v1/messages/\(code)")
            if status.contains(#""state":"settled""#) {
                #expect(status.contains(#""delivered":\#(delivered)"#), "\(status)")
                return
            }
            try #require(Date() < deadline, "\(status)")
            Thread.sleep(forTimeInterval: 0.05)
        }
    }
}
