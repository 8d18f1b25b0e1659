import JSON
import Testing

@testable import apns_simulator

private struct Control {
    var simulator = Bench().simulator
    var api = ControlAPI(ingest: nil)
    var nowSeconds = noon

    init() { simulator.reset(phones: true) }

    mutating func call(
        _ method: String, _ path: String, _ body: String = "", query: [String: String] = [:]
    ) -> (status: Int, json: JSONValue?, effect: ControlReply.Effect?) {
        let request = ControlRequest(
            method: method, segments: path.split(separator: "/").map(String.init), query: query,
            body: Array(body.utf8))
        let reply = api.handle(request, &simulator, nowMicroseconds: nowSeconds * 1_000_000)
        return (reply.status, (try? JSONDocument(reply.body))?.root, reply.effect)
    }
}

@Suite struct ControlAPITests {
    @Test func `phones are made in bulk and looked at in sum and one by one`() {
        var control = Control()
        let made = control.call(
            "POST", "phones",
            #"{"count":1000,"prefix":"load-","application":"A","activity":{"id":"m-{n%2}","contentState":{"n":0}}}"#
        )
        #expect(made.status == 201)
        #expect(made.json?["last"]?.string == "load-1000")
        control.simulator.fleet.settleRegistrations()
        let sum = control.call("GET", "phones", query: ["prefix": "load-"]).json
        #expect(sum?["phones"]?.int64 == 1000)
        #expect(sum?["withToken"]?.int64 == 1000)
        #expect(sum?["states"]?.elements?.first?["count"]?.int64 == 1000)
        let one = control.call("GET", "phones/load-7").json
        #expect(one?["activities"]?.elements?.first?["id"]?.string == "m-1")
        #expect(one?["startTokens"]?.elements?.first?["token"]?.string?.count == 160)
        #expect(control.call("GET", "phones/load-1001").status == 404)
    }

