import Testing

@testable import apns_simulator

@Suite struct ConnectionRulesTests {
    private static func bearer(_ change: Int64, keyID: String = keyID, team: String = team) -> String {
        "bearer " + providerToken(keyID: keyID, team: team, issuedAt: "\(noon - change)")
    }

    @Test func `a third provider token within 20 minutes is refused and the second stays good`() {
        var bench = Bench()
        #expect(bench.send { $0.headers.authorization = Self.bearer(1) }.status == 200)
        #expect(bench.send { $0.headers.authorization = Self.bearer(2) }.status == 200)
        #expect(
            bench.send { $0.headers.authorization = Self.bearer(3) }.reason == "TooManyProviderTokenUpdates")
        #expect(bench.send { $0.headers.authorization = Self.bearer(2) }.status == 200)
        bench.nowSeconds += 1200
        #expect(bench.send { $0.headers.authorization = Self.bearer(3) }.status == 200)
    }

    @Test func `the update limit comes before the signature`() {
        var bench = Bench()
        let wrong = { (place: UInt8) in
            "bearer " + providerToken(signature: Array(repeating: place, count: 64))
        }
        #expect(bench.send { $0.headers.authorization = wrong(1) }.reason == "InvalidProviderToken")
        #expect(bench.send { $0.headers.authorization = wrong(2) }.reason == "InvalidProviderToken")
        #expect(bench.send { $0.headers.authorization = wrong(3) }.reason == "TooManyProviderTokenUpdates")
    }

    @Test func `a token expires while it is in use`() {
        var bench = Bench()
        #expect(bench.send().status == 200)
        bench.nowSeconds += 3541
        #expect(bench.send().reason == "ExpiredProviderToken")
    }

    @Test func `keys are bound to environment, team and connection`() {
        let keys = [
            ProviderKeyEntry(teamID: team, keyID: "TEAMKEY001"),
            ProviderKeyEntry(teamID: team, keyID: "TEAMKEY002"),
            ProviderKeyEntry(teamID: team, keyID: "TOPICKEY01", topics: [bundle]),
            ProviderKeyEntry(teamID: team, keyID: "TOPICKEY02", topics: ["com.example.other"]),
            ProviderKeyEntry(teamID: team, keyID: "SANDBOXKEY", environment: .sandbox),
            ProviderKeyEntry(teamID: "OTHERTEAM1", keyID: "OTHERKEY01"),
        ]
        var rules = APNsRules.Settings()
        rules.tokenChangesAllowed = 100
        func second(_ first: String, _ next: String, _ nextTeam: String = team) -> String? {
            var bench = Bench(keys: keys, rules: rules)
            _ = bench.send { $0.headers.authorization = Self.bearer(1, keyID: first) }
            return bench.send { $0.headers.authorization = Self.bearer(2, keyID: next, team: nextTeam) }
                .reason
        }
        #expect(second("TEAMKEY001", "TEAMKEY002") == nil)
        #expect(second("TEAMKEY001", "TOPICKEY01") == "UnrelatedKeyIdInToken")
        #expect(second("TOPICKEY01", "TEAMKEY001") == "UnrelatedKeyIdInToken")
        #expect(second("TOPICKEY01", "TOPICKEY01") == nil)
        #expect(second("TEAMKEY001", "SANDBOXKEY") == "BadEnvironmentKeyIdInToken")
        #expect(second("TEAMKEY001", "OTHERKEY01", "OTHERTEAM1") == "Forbidden")
        #expect(second("TOPICKEY02", "TOPICKEY02") == "TopicDisallowed")
    }

    @Test func `the first success raises the stream limit, once`() {
        var bench = Bench()
        #expect(bench.send { $0.headers.authorization = nil }.streamLimit == nil)
        #expect(bench.send().streamLimit == 1000)
        #expect(bench.send().streamLimit == nil)
    }

    @Test func `refusals slow and end a connection when that is switched on, but 410 does not`() {
        var answers = Simulator.Settings()
        answers.slowsAfterRefusal = true
        answers.refusalsMax = 3
        var bench = Bench(answers: answers)
        _ = bench.send()
        bench.simulator.fleet.lose(0, .uninstalled, nowMilliseconds: noon * 1000)
        let gone = bench.send()
        #expect(gone.status == 410)
        #expect(gone.streamLimit == nil)
        let unknown = { (request: inout APNsRequest) in request.path = "/3/device/ab" }
        #expect(bench.send(unknown).streamLimit == 1)
        #expect(bench.send(unknown).goesAwayBecause == "BadDeviceToken")
    }

    @Test func `one verification serves all requests`() {
        var count = 0
        var verifier = ProviderTokenVerifier(
            keys: [ProviderKeyEntry(teamID: team, keyID: keyID)], acceptsAnyKey: false
        ) { _, signed, _ in
            count += 1
            return signed
                == Array(providerToken().split(separator: ".").dropLast().joined(separator: ".").utf8)
        }
        for _ in 0..<3 { #expect((try? verifier.verify(providerToken()).get()) != nil) }
        #expect(count == 1)
        #expect(verifier.distinctTokens == 1)
    }

    @Test func `any key is taken when asked to, but not any token`() {
        var verifier = ProviderTokenVerifier(keys: [], acceptsAnyKey: true) { _, _, _ in false }
        #expect(throws: Never.self) { try verifier.verify(providerToken()).get() }
        #expect(throws: ProviderTokenFault.wrongAlgorithm) {
            try verifier.verify(providerToken(algorithm: "none")).get()
        }
        #expect(throws: ProviderTokenFault.malformed) {
            try verifier.verify(providerToken(signature: [1, 2])).get()
        }
    }
}
