import Contracts
import JSON
import Service
import Testing

@testable import ingest

/// What becomes of a good call: the command that others get.
@Suite struct AcceptedPushTests {
    /// The only command that a call leads to.
    static func command(_ bench: Bench) throws -> Command {
        let commands = try bench.turn().commands
        #expect(commands.count == 1)
        return try #require(commands.first)
    }

    @Test func `a start carries what its caller said and what follows from the clock`() throws {
        let bench = try Bench()
        let reply = try bench.start()
        #expect(reply.statusMessage == "OK")
        let command = try AcceptedPushTests.command(bench)
        var push = Notification(event: .start, expirationSeconds: Bench.nowSeconds + 600)
        push.attributesType = "OrderAttributes"
        push.inputPushToken = "1"
        push.fallback = .init(title: "Order 12", body: "Cooking")
        #expect(
            command
                == Command(
                    sequence: 1, application: "AAAAA-00001", kind: .start, run: 1, activity: "ord-12",
                    order: Order(seconds: Bench.nowSeconds, sequence: 1),
                    acceptedAtMilliseconds: bench.now.wall, audience: .devices(["dev-1"]), notification: push,
                    payload: Payload(
                        contentState: Array(#"{"step":1}"#.utf8), attributes: Array("{}".utf8),
                        alert: Array(#"{"title":"Order 12","body":"Cooking"}"#.utf8))))
        #expect(reply.codes.compactMap(bench.journal.codes.sequence) == [1])
    }

    @Test func `every small member of an update arrives`() throws {
        let bench = try Bench()
        try bench.start()
        try bench.update(
            Bench.update.replacing(
                #"{"step":2}"#,
                with:
                    #"{"step":2},"title":"unused","timestamp":1699999990,"stale-date":1700000300,"dismissal-date":0,"relevance-score":1e300,"alert":"hi""#
            ))
        let command = try #require(try bench.drain().commands.last)
        var push = Notification(event: .update, expirationSeconds: 1_700_000_300)
        push.timestampSeconds = 1_699_999_990
        push.staleDateSeconds = 1_700_000_300
        push.dismissalDateSeconds = 0
        push.relevanceScore = "1e300"
        #expect(command.notification == push)
        #expect(command.payload.alert == Array(#""hi""#.utf8))
        #expect(command.audience == .activity)
        #expect(command.order == Order(seconds: 1_699_999_990, sequence: 2))
        #expect(command.run == 1)
    }

    @Test(
        arguments: [
            (#""stale-date":1700000300"#, 1_700_000_300), (#""stale-date":1700009999"#, 1_700_003_600),
            (#""stale-date":1699999999"#, 1_700_003_600), (#""relevance-score":1"#, 1_700_003_600),
        ] as [(String, Int64)])
    func `an update expires with its stale date if that lies ahead and is sooner`(
        _ member: String, _ expiration: Int64
    ) throws {
        let bench = try Bench()
        try bench.start()
        try bench.update(Bench.update.replacing(#"{"step":2}"#, with: #"{"step":2},\#(member)"#))
        #expect(try bench.drain().commands.last?.notification?.expirationSeconds == expiration)
    }

    @Test func `a stale date does not hold back an end`() throws {
        let bench = try Bench()
        try bench.start()
        try bench.update(Bench.end.replacing(#"{"step":2}"#, with: #"{"step":2},"stale-date":1700000300"#))
        let end = try #require(try bench.drain().commands.last)
        #expect(end.kind == .end)
        #expect(end.notification?.expirationSeconds == Bench.nowSeconds + 14_400)
    }

    static let rawStates = [
        #"{"a":9007199254740993,"b":18446744073709551615,"c":-9223372036854775808,"d":12345678901234567890123}"#,
        #"{"e1":"\ud83d\udc68\u200d\ud83c\udf73","e3":"e\u0301","e4":"\u2764\ufe0f","e5":"a\u0000b","e6":"\/"}"#,
        "{\"e2\":\"👨\u{200D}🍳\",\"e3\":\"e\u{301}\",\"é\":1}",
        #"{ "n" : [ 1.0, 1e400, -0, 1E+2 ] , "t":true,"x":null }"#,
        "{}",
    ]

    @Test(arguments: rawStates)
    func `content state, attributes and alert are the bytes that came in, through both doors and the store`(
        _ raw: String
    ) throws {
        let bench = try Bench()
        let bytes = Array(raw.utf8)
        let alert = #"{ "title":"t", "more":\#(raw) }"#
        try bench.start(
            Bench.start.replacing(#"{"step":1}"#, with: raw).replacing(
                #""attributes":{}"#, with: #""attributes":\#(raw),"alert":\#(alert)"#))
        let fcm = Bench.fcmStart.replacing(#"{"step":1}"#, with: raw).replacing(
            #""attributes":{}"#, with: #""attributes":\#(raw)"#
        ).replacing(#"{"title":"t","body":"b"}"#, with: alert)
        #expect(try bench.fcm(fcm).status == 200)
        try bench.restart()
        let payloads = try bench.turn().commands.map(\.payload)
        #expect(
            payloads
                == Array(
                    repeating: Payload(
                        contentState: bytes, attributes: bytes, alert: Array(alert.utf8)), count: 2))
    }

    @Test(arguments: [
        (#""content":"Cooking","#, "", #"{"title":"Order 12"}"#),
        (#""title":"Order 12","#, "", #"{"body":"Cooking"}"#),
        (
            #""title":"Order 12","live_activity":{"#, #""live_activity":{"title":"Status","#,
            #"{"title":"Status","body":"Cooking"}"#
        ),
        (
            #""attributes":{}"#, #""attributes":{},"title":"Status""#,
            #"{"title":"Order 12","body":"Cooking"}"#
        ),
        (#""attributes":{}"#, #""attributes":{},"alert":{"body":"own"}"#, #"{"body":"own"}"#),
        (
            #""Cooking""#, #""a \"b\"\n\u2764""#,
            "{\"title\":\"Order 12\",\"body\":\"a \\\"b\\\"\\n\u{2764}\"}"
        ),
    ])
    func `a start without an alert gets one`(_ from: String, _ to: String, _ alert: String) throws {
        let bench = try Bench()
        #expect(try bench.start(Bench.start.replacing(from, with: to)).code == 200)
        #expect(String(decoding: try AcceptedPushTests.command(bench).payload.alert, as: UTF8.self) == alert)
    }

    @Test func `the Firebase door makes a missing alert of the notification, or refuses`() throws {
        let bench = try Bench()
        let bare = Bench.fcmStart.replacing(#","alert":{"title":"t","body":"b"}"#, with: "")
        let refused = try bench.fcm(bare)
        #expect(refused.violations.first?.hasPrefix("message.apns.payload.aps.alert: missing") == true)
        let words = #""token":"reg-1","notification":{"title":"T","body":"B"}"#
        #expect(try bench.fcm(bare.replacing(#""token":"reg-1""#, with: words)).status == 200)
        let command = try AcceptedPushTests.command(bench)
        #expect(String(decoding: command.payload.alert, as: UTF8.self) == #"{"title":"T","body":"B"}"#)
        #expect(command.notification?.fallback == nil)
    }

    @Test(
        arguments: [
            ("", "1", nil), (#","input-push-token":1"#, "1", nil),
            (#","input-push-channel":"dHN0LXNyY2g=","input-push-token":1"#, "1", "dHN0LXNyY2g="),
            (#","input-push-channel":"dHN0LXNyY2g=""#, nil, "dHN0LXNyY2g="),
        ] as [(String, String?, String?)])
    func `a start asks for an update token unless its caller decides`(
        _ members: String, _ token: String?, _ channel: String?
    ) throws {
        let bench = try Bench()
        try bench.start(Bench.start.replacing(#""attributes":{}"#, with: #""attributes":{}\#(members)"#))
        let push = try #require(try AcceptedPushTests.command(bench).notification)
        #expect(push.inputPushToken == token)
        #expect(push.inputPushChannel == channel)
    }

    @Test(arguments: [
        ("{}", #"{"pushwoosh":{"activityId":"ord-12"}}"#),
        (#"{ "a" : 1.0 }"#, #"{ "a" : 1.0 ,"pushwoosh":{"activityId":"ord-12"}}"#),
        (#"{"pushwoosh":{},"b":2}"#, #"{"pushwoosh":{"activityId":"ord-12"},"b":2}"#),
        (#"{"pushwoosh":{"k":1}}"#, #"{"pushwoosh":{"k":1,"activityId":"ord-12"}}"#),
        (#"{"pushwoosh":{"activityId":"own"}}"#, #"{"pushwoosh":{"activityId":"own"}}"#),
    ])
    func `an application may have the id put into the attributes`(_ given: String, _ expected: String) throws
    {
        let bench = try Bench(Bench.configuration { $0.pushwooshAttributes = true })
        try bench.start(Bench.start.replacing(#""attributes":{}"#, with: #""attributes":\#(given)"#))
        let attributes = try AcceptedPushTests.command(bench).payload.attributes
        #expect(String(decoding: attributes, as: UTF8.self) == expected)
    }

    @Test(arguments: [
        (#"{"pushwoosh":7}"#, "pushwoosh: must be an object"),
        (#"{"pushwoosh":{"activityId":7}}"#, "pushwoosh.activityId: must be a string"),
    ])
    func `attributes that the vendor's SDK could not read are refused where it reads them`(
        _ attributes: String, _ message: String
    ) throws {
        let start = Bench.start.replacing(#""attributes":{}"#, with: #""attributes":\#(attributes)"#)
        let refused = try Bench(Bench.configuration { $0.pushwooshAttributes = true }).start(start)
        #expect(refused.statusMessage == "notifications[0].live_activity.attributes.\(message)")
        #expect(try Bench().start(start).code == 200)
    }

    @Test(arguments: [
        (#""devices":["dev-1","dev-1"]"#, Audience.devices(["dev-1", "dev-1"])),
        (#""users":["u-1"],"devices":["dev-1"]"#, .users(["u-1"])), (#""users":["u-1"]"#, .users(["u-1"])),
    ])
    func `users beside devices win, as documented`(_ members: String, _ audience: Audience) throws {
        let bench = try Bench()
        #expect(try bench.start(Bench.start.replacing(#""devices":["dev-1"]"#, with: members)).code == 200)
        #expect(try AcceptedPushTests.command(bench).audience == audience)
    }

    @Test func `an older start without an event is a start`() throws {
        let bench = try Bench()
        try bench.start(Bench.start.replacing(#""event":"start","#, with: ""))
        #expect(try AcceptedPushTests.command(bench).kind == .start)
    }

    @Test(
        arguments: [
            (String(repeating: "x", count: 120), 200), (String(repeating: "👩‍🍳", count: 30), 200),
            ("ord 12 ", 200),
            (String(repeating: "x", count: 1_025), 210),
        ] as [(String, Int64)])
    func `an id may be long and of any script`(_ id: String, _ code: Int64) throws {
        let bench = try Bench()
        #expect(try bench.start(Bench.start.replacing("ord-12", with: id)).code == code)
        #expect(try bench.turn().commands.first?.activity == (code == 200 ? id : nil))
    }
}

/// The headers of the Firebase door.
@Suite struct FirebaseHeaderTests {
    private func push(_ headers: String) throws -> Notification {
        let bench = try Bench()
        let body = Bench.fcmUpdate.replacing(#""headers":{"apns-priority":"10"},"#, with: headers)
        #expect(try bench.fcm(body).status == 200)
        return try #require(try bench.turn().commands.first?.notification)
    }

    @Test func `priority and expiration are the caller's, or the defaults`() throws {
        #expect(try push("").priority == 10)
        #expect(try push("").expirationSeconds == Bench.nowSeconds + 3_600)
        #expect(try push(#""headers":{},"#).priority == 10)
        #expect(try push(#""headers":{"apns-priority":"5"},"#).priority == 5)
        #expect(try push(#""headers":{"apns-expiration":"0"},"#).expirationSeconds == 0)
        #expect(try push(#""headers":{"apns-expiration":"1700000042"},"#).expirationSeconds == 1_700_000_042)
    }

    @Test func `known names in any letter case are taken`() throws {
        let push = try push(
            #""headers":{"APNS-Priority":"5","Apns-Push-Type":"liveactivity","apns-topic":"com.example.orders.push-type.liveactivity","apns-id":"8B6FE1A0-0000-4000-8000-00000000ABCD","Apns-Collapse-Id":"k 1"},"#
        )
        #expect(push.priority == 5)
        #expect(push.apnsID == "8b6fe1a0-0000-4000-8000-00000000abcd")
        #expect(push.collapseID == "k 1")
    }

    @Test func `a push without a timestamp is as new as its acceptance`() throws {
        let bench = try Bench()
        try bench.fcm(Bench.fcmUpdate.replacing(#""timestamp":1700000000,"#, with: ""))
        let command = try #require(try bench.turn().commands.first)
        #expect(command.order == Order(seconds: Bench.nowSeconds, sequence: 1))
        #expect(command.notification?.timestampSeconds == nil)
    }

    @Test(arguments: ["devices", "users"])
    func `a start names a thousand devices or users, and not one more`(_ member: String) throws {
        let bench = try Bench()
        func start(_ count: Int) throws -> HTTPReply {
            let names = (0..<count).map { "\"n\($0)\"" }.joined(separator: ",")
            return try bench.start(
                Bench.start.replacing(#""devices":["dev-1"]"#, with: #""\#(member)":[\#(names)]"#))
        }
        #expect(
            try start(1_001).statusMessage == "notifications[0].\(member): must have 1 to 1000 elements")
        #expect(try start(1_000).code == 200)
    }
}
