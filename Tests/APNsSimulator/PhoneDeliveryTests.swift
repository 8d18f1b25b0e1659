import Testing

@testable import apns_simulator

/// A phone on which pushes are tried without APNs' own checks.
private struct PhoneBench {
    var fleet: PhoneFleet
    var nowSeconds = noon
    private var made: UInt64 = 0

    init(_ settings: FleetSettings = FleetSettings(), _ change: (inout PhoneGroup.Traits) -> Void = { _ in })
    {
        fleet = PhoneFleet(settings: settings)
        var traits = PhoneGroup.Traits(prefix: "p-", application: "AAAAA-00001")
        change(&traits)
        _ = fleet.add(traits, count: 1, firstNumber: nil, isSingle: false, nowMilliseconds: noon * 1000)
        fleet.settleRegistrations()
    }

    mutating func push(
        _ body: [UInt8], to reference: TokenReference, id: UInt64? = nil, expires: Int64? = nil,
        isUrgent: Bool = true
    ) -> DeliveryVerdict {
        made += 1
        let push = AcceptedPush(
            body: body, pushID: id ?? made, isUrgent: isUrgent, expiresAtSeconds: expires)
        return fleet.deliver(push, to: reference, nowMilliseconds: nowSeconds * 1000)
    }

    mutating func start(_ body: [UInt8] = startBody()) -> DeliveryVerdict {
        let verdict = push(body, to: fleet.startTokens(of: 0)[0].reference)
        fleet.settleRegistrations(nowSeconds: nowSeconds)
        return verdict
    }

    mutating func change(_ body: [UInt8], slot: Int = 0, expires: Int64? = nil) -> DeliveryVerdict {
        push(body, to: reference(slot), expires: expires)
    }

    func reference(_ slot: Int = 0) -> TokenReference {
        TokenReference(
            kind: .activity, generation: fleet.activities[slot].generation, index: UInt32(slot))
    }

    var shown: String { String(decoding: fleet.activities[0].shown, as: UTF8.self) }
}

@Suite struct PhoneDeliveryTests {
    @Test func `start, update and end leave the newest state on the phone, byte for byte`() {
        var bench = PhoneBench()
        #expect(bench.start(startBody(state: #"{"n": 1.0}"#)) == .started)
        #expect(bench.shown == #"{"n": 1.0}"#)
        #expect(bench.change(changeBody(timestamp: noon + 1, state: #"{"n":1e400}"#)) == .updated)
        #expect(bench.shown == #"{"n":1e400}"#)
        #expect(bench.change(changeBody("end", timestamp: noon + 2, state: #"{"n":3}"#)) == .ended)
        #expect(bench.shown == #"{"n":3}"#)
        #expect(bench.fleet.activities[0].state == .ended)
    }

    @Test(arguments: [
        ("alert", DeliveryVerdict.noAlert), ("attributes", .noAttributes),
        ("attributes-type", .noAttributesType),
        ("content-state", .noContentState), ("timestamp", .noTimestamp), ("event", .noEvent),
    ])
    func `a start without what it needs starts nothing`(_ member: String, _ verdict: DeliveryVerdict) {
        var bench = PhoneBench()
        // Without an event it is taken for an ordinary notification, which a start token does not carry.
        #expect(bench.start(startBody(without: member)) == verdict)
        #expect(bench.fleet.activities.isEmpty)
    }

