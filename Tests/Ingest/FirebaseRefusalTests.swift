import Contracts
import JSON
import Service
import Store
import Testing

@testable import ingest

@Suite struct FirebaseRefusalTests {
    static let token = #""live_activity_token":"\#(Bench.tokA)""#
    static let aps = "message.apns.payload.aps."
    static let tokenField = "message.apns.live_activity_token: "
    static let hex = tokenField + "must be an even number of hex digits, from 2 to 1024"

    /// Values that are no token.
    static let tokens: [Change] = [
        Change(token, #""live_activity_token":null"#, tokenField + "must be a string"),
        Change(token, #""live_activity_token":0"#, tokenField + "must be a string"),
        Change(token, #""live_activity_token":1"#, tokenField + "must be a string"),
        Change(token, #""live_activity_token":true"#, tokenField + "must be a string"),
        Change(token, #""live_activity_token":[]"#, tokenField + "must be a string"),
        Change(token, #""live_activity_token":["\#(Bench.tokA)"]"#, tokenField + "must be a string"),
        Change(token, #""live_activity_token":{}"#, tokenField + "must be a string"),
        Change(token, #""live_activity_token":"""#, hex),
        Change(token, #""liveActivityToken":"   ""#, hex),
        Change(token, #""live_activity_token":"zz""#, hex),
        Change(token, #""live_activity_token":"\#(Bench.tokA.dropLast())""#, hex),
    ]

    @Test(arguments: tokens)
    func `ing-token-wrong-type: what is no token is refused by name and stands in no store`(_ change: Change)
        throws
    {
        let bench = try checkRefused(change)
        for table: SQL in [
            "SELECT count(*) FROM tokens", "SELECT count(*) FROM runs", "SELECT count(*) FROM messages",
        ] {
            #expect(try bench.journal.database.first(table) { $0.int(0) } == 0)
        }
    }

    static let events: [Change] = [
        Change(
            #""event":"update""#, #""events":"update""#,
            aps + #"event: missing; it must be one of "start", "update", "end""#),
        Change(
            #""event":"update""#, #""event":"Update""#,
            aps + #"event: must be one of "start", "update", "end""#),
        Change(
            #""event":"update""#, #""event":"udpate""#,
            aps + #"event: must be one of "start", "update", "end""#),
    ]

    @Test(arguments: events)
    func `ing-event-misspelt: an unknown event is refused with the accepted values`(_ change: Change) throws {
        try checkRefused(change)
    }

    @Test func `ing-both-spellings: a token in both spellings is refused, and neither is pushed to`() throws {
        try checkRefused(
            Change(
                Self.token, Self.token + #","liveActivityToken":"\#(Bench.tokB)""#,
                Self.tokenField + "given twice, as live_activity_token and as liveActivityToken"))
    }

    @Test(arguments: ["7", "high", "1", "", " 10"])
    func `ing-priority-five-kept: what is neither 5 nor 10 is refused by the header's name`(
        _ priority: String
    ) throws {
        try checkRefused(
            Change(
                #""apns-priority":"10""#, #""apns-priority":"\#(priority)""#,
                #"message.apns.headers.apns-priority: must be "5" or "10""#))
    }

    @Test(arguments: [
        Change(
            #""event":"update""#, #""event":"update","event":"end""#,
            "message.apns.payload.aps.event: repeated member, at byte 312"),
        Change(
            #"{"step":2}"#, #"{"x":1,"x":2}"#,
            "message.apns.payload.aps.content-state.x: repeated member, at byte 335"),
    ])
    func `ing-duplicate-names: a member that stands twice is refused at this door too`(_ change: Change)
        throws
    {
        try checkRefused(change)
    }

    static let changes: [Change] = [
        Change(token, #""live_activity_token":"\#(String(repeating: "a1", count: 513))""#, hex),
        Change(token + ",", "", tokenField + "missing"),
        Change(
            #""aps":{"timestamp""#, #""event":"update","aps":{"timestamps""#,
            aps + "timestamps: unknown member"),
        Change(#""aps":{"#, #""event":"update","aps":{"#, "message.apns.payload.event: unknown member"),
        Change(#""content-state":{"step":2}"#, #""alert":"x""#, aps + "content-state: missing"),
        Change(#"{"step":2}"#, "[]", aps + "content-state: must be an object"),
        Change(#"{"step":2}"#, #"{"step":2},"sound":"x""#, aps + "sound: unknown member"),
        Change(
            #"{"step":2}"#, #"{"step":2},"attributes-type":"A""#,
            aps + "attributes-type: does not belong to an update"),
        Change(
            #""timestamp":1700000000"#, #""timestamp":1700000000000"#,
            aps + "timestamp: must be seconds since 1970, not milliseconds"),
        Change(
            #""timestamp":1700000000"#, #""timestamp":1700000301"#,
            aps + "timestamp: must not lie more than 5 minutes ahead"),
        Change(
            #""timestamp":1700000000"#, #""timestamp":true"#, aps + "timestamp: must be a number of seconds"),
        Change(#""token":"reg-1","#, "", "message.token: missing; exactly one of token and fid is needed"),
        Change(#""token":"reg-1""#, #""token":7"#, "message.token: must be a string"),
        Change(
            #""token":"reg-1""#, #""topic":"news""#, "message.topic: cannot be the target of a Live Activity"),
        Change(#""token":"reg-1""#, #""token":"reg-1","key":1"#, "message.key: unknown member"),
        Change(#"{"message""#, #"{"dry_run":true,"message""#, "dry_run: unknown member"),
        Change(#"{"message""#, #"{"validate_only":"yes","message""#, "validate_only: must be true or false"),
        Change(#""apns":{"#, #""apns":{"extra":1,"#, "message.apns.extra: unknown member"),
        Change(#""apns":{"#, #""apns":{"fcm_options":1,"#, "message.apns.fcm_options: must be an object"),
        Change(
            #""apns":{"#, #""fcm_options":{},"fcmOptions":{},"apns":{"#,
            "message.fcm_options: given twice, as fcm_options and as fcmOptions"),
        Change(
            #""apns":{"#, #""apns":{"fcm_options":{"analytics_label":"a","analyticsLabel":"a"},"#,
            "message.apns.fcm_options.analytics_label: given twice, as analytics_label and as analyticsLabel"),
        Change(
            #""apns":{"#, #""apns":{"fcm_options":{"analytics_label":7},"#,
            "message.apns.fcm_options.analytics_label: must be a string"),
        Change(
            #""apns":{"#, #""apns":{"fcm_options":{"label":"a"},"#,
            "message.apns.fcm_options.label: unknown member"),
        Change(
            #"{"message""#, #"{"validate_only":false,"validateOnly":false,"message""#,
            "validate_only: given twice, as validate_only and as validateOnly"),
        Change(#""token":"reg-1""#, #""token":"  ""#, "message.token: must not be blank"),
        Change(
            #"{"step":2}"#, #"{"step":2},"alert":{"body":"b","sound":"default"}"#,
            aps + "alert.sound: needs a title beside it"),
        Change(
            #""apns-priority":"10""#, #""apns-expiration":"3600""#,
            #"message.apns.headers.apns-expiration: must not lie in the past; it is seconds since 1970, or "0" for one attempt"#
        ),
        Change(
            #""event":"update""#, #""event":"end","dismissal-date":1700014401"#,
            aps + "dismissal-date: must not lie more than 4 hours ahead"),
        Change(
            #""apns-priority":"10""#, #""apns-priority":10"#,
            "message.apns.headers.apns-priority: must be a string"),
        Change(
            #""apns-priority":"10""#, #""apns-expiration":"soon""#,
            #"message.apns.headers.apns-expiration: must be whole seconds since 1970, or "0""#),
        Change(
            #""apns-priority":"10""#, #""apns-expiration":"1700000000000""#,
            "message.apns.headers.apns-expiration: must be seconds since 1970, not milliseconds"),
        Change(
            #""apns-priority":"10""#, #""apns-id":"order-12""#, "message.apns.headers.apns-id: must be a UUID"
        ),
        Change(
            #""apns-priority":"10""#, #""apns-push-type":"alert""#,
            #"message.apns.headers.apns-push-type: must be "liveactivity""#),
        Change(
            #""apns-priority":"10""#, #""apns-topic":"com.other.app""#,
            "message.apns.headers.apns-topic: must be the Live Activity topic of this project's app"),
        Change(
            #""apns-priority":"10""#, #""apns-collapse-id":"\#(String(repeating: "é", count: 33))""#,
            "message.apns.headers.apns-collapse-id: must have 1 to 64 bytes"),
        Change(
            #""apns-priority":"10""#, #""apns-collapse-id":"a\nb""#,
            "message.apns.headers.apns-collapse-id: must be visible ASCII, without a space at its beginning or end"
        ),
        Change(#"{"apns-priority":"10"}"#, "[]", "message.apns.headers: must be an object"),
        Change(#"{"apns-priority":"10"}"#, "null", "message.apns.headers: must be an object"),
        Change(#""payload":{"aps""#, #""payload":{"Aps""#, "message.apns.payload.aps: missing"),
    ]

    @Test(arguments: changes)
    func `a wrong call is refused by name and leaves nothing behind`(_ change: Change) throws {
        try checkRefused(change)
    }

    @discardableResult
    private func checkRefused(_ change: Change) throws -> Bench {
        let bench = try Bench()
        let body = Bench.fcmUpdate.replacing(change.from, with: change.to)
        #expect(body != Bench.fcmUpdate)
        let reply = try bench.fcm(body)
        #expect(reply.status == 400)
        #expect(reply.errorStatus == "INVALID_ARGUMENT")
        #expect(reply.violations == [change.message])
        #expect(reply.errorCode == nil, "callers delete tokens by an FcmError")
        #expect(try bench.turn().isEmpty)
        #expect(try bench.journal.newestRun(Bench.tokenActivity) == nil)
        return bench
    }

    @Test func `ing-both-spellings: both spellings of every name mean the same`() throws {
        let camel = Bench.fcmUpdate.replacing("live_activity_token", with: "liveActivityToken")
            .replacing(
                #""apns":{"#,
                with: #""fcmOptions":{"analyticsLabel":"x"},"apns":{"fcmOptions":{"analyticsLabel":"x"},"#
            )
            .replacing(#"{"message""#, with: #"{"validateOnly":false,"message""#)
        var commands: [Command] = []
        let snake = camel.replacing("fcmOptions", with: "fcm_options").replacing(
            "analyticsLabel", with: "analytics_label"
        )
        .replacing("liveActivityToken", with: "live_activity_token").replacing(
            "validateOnly", with: "validate_only")
        for body in [Bench.fcmUpdate, camel, snake] {
            let bench = try Bench()
            #expect(try bench.fcm(body).status == 200)
            commands += try bench.turn().commands
        }
        #expect(commands.count == 3)
        #expect(commands.allSatisfy { $0 == commands[0] })
    }

    @Test func `siblings for other platforms are let pass and not sent`() throws {
        let bench = try Bench()
        let body = Bench.fcmUpdate.replacing(
            #""token":"reg-1""#,
            with:
                #""token":"reg-1","notification":{},"data":{"k":"v"},"android":{},"webpush":{},"fcm_options":{}"#
        )
        #expect(try bench.fcm(body).status == 200)
        #expect(try bench.turn().commands.first?.payload.alert == [])
    }

    @Test func `a body that is no JSON is an invalid argument`() throws {
        let reply = try Bench().fcm("{")
        #expect(reply.status == 400)
        #expect(reply.violations == [": not JSON: unexpected end, at byte 1"])
    }

    @Test(arguments: [
        ("k-test", "nowhere", 404, "NOT_FOUND"), ("k-other", "demo", 403, "PERMISSION_DENIED"),
        ("wrong", "demo", 401, "UNAUTHENTICATED"), ("wrong", "nowhere", 401, "UNAUTHENTICATED"),
    ])
    func `a wrong project or token is never called unregistered`(
        _ token: String, _ project: String, _ status: Int, _ name: String
    ) throws {
        let reply = try Bench().fcm(Bench.fcmUpdate, token: token, project: project)
        #expect(reply.status == status)
        #expect(reply.errorStatus == name)
        #expect(!reply.text.contains("UNREGISTERED"))
    }

    @Test func `a call without a token is unauthenticated`() throws {
        let reply = try Bench().call("POST", "/v1/projects/demo/messages:send", Bench.fcmUpdate)
        #expect(reply.status == 401)
        #expect(reply.header("WWW-Authenticate") == "Bearer")
    }

    @Test func `an app without a key for APNs is told so, but not by a dry run`() throws {
        let bench = try Bench(Bench.configuration { $0.keys = [] })
        let reply = try bench.fcm(Bench.fcmUpdate)
        #expect(reply.status == 401)
        #expect(reply.errorCode == "THIRD_PARTY_AUTH_ERROR")
        #expect(try bench.turn().isEmpty)
        let dry = Bench.fcmUpdate.replacing(#"{"message""#, with: #"{"validate_only":true,"message""#)
        #expect(try bench.fcm(dry).status == 200)
    }

    @Test func `a device may be named by fid, and by one member only`() throws {
        let fid = Bench.fcmUpdate.replacing(#""token":"reg-1""#, with: #""fid":"f-1""#)
        #expect(try Bench().fcm(fid).status == 200)
        for more in ["topic", "condition", "fid"] {
            let reply = try Bench().fcm(
                Bench.fcmUpdate.replacing(#""token":"reg-1""#, with: #""token":"reg-1","\#(more)":"x""#))
            #expect(
                reply.violations
                    == ["token", more].map {
                        "message.\($0): exactly one of token and fid is needed"
                    })
        }
    }

    @Test func `a dry run is checked like any other and keeps nothing`() throws {
        let bench = try Bench()
        let good = Bench.fcmUpdate.replacing(#"{"message""#, with: #"{"validate_only":true,"message""#)
        let reply = try bench.fcm(good)
        #expect(reply.status == 200)
        #expect(reply.json?["name"]?.string == "projects/demo/messages/fake_message_id")
        #expect(try bench.fcm(good.replacing("\"update\"", with: "\"udpate\"")).status == 400)
        #expect(try bench.turn().isEmpty)
        #expect(try bench.journal.newestRun(Bench.tokenActivity) == nil)
    }
}

extension Bench {
    static let tokenActivity = ActivityName(application: "AAAAA-00001", space: .token, name: tokA)
    static let activity = ActivityName(application: "AAAAA-00001", space: .id, name: "ord-12")
}
