import Testing

@testable import apns_simulator

@Suite struct RegistrationTests {
    private func fleet(
        _ settings: FleetSettings = FleetSettings(), _ change: (inout PhoneGroup.Traits) -> Void = { _ in }
    ) -> PhoneFleet {
        var fleet = PhoneFleet(settings: settings)
        var traits = PhoneGroup.Traits(prefix: "p-", application: "AAAAA-00001")
        traits.ingest = "http://127.0.0.1:8080"
        change(&traits)
        _ = fleet.add(traits, count: 1, firstNumber: 7, isSingle: false, nowMilliseconds: 0)
        return fleet
    }

    private func body(_ call: Registration?) -> String { String(decoding: call?.body ?? [], as: UTF8.self) }

    @Test func `a new phone registers itself, then each start token`() throws {
        var fleet = fleet {
            $0.attributesTypes = ["Order", "Match"]
            $0.tags = Array(#"{"City":"c{n%5}","Level":"{=n}"}"#.utf8)
            $0.deviceToken = "secret"
            $0.environment = .sandbox
        }
        let device = try unwrap(fleet.nextRegistration(nowMilliseconds: 0))
        #expect(device.url == "http://127.0.0.1:8080/json/1.3/registerDevice")
        #expect(device.authorization == "Token secret")
        let token = fleet.token(fleet.deviceToken(of: 0))
        #expect(
            body(device) == #"{"request":{"application":"AAAAA-00001","hwid":"p-7","device_type":1,"#
                + #""gateway":"sandbox","os_version":"18.0","push_token":"\#(token)","#
                + #""tags":{"City":"c2","Level":7}}}"#)
        #expect(fleet.nextRegistration(nowMilliseconds: 0) == nil)
        fleet.finish(device, .accepted, nowMilliseconds: 1)
        let starts = fleet.startTokens(of: 0).map { fleet.token($0.reference) }
        #expect(Set(starts).count == 2)
        for (type, start) in zip(["Order", "Match"], starts) {
            let call = try unwrap(fleet.nextRegistration(nowMilliseconds: 1))
            #expect(call.url.hasSuffix("/setActivityPushToStartToken"))
            #expect(
                body(call) == #"{"request":{"application":"AAAAA-00001","hwid":"p-7","#
                    + #""activity_push_to_start_token":"\#(start)","attributes_type":"\#(type)"}}"#)
            fleet.finish(call, .accepted, nowMilliseconds: 1)
        }
        #expect(fleet.nextRegistration(nowMilliseconds: 1) == nil)
        #expect(fleet.registrations.counts.accepted == 3)
    }

    @Test func `a phone without push-to-start registers only itself`() {
        var fleet = fleet { $0.system = SystemVersion(major: 17, minor: 1, text: "17.1") }
        fleet.settleRegistrations()
        #expect(fleet.registrations.counts.accepted == 1)
    }

    @Test func `types may share one start token`() {
        let fleet = fleet {
            $0.attributesTypes = ["Order", "Match"]
            $0.sharesStartToken = true
        }
        #expect(Set(fleet.startTokens(of: 0).map(\.reference)).count == 1)
    }

    private func withActivity(_ fleet: inout PhoneFleet) -> Registration? {
        fleet.settleRegistrations(nowSeconds: 1)
        _ = fleet.startLocally(
            id: "X", attributesType: "", state: [], token: nil, phone: 0, nowMilliseconds: 1000)
        return fleet.nextRegistration(nowMilliseconds: 1000)
    }

    @Test func `an activity is registered with its token, and empty when it was dismissed`() throws {
        var fleet = fleet()
        let call = try unwrap(withActivity(&fleet))
        let token = try #require(fleet.updateToken(of: 0).map(fleet.token))
        #expect(call.url.hasSuffix("/setActivityToken"))
        #expect(body(call).contains(#""activity_token":"\#(token)","activity_id":"X"}"#))
        fleet.finish(call, .accepted, nowMilliseconds: 1000)
        fleet.dismiss(0, nowMilliseconds: 2000)
        #expect(body(fleet.nextRegistration(nowMilliseconds: 2000)).contains(#""activity_token":"","#))
    }

    @Test func `a token that changes while it is being registered is registered again`() throws {
        var fleet = fleet()
        let call = try unwrap(withActivity(&fleet))
        fleet.rotateActivity(0, formerSeconds: 0, nowMilliseconds: 1000)
        #expect(fleet.nextRegistration(nowMilliseconds: 1000) == nil)
        fleet.finish(call, .accepted, nowMilliseconds: 1001)
        let again = try unwrap(fleet.nextRegistration(nowMilliseconds: 1001))
        #expect(again.generation == call.generation + 1)
        #expect(body(again) != body(call))
    }

    @Test func `a failed call is made again with growing pauses, a refused one is not`() throws {
        var fleet = fleet()
        var now: Int64 = 0
        for pause: Int64 in [1000, 2000, 4000] {
            let call = try unwrap(fleet.nextRegistration(nowMilliseconds: now))
            fleet.finish(call, .failed, nowMilliseconds: now)
            #expect(fleet.registrations.nextDue == now + pause)
            now += pause
        }
        let call = try unwrap(fleet.nextRegistration(nowMilliseconds: now))
        fleet.finish(call, .refused, nowMilliseconds: now)
        #expect(fleet.registrations.nextDue == nil)
        #expect(fleet.registrations.counts.failed == 3)
        #expect(fleet.registrations.counts.refused == 1)
    }

    @Test func `without retries a failed call is lost`() throws {
        var settings = FleetSettings()
        settings.retriesRegistrations = false
        var fleet = fleet(settings)
        let call = try unwrap(fleet.nextRegistration(nowMilliseconds: 0))
        fleet.finish(call, .failed, nowMilliseconds: 0)
        #expect(fleet.registrations.counts.abandoned == 1)
        #expect(fleet.registrations.nextDue == nil)
    }

    @Test func `an answer for phones that were thrown away changes nothing`() throws {
        var old = fleet()
        let call = try unwrap(old.nextRegistration(nowMilliseconds: 0))
        var fresh = PhoneFleet(era: 1)
        fresh.finish(call, .accepted, nowMilliseconds: 0)
        #expect(fresh.registrations.counts.accepted == 0)
    }

    @Test(arguments: [
        (200, #"{"status_code":200}"#, RegistrationOutcome.accepted),
        (200, #"{"status_code":210}"#, .refused),
        (200, "", .refused), (400, "", .refused), (401, "{}", .refused), (429, "", .failed),
        (500, "", .failed),
        (503, #"{"status_code":200}"#, .failed),
    ])
    func `an answer is judged`(_ status: Int, _ body: String, _ outcome: RegistrationOutcome) {
        #expect(RegistrationOutcome(status: status, body: Array(body.utf8)) == outcome)
    }

    @Test(arguments: [
        ("{n}", "12"), ("a{n%5}b", "a2b"), (#"{"l":"{=n%5}"}"#, #"{"l":2}"#), (#""{=n}""#, "12"),
        ("{n%0}", "{n%0}"), ("{n", "{n"), ("{m}", "{m}"), (#""{=n}x""#, #""{=n}x""#), ("", ""),
    ])
    func `numbers are filled into templates`(_ template: String, _ filled: String) {
        #expect(ControlAPI.fill(template, 12) == filled)
    }
}
