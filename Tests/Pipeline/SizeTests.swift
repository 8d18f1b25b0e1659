import Contracts
import Foundation
import Testing

@testable import apns_gateway
@testable import ingest

/// What the door works out is what the gateway writes.
@Suite(.timeLimit(.minutes(10))) struct `The size of a push` {
    private static let fillers = ["x", "é", "👩‍🍳", #"\u00e9"#, #"\/"#, #"\n"#, "\u{2028}"]

    @Test(arguments: 1...40 as ClosedRange<UInt64>)
    func `is the same at the door and at the gateway, whatever it holds`(_ seed: UInt64) {
        var random = SeededRandom(seed: seed)
        let words = ["", "a", "Order \"12\"\n", "👩‍🍳 é", "\u{7F}\u{85}\u{2028}", "back\\slash", "a/b"]
        func word() -> String { random.pick(words) ?? "" }
        for event in ActivityEvent.allCases {
            var push = Notification(event: event, expirationSeconds: 0)
            if event == .start {
                push.attributesType = random.happens(0.8) ? word() : nil
                push.inputPushToken = random.happens(0.5) ? "1" : nil
                push.inputPushChannel = random.happens(0.5) ? word() : nil
            }
            push.staleDateSeconds = random.happens(0.5) ? Int64(random.number(0...2_000_000_000)) : nil
            push.dismissalDateSeconds = random.happens(0.5) ? Int64(random.number(0...2_000_000_000)) : nil
            push.relevanceScore = random.happens(0.5) ? random.pick(["1", "-0.5", "1e300"]) : nil
            push.fallback =
                random.happens(0.5) ? .init(title: random.happens(0.5) ? word() : nil, body: word()) : nil
            let payload = Payload(
                contentState: random.happens(0.9) ? Array("{\"s\": \"\(word().utf8.count)\"}".utf8) : [],
                attributes: event == .start ? Array("{}".utf8) : [],
                alert: random.happens(0.5) ? DefaultAlert.bytes(title: word(), body: word()) : [])
            var renderer = PayloadRenderer(push, payload)
            let body = renderer.body(.liveActivity, timestampSeconds: 1_764_000_000)
            #expect(PayloadSize.of(push, payload) == body?.count)
            guard let fallback = push.fallback else { continue }
            #expect(PayloadSize.of(fallback) == renderer.body(.alert, timestampSeconds: 0)?.count)
        }
    }

    @Test(arguments: fillers)
    func `is accepted up to 4,096 bytes as they go out, and refused from there on`(_ filler: String) throws {
        let wire = try Wire()
        let empty = #"{"aps":{"timestamp":1764000000,"event":"update","content-state":{"s":""}}}"#.utf8.count
        func state(_ bytes: Int) -> String {
            let room = bytes - empty
            let text = String(repeating: filler, count: room / filler.utf8.count)
            return #"{"s":"\#(text)\#(String(repeating: "z", count: room - text.utf8.count))"}"#
        }
        #expect(try wire.firebase(wire.fcmUpdate(state: state(4_097))).status == 400)
        #expect(try wire.firebase(wire.fcmUpdate(state: state(4_096))).status == 200)
        try wire.wait(for: 1)
        try wire.settle()
        #expect(wire.pushes.map(\.body.count) == [4_096])
    }

    @Test func `of a start counts the alert that is made for it`() throws {
        let title = #"Order "12" é"#
        var largest = 0
        for filler in 3_880...3_940 {
            let wire = try Wire()
            try wire.introduce("dev-1", startToken: Wire.startA)
            let start = Wire.start.replacing("Order 12", with: title.replacing("\"", with: "\\\"")).replacing(
                #"{"step":1}"#, with: #"{"s":"\#(String(repeating: "x", count: filler))"}"#)
            let reply = try wire.start(start)
            guard reply.code == 200 else {
                #expect(reply.message.contains("more than 4096"))
                #expect(largest == 4_096, "the size before was the largest that fits")
                return
            }
            try wire.wait(for: 1)
            largest = try #require(wire.pushes.first).body.count
            #expect(largest <= 4_096)
        }
        Issue.record("nothing was too large")
    }
}
