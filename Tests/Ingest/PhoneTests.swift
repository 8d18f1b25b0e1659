import Contracts
import Crypto
import JSON
import Service
import Testing

@testable import ingest

/// The calls that the vendor's SDK makes.
@Suite struct PhoneTests {
    private func change(_ bench: Bench) throws -> Registration.Change {
        let sent = try bench.turn().registrations
        return try #require(sent.first).change
    }

    @Test func `a device is registered with all that the SDK says of it`() throws {
        let bench = try Bench()
        let reply = try bench.phone(
            "registerDevice",
            """
            "push_token":"ABCD 0123","device_type":1,"gateway":"sandbox","timezone":"-3600","language":"fr",\
            "app_version":"2.1","device_model":"iPhone15,2","os_version":"17.4","userId":"u-1","sounds":["a"],\
            "voip_push_token":null,"frequent_pushes":false,"tags":{"a":1},"future":{"x":1}
            """)
        #expect(reply.text == #"{"status_code":200,"status_message":"OK","response":null}"#)
        var profile = Profile()
        profile.pushToken = "abcd0123"
        profile.deviceType = 1
        profile.environment = .sandbox
        profile.timezoneSeconds = -3_600
        profile.language = "fr"
        profile.appVersion = "2.1"
        profile.deviceModel = "iPhone15,2"
        profile.osVersion = "17.4"
        profile.user = "u-1"
        profile.frequentPushes = false
        profile.tags = ["a": .set(.integer(1))]
        let sent = try bench.step(.turn(.boundless())).messages
        #expect(sent.map(\.1) == [.service(.segmenter), .service(.tokenRegistry)])
        #expect(
            sent.map(\.0)
                == Array(
                    repeating: .registration(
                        Registration(
                            sequence: 1, application: "AAAAA-00001", device: "dev-1",
                            change: .profile(profile),
                            acceptedAtMilliseconds: bench.now.wall)), count: 2))
    }

    @Test func `null and empty stand for what an app does not know`() throws {
        let bench = try Bench()
        try bench.phone(
            "registerDevice",
            #""push_token":"","gateway":null,"timezone":"","language":"","userId":null,"tags":null"#)
        #expect(try change(bench) == .profile(Profile()))
    }

    static let tags: [(String, TagChange)] = [
        ("1", .set(.integer(1))), ("1.5", .set(.number(1.5))), ("1e3", .set(.integer(1_000))),
        ("99999999999999999999", .set(.number(100_000_000_000_000_000_000))), (#""x""#, .set(.string("x"))),
        ("true", .set(.boolean(true))), (#"["a","b"]"#, .set(.list(["a", "b"]))), ("[]", .set(.list([]))),
        (#"["a",38,1.50,2e1]"#, .set(.list(["a", "38", "1.5", "20"]))),
        ("null", .remove), (#"{"operation":"increment","value":-2}"#, .increment(.integer(-2))),
        (#"{"operation":"increment","value":0.5}"#, .increment(.number(0.5))),
    ]

    @Test(arguments: tags)
    func `a tag is set, raised or removed`(_ value: String, _ expected: TagChange) throws {
        let bench = try Bench()
        #expect(try bench.phone("setTags", #""tags":{"Level":\#(value)}"#).code == 200)
        try bench.restart()
        #expect(try change(bench) == .tags(["Level": expected]))
    }

    @Test func `no tags are no change, and the log speaks of tags`() throws {
        let bench = try Bench()
        #expect(try bench.phone("setTags", #""tags":{}"#).code == 200)
        #expect(bench.logs.map(\.event).filter { $0.hasSuffix("-ignored") } == ["tags-ignored"])
        #expect(try bench.turn().isEmpty)
    }

    static let faults: [(String, String, String)] = [
        ("registerDevice", #""gateway":"staging""#, #"gateway: must be one of "production", "sandbox""#),
        (
            "registerDevice", #""push_token":"xyz""#,
            "push_token: must be an even number of hex digits, from 2 to 1024"
        ),
        ("registerDevice", #""push_token":7"#, "push_token: must be a string"),
        ("registerDevice", #""os_version":17"#, "os_version: must be a string"),
        ("registerDevice", #""timezone":"soon""#, "timezone: must be an integer"),
        ("registerDevice", #""frequent_pushes":"yes""#, "frequent_pushes: must be true or false"),
        ("registerDevice", #""registered_at":"soon""#, "registered_at: must be a number of seconds"),
        (
            "registerDevice", #""registered_at":1700000000000"#,
            "registered_at: must be seconds since 1970, not milliseconds"
        ),
        ("registerDevice", #""tags":[]"#, "tags: must be an object"),
        ("setTags", "", "tags: missing"),
        (
            "setTags", #""tags":{"a":{"operation":"append","value":1}}"#,
            #"tags.a.operation: must be "increment""#
        ),
        ("setTags", #""tags":{"a":{"operation":"increment"}}"#, "tags.a.value: missing"),
        ("setTags", #""tags":{"a":{"operation":"increment","value":"1"}}"#, "tags.a.value: must be a number"),
        ("setTags", #""tags":{"a":[true]}"#, "tags.a[0]: must be a string or a number"),
        (
            "setTags", #""tags":{"a":[["b"]]}"#,
            "tags.a[0]: must be a string, a finite number or a boolean"
        ),
        ("setTags", #""tags":{"a":1e999}"#, "tags.a: must be a string, a finite number or a boolean"),
        ("setTags", #""tags":{"":1}"#, #"tags[""]: a tag's name has 1 to 1024 bytes"#),
        (
            "setTags", #""tags":{"a":"\#(String(repeating: "x", count: 1_025))"}"#,
            "tags.a: must have at most 1024 bytes"
        ),
        (
            "setTags", #""tags":{"a":["\#(String(repeating: "x", count: 1_025))"]}"#,
            "tags.a[0]: must have at most 1024 bytes"
        ),
        (
            "setTags", #""tags":{"a":[\#(Array(repeating: #""x""#, count: 101).joined(separator: ","))]}"#,
            "tags.a: must have at most 100 elements"
        ),
        (
            "setTags", #""tags":{\#((0...200).map { #""t\#($0)":1"# }.joined(separator: ","))}"#,
            "tags: must have at most 200 members"
        ),
        (
            "registerDevice", #""userId":"\#(String(repeating: "u", count: 1_025))""#,
            "userId: must have at most 1024 bytes"
        ),
        ("registerDevice", #""language":"f\nr""#, "language: must not hold control characters"),
        ("registerUser", #""userId":" \u00a0\t""#, "userId: must not be blank"),
        ("setActivityToken", #""activity_token":"ab","activity_id":"  ""#, "activity_id: must not be blank"),
        ("registerUser", "", "userId: missing"),
        ("registerUser", #""userId":"""#, "userId: must not be empty"),
        ("setActivityToken", #""activity_id":"x""#, "activity_token: missing"),
        ("setActivityToken", #""activity_token":"ab""#, "activity_id: missing"),
        (
            "setActivityToken", #""activity_token":"abc","activity_id":"x""#,
            "activity_token: must be an even number of hex digits, from 2 to 1024"
        ),
        ("setActivityToken", #""activity_token":null,"activity_id":"x""#, "activity_token: must be a string"),
        (
            "setActivityToken", #""activity_token":"ab","activity_id":"x","registered_at":1700000000000"#,
            "registered_at: must be seconds since 1970, not milliseconds"
        ),
        (
            "setActivityToken", #""activity_token":"ab","activity_id":"x","registered_at":1700000301"#,
            "registered_at: must not lie more than 5 minutes ahead"
        ),
        ("setActivityPushToStartToken", "", "activity_push_to_start_token: missing"),
        (
            "setActivityPushToStartToken", #""activity_push_to_start_token":"ab","attributes_type":7"#,
            "attributes_type: must be a string"
        ),
    ]

    @Test(arguments: faults)
    func `a wrong member is refused by name`(_ method: String, _ members: String, _ message: String) throws {
        let bench = try Bench()
        let reply = try bench.phone(method, members)
        #expect(reply.status == 200)
        #expect(reply.code == 210)
        #expect(reply.statusMessage == message)
        #expect(try bench.turn().isEmpty)
    }

    @Test(arguments: ["", #","hwid":null"#, #","hwid":"""#, #","hwid":7"#])
    func `a phone must say which it is`(_ hwid: String) throws {
        let body = #"{"request":{"application":"AAAAA-00001"\#(hwid)}}"#
        let reply = try Bench().call("POST", "/json/1.3/unregisterDevice", body)
        #expect(reply.code == 210)
        #expect(reply.statusMessage.hasPrefix("hwid: "))
    }

    @Test func `a user is tied to the device, and a device may leave`() throws {
        let bench = try Bench()
        try bench.phone("registerUser", #""userId":"u-1""#)
        try bench.phone("unregisterDevice", "")
        #expect(try bench.drain().registrations.map(\.change) == [.user("u-1"), .unregister, .unregister])
    }

    @Test func `a push-to-start token may name its type and its time, and be taken back`() throws {
        let bench = try Bench()
        try bench.phone(
            "setActivityPushToStartToken",
            #""activity_push_to_start_token":"\#(Bench.startA.uppercased())","attributes_type":"Order","registered_at":1699999999"#
        )
        try bench.phone("setActivityPushToStartToken", #""activity_push_to_start_token":"""#)
        #expect(
            try bench.drain().registrations.map(\.change) == [
                .startToken(
                    StartToken(
                        token: Bench.startA, attributesType: "Order", registeredAtSeconds: 1_699_999_999)),
                .startToken(StartToken(token: "")),
            ])
    }

    @Test(arguments: [64, 160, 200, 512, 1_024])
    func `no length of a token is assumed`(_ digits: Int) throws {
        let bench = try Bench()
        let token = String(repeating: "c3", count: digits / 2)
        #expect(try bench.activityToken(token).code == 200)
        #expect(try bench.turn().registrations.count == 1)
        #expect(try bench.activityToken(token + "c3").code == (digits == 1_024 ? 210 : 200))
    }

    @Test func `no tags at all are no registration`() throws {
        let bench = try Bench()
        #expect(try bench.phone("setTags", #""tags":{}"#).code == 200)
        #expect(try bench.turn().isEmpty)
    }

    @Test func `device tokens are asked for where there are any, and an empty list lets nobody in`() throws {
        let body = #"{"request":{"application":"AAAAA-00001","hwid":"x"}}"#
        func code(_ digests: [String]?, _ headers: [(String, String)]) throws -> HTTPReply {
            try Bench(Bench.configuration { $0.deviceTokenDigests = digests })
                .call("POST", "/json/1.3/unregisterDevice", body, headers)
        }
        let digests = [SHA256.hex("d-one"), SHA256.hex("d-two")]
        #expect(try code(nil, []).code == 200)
        #expect(try code(digests, []).statusMessage == "Authorization: no valid device token")
        #expect(try code(digests, [("Authorization", "Token d-two")]).code == 200)
        #expect(try code(digests, [("AUTHORIZATION", "token  d-one")]).code == 200)
        #expect(try code(digests, [("Authorization", "Bearer d-two")]).code == 210)
        #expect(try code(digests, [("Authorization", "Token d-three")]).code == 210)
        #expect(try code([], [("Authorization", "Token d-one")]).code == 210)
    }
}
