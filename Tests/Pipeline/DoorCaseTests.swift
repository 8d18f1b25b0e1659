import Contracts
import Foundation
import JSON
import Testing

@testable import ingest

/// What callers say at the doors, seen on the wire to APNs.
@Suite(.timeLimit(.minutes(10))) struct `The doors, seen at APNs` {
    private func only(_ body: (Wire) throws -> String) throws -> Wire.Push {
        let wire = try Wire()
        #expect(try wire.firebase(try body(wire)).status == 200)
        try wire.wait(for: 1)
        try wire.settle()
        #expect(wire.pushes.count == 1)
        return try #require(wire.pushes.first)
    }

    @Test func `ing-both-spellings: both lead to the same push, and options go no further`() throws {
        let snake = try only { $0.fcmUpdate() }
        let camel = try only { $0.fcmUpdate(token: #""liveActivityToken":"\#(Wire.tokA)""#) }
        for options in ["fcm_options", "fcmOptions"] {
            let token = #""live_activity_token":"\#(Wire.tokA)","\#(options)":{"analytics_label":"lunch"}"#
            #expect(try only { $0.fcmUpdate(token: token) }.body == snake.body)
        }
        #expect(camel.body == snake.body)
        #expect(camel.headers == snake.headers)
        #expect(!snake.text.contains("options"))
        let wire = try Wire()
        let both = #""live_activity_token":"\#(Wire.tokA)","liveActivityToken":"\#(Wire.tokB)""#
        #expect(try wire.firebase(wire.fcmUpdate(token: both)).status == 400)
        try wire.settle()
        #expect(wire.pushes.isEmpty)
    }

    @Test func `ing-expiration-zero: zero goes out as zero, and without the header the default`() throws {
        let zero = try only { $0.fcmUpdate(headers: #"{"apns-priority":"10","apns-expiration":"0"}"#) }
        #expect(zero.headers["apns-expiration"] == "0")
        let absent = try only { $0.fcmUpdate() }
        let expiration = try #require(absent.headers["apns-expiration"].flatMap { Int64($0) })
        #expect((World.start / 1_000 + 3_600...World.start / 1_000 + 3_610).contains(expiration))
    }

    @Test func `ing-priority-five-kept: five and ten are kept, and the default is said`() throws {
        #expect(try only { $0.fcmUpdate(headers: #"{"apns-priority":"5"}"#) }.headers["apns-priority"] == "5")
        #expect(try only { $0.fcmUpdate() }.headers["apns-priority"] == "10")
        #expect(try only { $0.fcmUpdate(headers: "{}") }.headers["apns-priority"] == "10")
    }

    static let integers =
        #"{"a":9007199254740993,"b":18446744073709551615,"c":-9223372036854775808,"d":12345678901234567890123}"#

    /// One start and one update with a state, each through another door.
    private func states(_ state: String) throws -> [Wire.Push] {
        let wire = try Wire()
        try wire.introduce("dev-1", startToken: Wire.startA)
        #expect(try wire.start(Wire.start.replacing(#"{"step":1}"#, with: state)).code == 200)
        #expect(try wire.firebase(wire.fcmUpdate(state: state)).status == 200)
        try wire.wait(for: 2)
        return wire.pushes
    }

    @Test func `ing-big-integers: the digits that came in go out, through both doors and both stores`() throws
    {
        for push in try states(`The doors, seen at APNs`.integers) {
            #expect(push.text.contains(#""content-state":"# + `The doors, seen at APNs`.integers))
        }
    }

    @Test func `ing-emoji-sequences: what is decoded at APNs is what was sent`() throws {
        let state =
            #"{"e1":"\ud83d\udc68\u200d\ud83c\udf73","e2":""# + "\u{1F468}\u{200D}\u{1F373}"
            + #"","e3":"e\u0301","e4":"\u2764\ufe0f","e5":"a\u0000b","e6":"\/"}"#
        let expected: [(String, [UInt32])] = [
            ("e1", [0x1F468, 0x200D, 0x1F373]), ("e2", [0x1F468, 0x200D, 0x1F373]), ("e3", [0x65, 0x301]),
            ("e4", [0x2764, 0xFE0F]), ("e5", [0x61, 0, 0x62]), ("e6", [0x2F]),
        ]
        for push in try states(state) {
            for (name, scalars) in expected {
                let text = push.aps?["content-state"]?[name]?.string
                #expect(text?.unicodeScalars.map(\.value) == scalars, "\(name)")
            }
        }
    }

    @Test func `ing-start-retried: each device gets one start, however often it is asked for`() throws {
        let wire = try Wire()
        let tokens = ["dev-1", "dev-2"].map { wire.world.phones.add($0) }
        for (device, token) in zip(["dev-1", "dev-2"], tokens) {
            try wire.introduce(device, startToken: token)
        }
        let start = Wire.start.replacing(#"["dev-1"]"#, with: #"["dev-1","dev-2"]"#).replacing(
            #""attributes":{}"#, with: #""attributes":{"activity":"ord-12"}"#)
        let first = try wire.start(start)
        try wire.world.run(seconds: 1)
        let second = try wire.start(start)
        #expect(second.codes == first.codes)
        let third = try wire.start(start.replacing(#"{"step":1}"#, with: #"{"step":9}"#))
        #expect(third.code == 210)
        #expect(third.message.contains("already running"))
        try wire.settle()
        #expect(wire.pushes.map(\.token).sorted() == tokens.sorted())
    }

    @Test func `ing-event-misspelt: nothing of an unknown event is pushed`() throws {
        let wire = try Wire()
        for event in [#""events":"update""#, #""event":"Update""#, #""event":"udpate""#] {
            #expect(
                try wire.firebase(wire.fcmUpdate().replacing(#""event":"update""#, with: event)).status == 400
            )
        }
        try wire.settle()
        #expect(wire.pushes.isEmpty)
    }

    /// A running activity with a token that APNs has called dead.
    private func dead() throws -> (Wire, token: String) {
        let wire = try Wire()
        let startToken = wire.world.phones.add("dev-1")
        try wire.introduce("dev-1", startToken: startToken)
        let start = Wire.start.replacing(#""attributes":{}"#, with: #""attributes":{"activity":"ord-12"}"#)
        #expect(try wire.start(start).code == 200)
        try wire.world.run(seconds: 60) { wire.world.phones.shown["dev-1"]?["ord-12"]?.token != nil }
        try wire.world.run(seconds: 5)
        let token = try #require(wire.world.phones.shown["dev-1"]?["ord-12"]?.token)
        _ = wire.world.phones.rotate("dev-1", "ord-12", at: wire.world.now.wall) { _ in false }
        #expect(try wire.update(Wire.update).code == 200)
        try wire.wait(for: 2)
        try wire.world.run(seconds: 5)
        return (wire, token)
    }

    @Test func `ing-error-kind-clear: a token that got a 410 is unregistered from then on`() throws {
        let (wire, token) = try dead()
        let before = wire.pushes.count
        let named = #""live_activity_token":"\#(token)""#
        let unknown = wire.fcmUpdate(token: named).replacing(
            #""token":"reg-1""#, with: #""token":"reg-1","key":1"#)
        #expect(try wire.firebase(unknown).error["status"] as? String == "INVALID_ARGUMENT")
        let reply = try wire.firebase(wire.fcmUpdate(token: named))
        #expect(reply.status == 404)
        #expect(reply.text.contains("UNREGISTERED"))
        try wire.settle()
        #expect(wire.pushes.count == before)
    }

    @Test func `reg-reregistered-later: a repeat of what a token died under leaves it dead at the doors`()
        throws
    {
        let (wire, token) = try dead()
        let before = wire.pushes.count
        func register(secondsAgo: Int64) throws {
            let at = wire.nowSeconds - secondsAgo
            try wire.phone(
                "setActivityToken",
                #","activity_id":"ord-12","activity_token":"\#(token)","registered_at":\#(at)"#)
            try wire.settle()
        }
        let update = wire.fcmUpdate(token: #""live_activity_token":"\#(token)""#)
        try register(secondsAgo: 60)
        #expect(try wire.firebase(update).status == 404)
        #expect(try wire.update(Wire.update).code == 200, "for when the phone is back")
        try wire.settle()
        #expect(wire.pushes.count == before)
        try register(secondsAgo: 0)
        #expect(wire.pushes.count == before + 1)
        #expect(try wire.firebase(update).status == 200)
    }

    @Test func `ing-registration-token-unknown: the push goes to the activity's token`() throws {
        let push = try only { $0.fcmUpdate().replacing("reg-1", with: "reg-never-seen") }
        #expect(push.token == Wire.tokA)
    }
}