    @Test(
        arguments: [
            (Array("no json".utf8), DeliveryVerdict.notJSON), (Array(#"{"a":1}"#.utf8), .notJSON),
            (Array(#"{"aps":[]}"#.utf8), .notJSON), (changeBody("begin"), .unknownEvent),
            (startBody(), .startOnUpdateToken), (changeBody(timestamp: nil), .noTimestamp),
            (changeBody(timestamp: noon + 1, state: nil), .noContentState),
            (changeBody(timestamp: noon + 1, state: "7"), .noContentState),
            (changeBody(timestamp: noon), .olderThanShown),
            (changeBody(timestamp: noon - 1), .olderThanShown),
            (changeBody(timestamp: noon + 28_801), .tooFarAhead),
            (changeBody(timestamp: noon + 1), .updated), (changeBody(timestamp: noon + 28_800), .updated),
        ] as [([UInt8], DeliveryVerdict)])
    func `an update is judged`(_ body: [UInt8], _ verdict: DeliveryVerdict) {
        var bench = PhoneBench()
        _ = bench.start()
        #expect(bench.change(body) == verdict)
    }

    @Test(arguments: ["update", "end"])
    func `a start token takes neither update nor end`(_ event: String) {
        var bench = PhoneBench()
        #expect(bench.start(changeBody(event)) == .updateOnStartToken)
    }

    @Test func `an update from long ago is dropped though nothing newer was shown`() {
        var bench = PhoneBench()
        _ = bench.start()
        bench.nowSeconds += 100
        #expect(bench.change(changeBody(timestamp: noon + 69)) == .inThePast)
        #expect(bench.change(changeBody(timestamp: noon + 70)) == .updated)
    }

    @Test func `an end is applied even when it is old, and nothing follows it`() {
        var bench = PhoneBench()
        _ = bench.start()
        #expect(bench.change(changeBody(timestamp: noon + 5)) == .updated)
        #expect(bench.change(changeBody("end", timestamp: noon - 500, state: nil)) == .ended)
        #expect(bench.change(changeBody(timestamp: noon + 6)) == .alreadyEnded)
        #expect(bench.change(changeBody("end", timestamp: noon + 7)) == .alreadyEnded)
    }

    @Test(arguments: [(nil, 14_400), (-5, 0), (60, 60), (99_999, 14_400)] as [(Int64?, Int64)])
    func `the dismissal date is held within four hours`(_ after: Int64?, _ seconds: Int64) {
        var bench = PhoneBench()
        _ = bench.start()
        let more = after.map { [("dismissal-date", "\(noon + $0)")] } ?? []
        _ = bench.change(changeBody("end", timestamp: noon + 1, more: more))
        #expect(bench.fleet.activities[0].removedAtMilliseconds == (noon + seconds) * 1000)
    }

    @Test func `the system ends an activity after eight hours`() {
        var bench = PhoneBench()
        _ = bench.start()
        bench.nowSeconds += 28_800
        #expect(bench.change(changeBody(timestamp: bench.nowSeconds)) == .overLifetime)
        #expect(bench.fleet.activities[0].state == .ended)
    }

    @Test func `a dismissed activity takes nothing, and the app says so`() {
        var bench = PhoneBench()
        _ = bench.start()
        bench.fleet.dismiss(0, nowMilliseconds: noon * 1000)
        #expect(bench.change(changeBody(timestamp: noon + 1)) == .dismissed)
    }

    @Test func `starts have a budget that refills`() {
        var settings = FleetSettings()
        settings.startBurst = 2
        settings.activitiesMax = 100
        var bench = PhoneBench(settings)
        #expect(bench.start(startBody(id: "a")) == .started)
        #expect(bench.start(startBody(id: "b")) == .started)
        #expect(bench.start(startBody(id: "c")) == .startBudgetUsedUp)
        bench.nowSeconds += 360
        #expect(bench.start(startBody(id: "c")) == .started)
    }

    @Test func `an app has five activities at most`() {
        var bench = PhoneBench()
        for id in ["a", "b", "c", "d", "e"] { #expect(bench.start(startBody(id: id)) == .started) }
        #expect(bench.start(startBody(id: "f")) == .tooManyActivities)
        _ = bench.change(changeBody("end"), slot: 0)
        #expect(bench.start(startBody(id: "f")) == .started)
    }

    @Test func `updates of priority 10 can have a budget`() {
        var settings = FleetSettings()
        settings.updateBurst = 1
        var bench = PhoneBench(settings)
        _ = bench.start()
        #expect(bench.change(changeBody(timestamp: noon + 1)) == .updated)
        #expect(bench.change(changeBody(timestamp: noon + 2)) == .updateBudgetUsedUp)
        let calm = bench.push(changeBody(timestamp: noon + 3), to: bench.reference(), isUrgent: false)
        #expect(calm == .updated)
        bench.nowSeconds += 15
        #expect(bench.change(changeBody(timestamp: noon + 15)) == .updated)
    }

    @Test func `the type, the channel and the members of the state must suit the app`() {
        let channel = aps([
            ("timestamp", "\(noon)"), ("event", "\"start\""), ("content-state", "{}"), ("attributes", "{}"),
            ("attributes-type", "\"Order\""), ("alert", "{}"), ("input-push-channel", "\"abc=\""),
        ])
        var bench = PhoneBench { $0.attributesTypes = ["Match"] }
        #expect(bench.start() == .unknownAttributesType)
        bench = PhoneBench { $0.system = SystemVersion(major: 17, minor: 4, text: "17.4") }
        #expect(bench.start(channel) == .channelNeedsNewerSystem)
        bench = PhoneBench { $0.stateMembers = ["n", "m"] }
        #expect(bench.start() == .undecodable)
    }

    @Test func `the app gets an update token only when it was asked for and allowed`() {
        func hasToken(_ body: [UInt8], _ change: (inout PhoneGroup.Traits) -> Void = { _ in }) -> Bool {
            var bench = PhoneBench(FleetSettings(), change)
            #expect(bench.start(body) == .started)
            return bench.fleet.activities[0].hasToken
        }
        #expect(hasToken(startBody()))
        #expect(!hasToken(startBody(without: "input-push-token")))
        #expect(
            hasToken(startBody(without: "input-push-token")) {
                $0.system = SystemVersion("17.2") ?? $0.system
            })
        #expect(!hasToken(startBody()) { $0.allowsActivities = false })
        #expect(!hasToken(startBody()) { $0.tokenDelayMilliseconds = 1 })
    }

    @Test func `the app knows its activity by the first id it finds`() {
        var bench = PhoneBench()
        bench.fleet.expected[0] = ["expected-1"]
        _ = bench.start(startBody(id: "order-1"))
        let own = aps([
            ("timestamp", "\(noon)"), ("event", "\"start\""), ("content-state", "{}"), ("alert", "{}"),
            ("attributes-type", "\"Order\""), ("attributes", #"{"activityId":"own"}"#),
        ])
        _ = bench.start(own)
        _ = bench.start(startBody(id: nil))
        _ = bench.start(startBody(id: nil))
        #expect(bench.fleet.activities.map(\.id) == ["order-1", "own", "expected-1", "local-3-0"])
    }

    @Test func `a second start of an id ends the first`() {
        var bench = PhoneBench()
        _ = bench.start()
        _ = bench.start(startBody(timestamp: noon + 1))
        #expect(bench.fleet.activities.map(\.state) == [.ended, .active])
    }

    @Test func `the same push again is counted as a duplicate`() {
        var bench = PhoneBench()
        _ = bench.start()
        for _ in 0..<2 { _ = bench.push(changeBody(timestamp: noon + 1), to: bench.reference(), id: 99) }
        #expect(bench.fleet.phones[0].duplicates == 1)
        #expect(bench.fleet.tally.duplicates == 1)
        #expect(bench.fleet.tally[.update, .olderThanShown] == 1)
    }

    @Test func `an ordinary push is shown when it has an alert`() {
        var bench = PhoneBench()
        let token = bench.fleet.deviceToken(of: 0)
        #expect(bench.push(aps([("alert", "\"hello\"")]), to: token) == .shown)
        #expect(bench.push(aps([("badge", "1")]), to: token) == .noAlert)
    }

    @Test func `for a phone that is offline one push is kept, the newest`() {
        var bench = PhoneBench()
        _ = bench.start()
        bench.fleet.phones[0].flags.insert(.offline)
        #expect(bench.change(changeBody(timestamp: noon + 1), expires: 0) == .lostOffline)
        #expect(bench.change(changeBody(timestamp: noon + 2)) == .stored)
        #expect(
            bench.change(changeBody(timestamp: noon + 3, state: #"{"n":3}"#), expires: noon + 60) == .stored)
        #expect(bench.shown == #"{"n":1}"#)
        bench.fleet.comeOnline(0, nowMilliseconds: (noon + 10) * 1000)
        #expect(bench.shown == #"{"n":3}"#)
        #expect(bench.fleet.tally[.update, .replacedOffline] == 1)
    }

    @Test func `a stored push expires`() {
        var bench = PhoneBench()
        _ = bench.start()
        bench.fleet.phones[0].flags.insert(.offline)
        #expect(bench.change(changeBody(timestamp: noon + 1), expires: noon + 5) == .stored)
        bench.fleet.comeOnline(0, nowMilliseconds: (noon + 5) * 1000)
        #expect(bench.fleet.tally[.update, .expiredOffline] == 1)
        #expect(bench.shown == #"{"n":1}"#)
    }

    @Test func `the history tells what the phone made of each push`() {
        var bench = PhoneBench()
        _ = bench.start()
        _ = bench.change(changeBody(timestamp: noon - 3))
        let entries = bench.fleet.history.entries(from: bench.fleet.phones[0].lastEntry)
        #expect(entries.map(\.verdict.name) == ["started", "ignored"])
        #expect(entries.map(\.verdict.reason) == ["started", "olderThanShown"])
        #expect(entries.map(\.activityID) == ["order-1", "order-1"])
        #expect(
            entries.map { String(decoding: $0.contentState, as: UTF8.self) } == [#"{"n":1}"#, #"{"n":2}"#])
    }
}
