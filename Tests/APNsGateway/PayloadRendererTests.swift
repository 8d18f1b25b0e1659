import Contracts
import Testing

@testable import apns_gateway

@Suite struct PayloadRendererTests {
    private func body(
        _ notification: Notification, _ payload: Payload, _ pushType: PushType = .liveActivity
    ) -> String? {
        var renderer = PayloadRenderer(notification, payload)
        return renderer.body(pushType, timestampSeconds: 1_800_000_000).map {
            String(decoding: $0, as: UTF8.self)
        }
    }

    private func payload(_ state: String, _ attributes: String = "", _ alert: String = "") -> Payload {
        Payload(
            contentState: Array(state.utf8), attributes: Array(attributes.utf8), alert: Array(alert.utf8))
    }

    @Test func `a start has every key in its place`() {
        var start = Notification(event: .start, expirationSeconds: 1)
        start.attributesType = "OrderAttributes"
        start.staleDateSeconds = 1_800_003_600
        start.dismissalDateSeconds = 5
        start.relevanceScore = "0.50"
        start.inputPushToken = "1"
        let text = body(start, payload(#"{"step":1}"#, "{}", #"{"title":"A","body":"B"}"#))
        #expect(
            text
                == #"{"aps":{"timestamp":1800000000,"event":"start","content-state":{"step":1},"#
                + #""attributes-type":"OrderAttributes","attributes":{},"alert":{"title":"A","body":"B"},"#
                + #""stale-date":1800003600,"relevance-score":0.50,"input-push-token":1}}"#)
    }

    @Test func `a start on a channel names it`() {
        var start = Notification(event: .start, expirationSeconds: 1)
        start.attributesType = "T"
        start.inputPushChannel = "dHN0LXNyY2gtY2hubA=="
        #expect(
            body(start, payload("{}", "{}", #""hi""#))
                == #"{"aps":{"timestamp":1800000000,"event":"start","content-state":{},"attributes-type":"T","#
                + #""attributes":{},"alert":"hi","input-push-channel":"dHN0LXNyY2gtY2hubA=="}}"#)
    }

    @Test func `an update has no keys of a start or an end`() {
        var update = Notification(event: .update, expirationSeconds: 1)
        update.attributesType = "T"
        update.dismissalDateSeconds = 5
        update.inputPushToken = "1"
        #expect(
            body(update, payload(#"{"n":2}"#, "{}"))
                == #"{"aps":{"timestamp":1800000000,"event":"update","content-state":{"n":2}}}"#)
    }

    @Test func `an end may have a dismissal date and no state`() {
        var end = Notification(event: .end, expirationSeconds: 1)
        end.dismissalDateSeconds = 1_800_000_060
        #expect(
            body(end, payload(""))
                == #"{"aps":{"timestamp":1800000000,"event":"end","dismissal-date":1800000060}}"#)
    }

    @Test(arguments: [
        #"{"a":9007199254740993,"b":18446744073709551615,"c":-9223372036854775808,"d":12345678901234567890123}"#,
        #"{"x":1.0,"y":1e400}"#, #"{ "spaced" : [ 1 , 2 ] }"#,
        #"{"e1":"\ud83d\udc68\u200d\ud83c\udf73","e2":"👨‍🍳","e3":"e\u0301","e5":"a\u0000b","e6":"\/"}"#,
    ])
    func `the caller's bytes go in as they came`(state: String) {
        let text = body(Notification(event: .update, expirationSeconds: 1), payload(state))
        #expect(text == #"{"aps":{"timestamp":1800000000,"event":"update","content-state":"# + state + "}}")
    }

    @Test func `a name that needs it is escaped`() {
        var start = Notification(event: .start, expirationSeconds: 1)
        start.attributesType = "A\"\\\n"
        let text = body(start, payload("{}", "{}"))
        #expect(text?.contains(#""attributes-type":"A\"\\\n","#) == true)
    }

    @Test func `the fallback is an ordinary alert without a timestamp`() {
        var start = Notification(event: .start, expirationSeconds: 1)
        start.fallback = Notification.Fallback(title: "Order 12", body: "Cooking \u{1F373}")
        #expect(
            body(start, payload("{}"), .alert)
                == "{\"aps\":{\"alert\":{\"title\":\"Order 12\",\"body\":\"Cooking \u{1F373}\"}}}")
        start.fallback?.title = nil
        #expect(body(start, payload("{}"), .alert) == #"{"aps":{"alert":{"body":"Cooking 🍳"}}}"#)
        start.fallback = nil
        #expect(body(start, payload("{}"), .alert) == nil)
    }

    @Test func `each push has its own timestamp`() {
        var renderer = PayloadRenderer(
            Notification(event: .update, expirationSeconds: 1), payload(#"{"n":1}"#))
        let bodies = [5, 5, 17].map { renderer.body(.liveActivity, timestampSeconds: $0) }
        #expect(bodies[0] == bodies[1])
        let last = bodies[2].map { String(decoding: $0, as: UTF8.self) }
        #expect(last == #"{"aps":{"timestamp":17,"event":"update","content-state":{"n":1}}}"#)
    }
}
