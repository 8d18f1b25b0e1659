import Contracts
import JSON
import Testing

@testable import ingest

@Suite struct PayloadSizeTests {
    /// The body as the gateway writes it.
    private func body(_ push: Notification, _ payload: Payload) -> [UInt8] {
        JSONWriter.object { body in
            body.object("aps") { aps in
                aps.member("timestamp", 1_700_000_000)
                aps.member("event", push.event.rawValue)
                if !payload.contentState.isEmpty {
                    aps.member("content-state", JSONRaw(payload.contentState))
                }
                if let type = push.attributesType { aps.member("attributes-type", type) }
                if !payload.attributes.isEmpty { aps.member("attributes", JSONRaw(payload.attributes)) }
                if !payload.alert.isEmpty { aps.member("alert", JSONRaw(payload.alert)) }
                if let date = push.staleDateSeconds { aps.member("stale-date", date) }
                if let date = push.dismissalDateSeconds, push.event == .end {
                    aps.member("dismissal-date", date)
                }
                if let score = push.relevanceScore {
                    aps.member("relevance-score", JSONRaw(Array(score.utf8)))
                }
                if let token = push.inputPushToken {
                    aps.member("input-push-token", JSONRaw(Array(token.utf8)))
                }
                if let channel = push.inputPushChannel { aps.member("input-push-channel", channel) }
            }
        }
    }

    @Test(arguments: ActivityEvent.allCases)
    func `the size is that of the body, whatever it holds`(_ event: ActivityEvent) {
        var push = Notification(event: event, expirationSeconds: 0)
        var payload = Payload(contentState: Array(#"{"e":"👨‍🍳","n":1.0}"#.utf8))
        #expect(PayloadSize.of(push, payload) == body(push, payload).count)
        push.attributesType = "Order \"12\"\n"
        push.staleDateSeconds = 1_700_000_300
        push.dismissalDateSeconds = 7
        push.relevanceScore = "1e400"
        push.inputPushToken = "1"
        push.inputPushChannel = "dHN0LXNyY2g="
        payload.attributes = Array(#"{"a":{}}"#.utf8)
        payload.alert = Array(#""hi""#.utf8)
        #expect(PayloadSize.of(push, payload) == body(push, payload).count)
        #expect(PayloadSize.of(push, Payload()) == body(push, Payload()).count)
    }

    @Test func `the size of the fallback is that of its alert`() {
        let fallback = Notification.Fallback(title: "Order \u{7F}", body: "Cooking")
        #expect(
            PayloadSize.of(fallback)
                == #"{"aps":{"alert":{"title":"Order \u007f","body":"Cooking"}}}"#.utf8.count)
        let bare = Notification.Fallback(title: nil, body: "Cooking")
        #expect(PayloadSize.of(bare) == #"{"aps":{"alert":{"body":"Cooking"}}}"#.utf8.count)
    }

    /// An update whose finished body has so many bytes.
    private func update(bytes: Int, filler: String = "x") -> String {
        let empty = #"{"aps":{"timestamp":1700000000,"event":"update","content-state":{"s":""}}}"#.utf8.count
        let text = String(repeating: filler, count: (bytes - empty) / filler.utf8.count)
        return Bench.update.replacing(#"{"step":2}"#, with: #"{"s":"\#(text)"}"#)
    }

    @Test func `4,096 bytes are taken and one more is refused with the size`() throws {
        let bench = try Bench()
        try bench.start()
        #expect(try bench.update(update(bytes: 4_096)).code == 200)
        let reply = try bench.update(update(bytes: 4_097))
        #expect(reply.code == 210)
        #expect(
            reply.statusMessage
                == "notifications[0].live_activity: the APNs body would have 4097 bytes, more than 4096")
        let fcm = Bench.fcmUpdate.replacing(
            #"{"step":2}"#, with: #"{"s":"\#(String(repeating: "é", count: 2_048))"}"#)
        #expect(
            try bench.fcm(fcm).violations == [
                "message.apns.payload.aps: the APNs body would have 4170 bytes, more than 4096"
            ])
    }

    @Test func `an activity's attributes leave so much less for its states, at both doors`() throws {
        let bench = try Bench()
        let attributes = #"{"a":"\#(String(repeating: "x", count: 1_000))"}"#
        try bench.start(Bench.start.replacing(#""attributes":{}"#, with: #""attributes":\#(attributes)"#))
        try bench.activityToken(Bench.tokA)
        func state(_ bytes: Int) -> String { #"{"s":"\#(String(repeating: "y", count: bytes - 8))"}"# }
        let room = 4_096 - attributes.utf8.count
        let problem =
            "content-state: with the attributes of its start it would have 4097 bytes, more than 4096"
        let update = try bench.update(Bench.update.replacing(#"{"step":2}"#, with: state(room + 1)))
        #expect(update.statusMessage == "notifications[0].live_activity." + problem)
        let fcm = Bench.fcmUpdate.replacing(#"{"step":2}"#, with: state(room + 1))
        #expect(try bench.fcm(fcm).violations == ["message.apns.payload.aps." + problem])
        #expect(try bench.update(Bench.update.replacing(#"{"step":2}"#, with: state(room))).code == 200)
    }

    @Test func `a fallback that would be too large is refused by name`() throws {
        let long = String(repeating: "c", count: 4_100)
        let reply = try Bench().start(
            Bench.start.replacing("Cooking", with: long).replacing(
                #""attributes":{}"#, with: #""attributes":{},"alert":"x""#))
        #expect(
            reply.statusMessage.hasPrefix("notifications[0].content: as an alert it would have 4148 bytes"))
    }
}
