import Testing

@testable import apns_simulator

/// One fault of a request and the reason that APNs gives for it.
struct FaultCase: CustomTestStringConvertible, Sendable {
    var name: String
    var reason: APNsReason
    var change: @Sendable (inout APNsRequest) -> Void

    init(_ name: String, _ reason: APNsReason, _ change: @escaping @Sendable (inout APNsRequest) -> Void) {
        self.name = name
        self.reason = reason
        self.change = change
    }

    var testDescription: String { name }

    /// In the order of the checks; the first fault of a request decides.
    static let inOrder: [FaultCase] = [
        FaultCase("not POST", .methodNotAllowed) { $0.method = "GET" },
        FaultCase("a header twice", .duplicateHeaders) {
            $0.headers.add("x-note", "1")
            $0.headers.add("x-note", "1")
        },
        FaultCase("id is no UUID", .badMessageId) { $0.headers.id = "order-12" },
        FaultCase("no token", .missingProviderToken) { $0.headers.authorization = nil },
        FaultCase("topic missing", .missingTopic) { $0.headers.topic = nil },
        FaultCase("unknown push type", .invalidPushType) { $0.headers.pushType = "live" },
        FaultCase("priority 7", .badPriority) { $0.headers.priority = "7" },
        FaultCase("expiration in words", .badExpirationDate) { $0.headers.expiration = "soon" },
        FaultCase("collapse id of 65 bytes", .badCollapseId) {
            $0.headers.collapseID = String(repeating: "c", count: 65)
        },
        FaultCase("empty body", .payloadEmpty) { $0.body = [] },
        FaultCase("unknown device token", .badDeviceToken) { $0.path = "/3/device/" + "ab" },
    ]

    /// The other triggers of each check.
    static let others: [FaultCase] = [
        FaultCase("HEAD", .methodNotAllowed) { $0.method = "HEAD" },
        FaultCase("broadcast of no app", .badPath) { $0.path = "/4/broadcasts" },
        FaultCase("longer word", .badPath) { $0.path = "/3/devices/ab" },
        FaultCase("a known header twice", .duplicateHeaders) { $0.headers.add("apns-topic", activityTopic) },
        FaultCase("other scheme", .missingProviderToken) { $0.headers.authorization = "basic abc" },
        FaultCase("empty bearer", .missingProviderToken) { $0.headers.authorization = "bearer " },
        FaultCase("two parts", .invalidProviderToken) { $0.headers.authorization = "bearer a.b" },
        FaultCase("other algorithm", .invalidProviderToken) {
            $0.headers.authorization = "bearer " + providerToken(algorithm: "HS256")
        },
        FaultCase("unknown key", .invalidProviderToken) {
            $0.headers.authorization = "bearer " + providerToken(keyID: "OTHERKEY01")
        },
        FaultCase("other team", .invalidProviderToken) {
            $0.headers.authorization = "bearer " + providerToken(team: "OTHERTEAM1")
        },
        FaultCase("wrong signature", .invalidProviderToken) {
            $0.headers.authorization = "bearer " + providerToken(signature: Array(good.reversed()) + [1])
        },
        FaultCase("issue time as text", .invalidProviderToken) {
            $0.headers.authorization = "bearer " + providerToken(issuedAt: "\"\(noon)\"")
        },
        FaultCase("issue time in milliseconds", .invalidProviderToken) {
            $0.headers.authorization = "bearer " + providerToken(issuedAt: "\(noon * 1000)")
        },
        FaultCase("over an hour old", .expiredProviderToken) {
            $0.headers.authorization = "bearer " + providerToken(issuedAt: "\(noon - 3601)")
        },
        FaultCase("no device token", .missingDeviceToken) { $0.path = "/3/device/" },
        FaultCase("no device token, no slash", .missingDeviceToken) { $0.path = "/3/device" },
        FaultCase("empty topic", .badTopic) { $0.headers.topic = "" },
        FaultCase("topic with a space", .badTopic) { $0.headers.topic = "com.example orders" },
        FaultCase("suffix without a bundle", .badTopic) { $0.headers.topic = PushTopic.liveActivitySuffix },
        FaultCase("topic of another app", .topicDisallowed) {
            $0.headers.topic = "com.other.app.push-type.liveactivity"
        },
        FaultCase("live activity without the suffix", .invalidPushType) { $0.headers.topic = bundle },
        FaultCase("the suffix with an alert", .topicDisallowed) { $0.headers.pushType = "alert" },
        FaultCase("the suffix without a push type", .topicDisallowed) { $0.headers.pushType = nil },
        FaultCase("priority with a sign", .badPriority) { $0.headers.priority = "+5" },
        FaultCase("background at 10", .badPriority) {
            $0.headers.topic = bundle
            $0.headers.pushType = "background"
            $0.headers.priority = "10"
        },
        FaultCase("negative expiration", .badExpirationDate) { $0.headers.expiration = "-1" },
        FaultCase("4,097 bytes", .payloadTooLarge) { $0.body = Array(repeating: 0x20, count: 4097) },
        FaultCase("token with an odd length", .badDeviceToken) { $0.path.removeLast() },
        FaultCase("token with a letter too many", .badDeviceToken) { $0.path += "0" },
        FaultCase("token in another script", .badDeviceToken) { $0.path = "/3/device/zz" },
    ]
}

