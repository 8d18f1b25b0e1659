import JSON
import Testing

@testable import apns_simulator

@Suite struct TokenStandingTests {
    /// The standing of a phone's token, looked up as a request does.
    private func reason(_ bench: inout Bench, _ hex: String, topic: String = activityTopic) -> String? {
        bench.send {
            $0.path = "/3/device/" + hex
            $0.headers.topic = topic
            $0.headers.pushType = topic == bundle ? "alert" : "liveactivity"
        }.reason
    }

    private func started() -> Bench {
        var bench = Bench()
        _ = bench.send()
        bench.simulator.fleet.settleRegistrations()
        return bench
    }

    private func updateToken(_ bench: Bench, slot: Int = 0) -> String {
        bench.simulator.fleet.updateToken(of: slot).map(bench.simulator.fleet.token) ?? ""
    }

    @Test func `a token of the other environment is a bad one`() {
        var bench = Bench()
        let other = bench.simulator.fleet.token(bench.simulator.fleet.startTokens(of: 1)[0].reference)
        #expect(reason(&bench, other) == "BadDeviceToken")
        var sandbox = Bench(environment: .sandbox)
        let own = sandbox.simulator.fleet.token(sandbox.simulator.fleet.startTokens(of: 1)[0].reference)
        let answer = sandbox.send { $0.path = "/3/device/" + own }.answer
        #expect(answer?.status == 200)
        #expect(answer?.uniqueID.map { PushID($0) != nil } == true)
    }

    @Test func `tokens belong to their topic`() {
        var bench = Bench(rules: APNsRules.Settings())
        #expect(reason(&bench, bench.deviceToken) == "DeviceTokenNotForTopic")
        #expect(reason(&bench, bench.startToken, topic: bundle) == "DeviceTokenNotForTopic")
        let other = "com.example.other.push-type.liveactivity"
        #expect(reason(&bench, bench.startToken, topic: other) == "DeviceTokenNotForTopic")
        #expect(reason(&bench, bench.deviceToken, topic: bundle) == nil)
    }

    @Test func `a token of no phone is taken only where any is`() {
        let nobody = String(repeating: "ab", count: 80)
        var bench = Bench()
        #expect(reason(&bench, nobody) == "BadDeviceToken")
        bench.simulator.settings.acceptsAnyToken = true
        #expect(reason(&bench, nobody) == nil)
        #expect(bench.simulator.counters.accepted == 1)
    }

    @Test func `hex digits may be upper case`() {
        var bench = Bench()
        #expect(reason(&bench, bench.startToken.uppercased()) == nil)
    }

    @Test func `the token of a removed app is gone since then, in milliseconds`() throws {
        var bench = Bench()
        bench.simulator.fleet.lose(0, .uninstalled, nowMilliseconds: 1_234_567)
        let answer = try unwrap(bench.send().answer)
        #expect(answer.status == 410)
        #expect(answer.body == Array(#"{"reason":"Unregistered","timestamp":1234567}"#.utf8))
    }

    @Test func `an expired token says so`() {
        var bench = Bench()
        bench.simulator.fleet.lose(0, .expired, nowMilliseconds: 5)
        #expect(bench.send().reason == "ExpiredToken")
    }

    @Test func `an update token is unknown until the app has it`() {
        var bench = Bench()
        _ = bench.send()
        let token = bench.simulator.fleet.token(TokenReference(kind: .activity, generation: 0, index: 0))
        #expect(reason(&bench, token) == "BadDeviceToken")
        bench.simulator.fleet.settleRegistrations()
        #expect(reason(&bench, token) == nil)
    }

    @Test func `a replaced token is gone at once or after the time that was set`() {
        var bench = started()
        let first = updateToken(bench)
        bench.simulator.fleet.rotateActivity(0, formerSeconds: 10, nowMilliseconds: noon * 1000)
        bench.simulator.fleet.settleRegistrations()
        let second = updateToken(bench)
        #expect(first != second)
        #expect(reason(&bench, first) == nil)
        bench.nowSeconds += 10
        #expect(reason(&bench, first) == "Unregistered")
        #expect(reason(&bench, second) == nil)
    }

    @Test func `new tokens of a phone end the former ones`() {
        var bench = Bench()
        let tokens = [bench.startToken, bench.deviceToken]
        bench.simulator.fleet.rotatePhone(0, formerSeconds: 0, nowMilliseconds: noon * 1000)
        #expect(reason(&bench, tokens[0]) == "Unregistered")
        #expect(reason(&bench, tokens[1], topic: bundle) == "Unregistered")
        #expect(reason(&bench, bench.startToken) == nil)
    }

    @Test func `the token of an ended activity is gone, or taken for a while when that is set`() {
        for (patience, expected) in [(Int64(0), "Unregistered"), (60, nil)] {
            var settings = FleetSettings()
            settings.endedTokenSeconds = patience
            var bench = Bench(fleet: settings)
            _ = bench.send()
            bench.simulator.fleet.settleRegistrations()
            let token = updateToken(bench)
            let end = bench.send {
                $0.path = "/3/device/" + token
                $0.body = changeBody("end", timestamp: noon + 1)
            }
            #expect(end.status == 200)
            #expect(reason(&bench, token) == expected)
            bench.nowSeconds += 60
            #expect(reason(&bench, token) == "Unregistered")
        }
    }

    @Test func `tokens of a freed slot never come back to life`() {
        var bench = started()
        let token = updateToken(bench)
        bench.simulator.fleet.dismiss(0, nowMilliseconds: noon * 1000)
        bench.nowSeconds += 3600
        bench.simulator.fleet.sweep(nowMilliseconds: bench.nowSeconds * 1000)
        #expect(bench.simulator.fleet.freeSlots == [0])
        let bearer = "bearer " + providerToken(issuedAt: "\(noon + 3500)")
        let old = { (request: inout APNsRequest) in
            request.path = "/3/device/" + token
            request.headers.authorization = bearer
        }
        #expect(bench.send(old).reason == "Unregistered")
        _ = bench.send { $0.headers.authorization = bearer }
        bench.simulator.fleet.settleRegistrations(nowSeconds: bench.nowSeconds)
        #expect(bench.simulator.fleet.slots(of: 0) == [0])
        #expect(updateToken(bench) != token)
        #expect(bench.send(old).reason == "Unregistered")
    }

    @Test func `too many requests for one token in a second are refused`() {
        var settings = FleetSettings()
        settings.requestsPerSecondMax = 2
        var bench = Bench(fleet: settings)
        #expect(reason(&bench, bench.startToken) == nil)
        #expect(reason(&bench, bench.startToken) == nil)
        #expect(reason(&bench, bench.startToken) == "TooManyRequests")
        bench.nowSeconds += 1
        #expect(reason(&bench, bench.startToken) == nil)
    }

    @Test func `a token given by hand works beside the made ones`() {
        var bench = Bench()
        let reference = bench.simulator.fleet.startTokens(of: 0)[0].reference
        bench.simulator.fleet.name(reference, "AB12")
        #expect(bench.startToken == "ab12")
        #expect(reason(&bench, "aB12") == nil)
    }
}