    @Test func `what a phone shows is written as it came`() {
        var control = Control()
        _ = control.call("POST", "phones", #"{"hwid":"p","application":"A"}"#)
        _ = control.call(
            "POST", "phones/p/activities", #"{"id":"X","contentState":{"v":1.0,"big":1e400}}"#)
        let view = control.call("GET", "phones/p").json
        let shown = view?["activities"]?.elements?.first?["contentState"]?.bytes
        #expect(shown == Array(#"{"v":1.0,"big":1e400}"#.utf8))
        #expect(view?["history"]?.elements?.count == 0)
    }

    @Test(
        arguments: [
            (#"{"prefix":"p","hwid":"p","count":2}"#, 400, "hwid: for one phone only"),
            (#"{}"#, 400, "prefix: missing"),
            (#"{"prefix":"p","osversion":"17"}"#, 400, "osversion: unknown member"),
            (#"{"prefix":"p","osVersion":"new"}"#, 400, "osVersion: missing"),
            (#"{"prefix":7}"#, 400, "prefix: a string is expected"),
            (#"{"prefix":"p","count":0}"#, 400, "count: an integer of 1 or more is expected"),
            (#"{"prefix":"p","count":2,"tokens":{"start":"ab"}}"#, 400, "tokens: for one phone only"),
            (#"{"prefix":"q-"}"#, 201, nil),
        ] as [(String, Int, String?)])
    func `a creation is checked`(_ body: String, _ status: Int, _ error: String?) {
        var control = Control()
        let reply = control.call("POST", "phones", body)
        #expect(reply.status == status)
        #expect(reply.json?["error"]?.string == error)
    }

    @Test func `the same phone is not made twice`() {
        var control = Control()
        let body = #"{"hwid":"p","application":"A","tokens":{"start":"abcd","device":"ef01"}}"#
        #expect(control.call("POST", "phones", body).status == 201)
        #expect(control.call("POST", "phones", body).status == 409)
        let view = control.call("GET", "phones/p").json
        #expect(view?["deviceToken"]?.string == "ef01")
        #expect(view?["startTokens"]?.elements?.first?["token"]?.string == "abcd")
    }

    @Test func `a person and the system act on a phone`() {
        var control = Control()
        _ = control.call(
            "POST", "phones", #"{"hwid":"p","application":"A","activity":{"id":"X","token":"aa11"}}"#)
        control.simulator.fleet.settleRegistrations()
        func activity(_ reply: JSONValue?) -> JSONValue? { reply?["activities"]?.elements?.first }
        #expect(activity(control.call("GET", "phones/p").json)?["token"]?.string == "aa11")
        let rotated = control.call("POST", "phones/p/rotate", #"{"activity":"X"}"#).json
        #expect(activity(rotated)?["token"]?.string?.count == 160)
        #expect(control.call("POST", "phones/p/rotate").status == 200)
        #expect(control.call("POST", "phones/p/rotate", #"{"activity":"Y"}"#).status == 404)
        #expect(control.call("POST", "phones/p/offline").json?["online"]?.bool == false)
        #expect(control.call("POST", "phones/p/online").json?["online"]?.bool == true)
        #expect(control.call("POST", "phones/p/expect", #"{"activities":["Z"]}"#).status == 200)
        #expect(control.simulator.fleet.expected[0] == ["Z"])
        let dismissed = control.call("POST", "phones/p/dismiss", #"{"activity":"X"}"#).json
        #expect(activity(dismissed)?["state"]?.string == "dismissed")
        #expect(activity(dismissed)?["visible"]?.bool == false)
        #expect(control.call("POST", "phones/p/uninstall").json?["installed"]?.bool == false)
        #expect(control.call("POST", "phones/p/fly").status == 404)
    }

    @Test func `rules are added, counted and removed`() {
        var control = Control()
        let rules = #"""
            [{"match":{"event":"update"},"nth":2,"count":3,"status":503,"reason":"ServiceUnavailable"},
             {"reason":"TooManyRequests"},{"action":"never"},{"delayMilliseconds":20},
             {"action":"goaway","reason":"Shutdown","deliver":true,"streamLimit":5}]
            """#
        #expect(control.call("POST", "script", rules).json?["rules"]?.elements?.count == 5)
        let added = control.simulator.script.entries.map(\.rule)
        #expect(added[0].match.event == "update")
        #expect(
            added[1].action == .answer(status: 429, reason: "TooManyRequests", timestampMilliseconds: nil))
        #expect(added[2].action == .silence)
        #expect(added[3].action == .pass)
        #expect(added[4].streamLimit == 5)
        #expect(control.call("DELETE", "script").json?["rules"]?.elements?.isEmpty == true)
    }

    @Test(arguments: [
        #"{"reason":"Odd"}"#, #"{"action":"answer"}"#, #"{"action":"explode"}"#, #"{"nth":0}"#, "[1]", "{",
        #"{"match":{"phone":"p"}}"#,
    ])
    func `a rule that says nothing clear is refused`(_ body: String) {
        var control = Control()
        #expect(control.call("POST", "script", body).status == 400)
        #expect(control.simulator.script.isEmpty)
    }

    @Test func `counters and arrivals tell what came`() {
        var bench = Bench()
        _ = bench.send()
        _ = bench.send { $0.headers.topic = nil }
        var control = Control()
        control.simulator = bench.simulator
        let counters = control.call("GET", "counters").json
        #expect(counters?["answers"]?["200"]?.int64 == 1)
        #expect(counters?["answers"]?["400 MissingTopic"]?.int64 == 1)
        #expect(counters?["pushes"]?["start"]?["started"]?.int64 == 1)
        #expect(counters?["connections"]?["opened"]?.int64 == 1)
        #expect(counters?["providerTokens"]?.int64 == 1)
        let arrivals = control.call("GET", "arrivals", query: ["since": "0"]).json
        let arrival = arrivals?["arrivals"]?.elements?.first
        #expect(arrivals?["next"]?.int64 == 2)
        #expect(arrivals?["arrivals"]?.elements?.count == 1)
        #expect(arrival?["apnsId"]?.string == "11111111-2222-4333-8444-555555555555")
        #expect(arrival?["token"]?.string == bench.startToken)
        #expect(arrival?["n"]?.int64 == 1)
        #expect(arrival?["receivedAtMicroseconds"]?.int64 == noon * 1_000_000)
        #expect(arrival?["hwid"]?.string != nil)
        #expect(arrival?["status"]?.int64 == 200)
        #expect(arrival?["verdict"]?.string == "started")
        #expect(control.call("GET", "arrivals", query: ["since": "x"]).status == 400)
    }

    @Test func `what was refused or got no answer is listed when asked for`() {
        var bench = Bench()
        _ = bench.send { $0.headers.topic = nil }
        bench.simulator.script.add([ScriptedAnswer(action: .silence, delayMilliseconds: 7, delivers: true)])
        _ = bench.send()
        var control = Control()
        control.simulator = bench.simulator
        let all = control.call("GET", "arrivals", query: ["refused": "1"]).json?["arrivals"]
        let arrivals = all?.elements.map(Array.init) ?? []
        #expect(arrivals.map { $0["status"]?.int64 } == [400, nil])
        #expect(arrivals.map { $0["verdict"]?.string } == [nil, "started"])
        #expect(arrivals.map { $0["n"]?.int64 } == [1, 1])
        #expect(arrivals.last?["delayMilliseconds"]?.int64 == 7)
        #expect(arrivals.last?["connection"]?.int64 == 1)
    }

    @Test func `a reset forgets what was counted, and the phones when told so`() {
        var control = Control()
        control.simulator = Bench().simulator
        #expect(control.call("POST", "reset").status == 200)
        #expect(control.simulator.fleet.phones.count == 2)
        #expect(control.simulator.counters.connectionsOpened == 0)
        #expect(control.simulator.counters.connectionsOpen == 1)
        _ = control.call("POST", "reset", #"{"phones":true}"#)
        #expect(control.simulator.fleet.phones.isEmpty)
    }

    @Test func `connections are steered by effects`() {
        var control = Control()
        #expect(
            control.call("POST", "connections", #"{"streamLimit":20}"#).effect == .announce(streamLimit: 20))
        #expect(control.simulator.settings.streamLimit == 20)
        #expect(
            control.call("POST", "connections", #"{"goAway":"Shutdown"}"#).effect
                == .goAway(reason: "Shutdown"))
        #expect(control.call("POST", "connections", #"{"close":true}"#).effect == .close)
        #expect(
            control.call("POST", "connections", #"{"handshakeDelayMilliseconds":500}"#).effect
                == .delayHandshakes(milliseconds: 500))
        #expect(control.call("POST", "connections", "{}").status == 400)
        #expect(control.call("GET", "healthz").status == 200)
        #expect(control.call("GET", "nothing").status == 404)
    }
}