@Suite struct APNsRulesTests {
    @Test func `a good request gets 200, an empty body and its id`() {
        var bench = Bench()
        let answer = bench.send().answer
        #expect(answer?.status == 200)
        #expect(answer?.body == [])
        #expect(answer?.apnsID == "11111111-2222-4333-8444-555555555555")
        #expect(answer?.uniqueID == nil)
    }

    @Test(arguments: FaultCase.inOrder + FaultCase.others)
    func `each fault has its reason`(_ fault: FaultCase) {
        var bench = Bench()
        let reaction = bench.send(fault.change)
        #expect(reaction.reason == fault.reason.wireName)
        #expect(reaction.status == fault.reason.status)
        #expect(bench.simulator.counters[fault.reason] == 1)
    }

    @Test(arguments: 0..<FaultCase.inOrder.count)
    func `of two faults the earlier check answers`(_ place: Int) {
        let first = FaultCase.inOrder[place]
        for second in FaultCase.inOrder.dropFirst(place + 1) {
            var bench = Bench()
            let reaction = bench.send {
                second.change(&$0)
                first.change(&$0)
            }
            #expect(reaction.reason == first.reason.wireName, "\(first.name) before \(second.name)")
        }
    }

    @Test(arguments: ["1", "5", "10", nil])
    func `the priorities that Apple names are taken`(_ priority: String?) {
        var bench = Bench()
        #expect(bench.send { $0.headers.priority = priority }.status == 200)
    }

    @Test func `uncertain readings can be switched`() {
        var lenient = APNsRules.Settings()
        lenient.toleratesPushTypeMismatch = true
        var bench = Bench(rules: lenient)
        #expect(bench.send { $0.headers.pushType = nil }.status == 200)
        var strict = APNsRules.Settings()
        strict.refusesLowPriority = true
        bench = Bench(rules: strict)
        #expect(bench.send { $0.headers.priority = "1" }.reason == "BadPriority")
    }

    @Test func `ids that APNs makes come in upper case, and no two are the same`() {
        var bench = Bench()
        let ids = (0..<3).compactMap { _ in bench.send { $0.headers.id = nil }.answer?.apnsID }
        #expect(Set(ids).count == 3)
        #expect(ids.allSatisfy { $0 == $0.uppercased() })
        let listed = bench.simulator.arrivals.list(since: 0, count: 3).arrivals
        #expect(listed.map { PushID(high: $0.idHigh, low: $0.idLow) } == ids.map { PushID($0) })
    }

    @Test func `an id that is no UUID is not echoed`() {
        var bench = Bench()
        let answer = bench.send { $0.headers.id = "order-12" }.answer
        #expect(answer.map { PushID($0.apnsID) != nil } == true)
    }

    @Test func `a VoIP push may be a kibibyte longer`() {
        var bench = Bench()
        let token = bench.deviceToken
        let reaction = bench.send {
            $0.path = "/3/device/" + token
            $0.headers.topic = bundle + ".voip"
            $0.headers.pushType = "voip"
            $0.body = Array(repeating: 0x20, count: 5120)
        }
        #expect(reaction.status == 200)
    }

    @Test func `every reason is found by its spelling`() {
        for reason in APNsReason.allCases { #expect(APNsReason(wireName: reason.wireName) == reason) }
        #expect(APNsReason.badEnvironmentKeyIdInToken.wireName == "BadEnvironmentKeyIdInToken")
        #expect(APNsReason(wireName: "BadDate") == nil)
    }
}
