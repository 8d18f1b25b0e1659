import Foundation
import Testing
import Web

/// Situations of audiences, by their names, on the real executables.
@Suite(.serialized, .timeLimit(.minutes(10))) struct `Situations of audiences` {
    private func createFilter(_ expression: String, _ fleet: Fleet) throws {
        let expression = expression.replacing("\"", with: "\\\"")
        let answer = try fleet.door(
            "POST", "/json/1.3/createFilter",
            #"{"request":{"auth":"k-test","name":"f","filter_expression":"\#(expression)"}}"#)
        #expect(answer.body.contains("\"status_code\":200"), "\(answer.body)")
    }

    private func startByFilter(_ fleet: Fleet) -> HTTPClientRequest {
        fleet.request(
            "POST", "/json/1.3/startLiveActivity",
            """
            {"request":{"application":"AAAAA-00001","auth":"k-test","notifications":[{"content":"Cooking",\
            "title":"Order","live_activity":{"event":"start","content-state":{"n":0},"attributes-type":"Order",\
            "attributes":{"activityId":"x"}},"live_activity_id":"x","filter":"f"}]}}
            """)
    }

    private func batchesSent(_ fleet: Fleet) throws -> Int {
        let answer = try HTTPClient.perform(
            HTTPClientRequest(
                url: "http://localhost/metrics", timeoutMilliseconds: 2_000,
                unixSocketPath: "\(fleet.runDirectory)/segmenter.1.admin"))
        let text = String(decoding: answer.body, as: UTF8.self)
        let sent = text.firstMatch(of: /liveline_messages_sent_total\{type="batch"\} (\d+)/)
        return sent.flatMap { Int($0.1) } ?? 0
    }

    @Test
    func `seg-killed-in-the-middle: the remaining phones are reached without a new request, none twice`()
        throws
    {
        let fleet = try Fleet()
        try fleet.startAll()
        try fleet.addPhones(2_100)
        try createFilter(#"A("AAAAA-00001")"#, fleet)
        // It hands over four batches of five, since nobody takes them.
        fleet.signal("token-registry", SIGSTOP)
        let codes = try fleet.accepted([startByFilter(fleet)])
        try fleet.wait(for: "batches") { try batchesSent(fleet) == 4 }
        try fleet.kill9("segmenter")
        fleet.signal("token-registry", SIGCONT)
        try fleet.start("segmenter")
        #expect(try fleet.outcomes(codes) == ["delivered": 2_100])
        let counters = try fleet.control("GET", "/counters")
        #expect(counters.contains(#""duplicates":0"#), "\(counters)")
        #expect(counters.contains(#""start":{"started":2100}"#), "\(counters)")
    }

    /// Makes a phone whose tokens are of an environment, and registers it with what it says of that.
    private func register(
        _ hwid: String, _ environment: String, saying gateway: String, _ fleet: Fleet
    ) throws {
        try fleet.control(
            "POST", "/phones",
            """
            {"hwid":"\(hwid)","application":"AAAAA-00001","bundleId":"com.example.orders","registerWith":null,\
            "environment":"\(environment)","attributesTypes":["Order"]}
            """)
        let phone = try fleet.control("GET", "/phones/\(hwid)")
        let device = try #require(phone.firstMatch(of: /"deviceToken":"([0-9a-f]+)"/)).1
        let start = try #require(phone.firstMatch(of: /"startTokens":\[\{.*?"token":"([0-9a-f]+)"/)).1
        let profile = #""push_token":"\#(device)","os_version":"17.4"\#(gateway),"tags":{"level":"vip"}"#
        let token = #""activity_push_to_start_token":"\#(start)""#
        for (method, members) in [("registerDevice", profile), ("setActivityPushToStartToken", token)] {
            let answer = try call(method, hwid, members, fleet)
            #expect(answer.contains("\"status_code\":200"), "\(answer)")
        }
    }

    private func call(
        _ method: String, _ hwid: String, _ members: String, _ fleet: Fleet
    ) throws -> String {
        let answer = try HTTPClient.perform(fleet.phoneRequest(method, hwid, members))
        return String(decoding: answer.body, as: UTF8.self)
    }

    /// The simulator refuses a token on the other environment's host, as APNs does.
    @Test func `seg-environment-carried: each phone is reached through its environment's host`() throws {
        let fleet = try Fleet()
        try fleet.startAll()
        try register("d1", "sandbox", saying: #","gateway":"sandbox""#, fleet)
        try register("d2", "production", saying: #","gateway":"production""#, fleet)
        try register("d3", "production", saying: "", fleet)
        let refused = try call("registerDevice", "d4", #""gateway":"staging""#, fleet)
        #expect(refused.contains("gateway: must be one of"), "\(refused)")
        try createFilter(#"T("level", EQ, "vip")"#, fleet)
        #expect(try fleet.outcomes(try fleet.accepted([startByFilter(fleet)])) == ["delivered": 3])
        for hwid in ["d1", "d2", "d3"] {
            let phone = try fleet.control("GET", "/phones/\(hwid)")
            #expect(phone.contains(#""verdict":"started""#) && phone.contains(#""pushes":1,"#), "\(phone)")
        }
        let counters = try fleet.control("GET", "/counters")
        #expect(!counters.contains("BadDeviceToken"), "\(counters)")
    }
}
