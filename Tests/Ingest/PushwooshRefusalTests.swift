import Contracts
import JSON
import Testing

@testable import ingest

/// One change to a good notification, and what the door says to it.
struct Change: CustomTestStringConvertible, Sendable {
    var from: String
    var to: String
    var message: String

    init(_ from: String, _ to: String, _ message: String) {
        (self.from, self.to, self.message) = (from, to, message)
    }

    var testDescription: String { "\(from) → \(to)" }
}

@Suite struct PushwooshRefusalTests {
    static let prefix = "notifications[0]."
    static let attributes = #","attributes":{}"#
    static let devices = #""devices":["dev-1"]"#

    /// A start that lacks what a phone needs to show it.
    static let members: [Change] = [
        Change(#","attributes-type":"OrderAttributes""#, "", "live_activity.attributes-type: missing"),
        Change(#""OrderAttributes""#, #""""#, "live_activity.attributes-type: must not be empty"),
        Change(attributes, "", "live_activity.attributes: missing"),
        Change(#""attributes":{}"#, #""attributes":[]"#, "live_activity.attributes: must be an object"),
        Change(#""attributes":{}"#, #""attributes":null"#, "live_activity.attributes: must be an object"),
        Change(#"{"step":1}"#, #""text""#, "live_activity.content-state: must be an object"),
    ]

    @Test(arguments: members)
    func `ing-start-members: an incomplete start is refused by name and its id can be used again`(
        _ change: Change
    ) throws {
        try checkRefused(change)
    }

    @Test func `ing-start-members: empty attributes are accepted and sent as they are`() throws {
        let bench = try Bench()
        #expect(try bench.start().code == 200)
        #expect(try bench.turn().commands.map(\.payload.attributes) == [Array("{}".utf8)])
    }

    static let starts: [Change] = [
        Change(#""event":"start""#, #""event":"update""#, #"live_activity.event: must be "start""#),
        Change(#""event":"start""#, #""event":"Start""#, #"live_activity.event: must be "start""#),
        Change(#""event":"start""#, #""event":null"#, #"live_activity.event: must be "start""#),
        Change(#""OrderAttributes""#, "7", "live_activity.attributes-type: must be a string"),
        Change(#""OrderAttributes""#, #""  ""#, "live_activity.attributes-type: must not be blank"),
        Change(attributes, attributes + #","alert":{}"#, "live_activity.alert: must have a title or a body"),
        Change(attributes, attributes + #","alert":"  ""#, "live_activity.alert: must not be empty"),
        Change(
            attributes, attributes + #","alert":{"title":" "}"#,
            "live_activity.alert: must have a title or a body"),
        Change(
            attributes, attributes + #","alert":{"body":"b","sound":"default"}"#,
            "live_activity.alert.sound: needs a title beside it"),
        Change(
            attributes, attributes + #","alert":{"title":"t","sound":7}"#,
            "live_activity.alert.sound: must be a string"),
        Change(
            attributes, attributes + #","alert":{"title":7,"body":"b"}"#,
            "live_activity.alert.title: must be a string, or an object with loc-key"),
        Change(
            attributes, attributes + #","alert":{"title":"t","body":{"loc-args":[]}}"#,
            "live_activity.alert.body.loc-key: missing"),
        Change(
            attributes, attributes + #","alert":{"title":{"loc-key":"k","loc-args":[1]}}"#,
            "live_activity.alert.title.loc-args: must be an array of strings"),
        Change(
            attributes, attributes + #","relevance-score":1e400"#,
            "live_activity.relevance-score: must be a finite number"),
        Change(
            attributes, attributes + #","input-push-token":0"#, "live_activity.input-push-token: must be 1"),
        Change(
            attributes, attributes + #","input-push-channel":"a channel""#,
            "live_activity.input-push-channel: must be base64"),
        Change(
            attributes, attributes + #","input-push-channel":"dHN0L===""#,
            "live_activity.input-push-channel: must be base64"),
        Change(#""ord-12""#, #""   ""#, "live_activity_id: must not be blank"),
        Change(devices, #""devices":["\t "]"#, "devices[0]: must not be blank"),
        Change(#""content-state":{"step":1},"#, "", "live_activity.content-state: missing"),
        Change(attributes, attributes + #","alert":7"#, "live_activity.alert: must be an object or a string"),
        Change(
            attributes, attributes + #","timestamp":1700000000123"#,
            "live_activity.timestamp: must be seconds since 1970, not milliseconds"),
        Change(
            attributes, attributes + #","timestamp":1700000301"#,
            "live_activity.timestamp: must not lie more than 5 minutes ahead"),
        Change(
            attributes, attributes + #","timestamp":"1700000000""#,
            "live_activity.timestamp: must be a number of seconds"),
        Change(
            attributes, attributes + #","stale-date":1.5"#,
            "live_activity.stale-date: must be whole seconds since 1970"),
        Change(
            attributes, attributes + #","stale-date":1700000900000"#,
            "live_activity.stale-date: must be seconds since 1970, not milliseconds"),
        Change(
            attributes, attributes + #","dismissal-date":1700000900"#,
            "live_activity.dismissal-date: does not belong to a start"),
        Change(
            attributes, attributes + #","relevance-score":"60""#,
            "live_activity.relevance-score: must be a finite number"),
        Change(
            attributes, attributes + #","input-push-token":"1""#,
            "live_activity.input-push-token: must be 1"),
        Change(
            attributes, attributes + #","input-push-channel":"""#,
            "live_activity.input-push-channel: must not be empty"),
        Change(attributes, attributes + #","contentState":{}"#, "live_activity.contentState: unknown member"),
        Change(attributes, attributes + #","title":5"#, "live_activity.title: must be a string"),
        Change(#""live_activity":{"#, #""live_activity":[],"x":{"#, "x: unknown member"),
        Change(#""live_activity_id":"ord-12","#, "", "live_activity_id: missing"),
        Change(#""ord-12""#, "12", "live_activity_id: must be a string"),
        Change(#""ord-12""#, #""""#, "live_activity_id: must not be empty"),
        Change(#""ord-12""#, #""ord\n12""#, "live_activity_id: must not hold control characters"),
        Change(#""content":"Cooking""#, #""content":7"#, "content: must be a string"),
        Change(#""title":"Order 12""#, #""title":null"#, "title: must be a string"),
        Change(devices, #""device":["dev-1"]"#, "device: unknown member"),
        Change(devices, #""devices":"dev-1""#, "devices: must be an array"),
        Change(devices, #""devices":[]"#, "devices: must have 1 to 1000 elements"),
        Change(devices, #""devices":["dev-1",7]"#, "devices[1]: must be a string"),
        Change(devices, #""users":[""]"#, "users[0]: must not be empty"),
        Change(devices, #""filter":"nobody""#, "filter: there is no such filter"),
        Change(devices, #""filter_code":"AAAAA-BBBBB""#, "filter_code: there is no such filter"),
        Change("," + devices, "", "filter: missing; one of filter, filter_code, devices and users is needed"),
        Change(
            devices, devices + #","filter":"x""#,
            "filter: only one of filter, devices; notifications[0].devices: only one of filter, devices"),
        Change(
            #""content":"Cooking","title":"Order 12","#, "",
            "content: missing; a start needs an alert, or a title or content to make it of"),
    ]

    @Test(arguments: starts)
    func `a wrong start is refused by name and leaves nothing behind`(_ change: Change) throws {
        try checkRefused(change)
    }

    private func checkRefused(_ change: Change) throws {
        let bench = try Bench()
        let body = Bench.start.replacing(change.from, with: change.to)
        #expect(body != Bench.start)
        let reply = try bench.start(body)
        #expect(reply.status == 200)
        #expect(reply.code == 210)
        #expect(reply.statusMessage == PushwooshRefusalTests.prefix + change.message)
        #expect(reply.json?["response"]?.isNull == true)
        #expect(try bench.turn().isEmpty)
        #expect(try bench.start().code == 200, "the id can be used again")
    }

    static let updates: [Change] = [
        Change(
            #""event":"update","#, "", #"live_activity.event: missing; it must be one of "update", "end""#),
        Change(#""content-state":{"step":2}"#, #""title":"t""#, "live_activity.content-state: missing"),
        Change(
            #""event":"update","content-state":{"step":2}"#, #""event":"end""#,
            "live_activity.content-state: missing"),
        Change(
            #"{"step":2}"#, #"{"step":2},"attributes":{}"#,
            "live_activity.attributes: does not belong to an update"),
        Change(
            #"{"step":2}"#, #"{"step":2},"dismissal-date":1700000900000"#,
            "live_activity.dismissal-date: must be seconds since 1970, not milliseconds"),
        Change(
            #"{"step":2}"#, #"{"step":2},"dismissal-date":-1"#,
            "live_activity.dismissal-date: must be whole seconds since 1970"),
        Change(
            #""event":"update","content-state":{"step":2}"#,
            #""event":"end","content-state":{"step":2},"dismissal-date":1700014401"#,
            "live_activity.dismissal-date: must not lie more than 4 hours ahead"),
        Change(#"{"step":2}"#, #"{"step":2},"alert":{}"#, "live_activity.alert: must have a title or a body"),
        Change(#""ord-12""#, #""ord-13""#, "live_activity_id: no activity of this id is running"),
        Change(#""ord-12""#, #""ord-12","filter":"x""#, "filter: unknown member"),
    ]

    @Test(arguments: ["start", "Update", "udpate", " update", ""])
    func `ing-event-misspelt: an update that is none is refused with the accepted values`(_ event: String)
        throws
    {
        try checkRefusedUpdate(
            Change(
                #""event":"update""#, #""event":"\#(event)""#,
                #"live_activity.event: must be one of "update", "end""#))
    }

    @Test(arguments: updates)
    func `a wrong update is refused by name`(_ change: Change) throws { try checkRefusedUpdate(change) }

    private func checkRefusedUpdate(_ change: Change) throws {
        let bench = try Bench()
        try bench.start()
        let reply = try bench.update(Bench.update.replacing(change.from, with: change.to))
        #expect(reply.status == 200)
        #expect(reply.code == 210)
        #expect(reply.statusMessage == PushwooshRefusalTests.prefix + change.message)
        #expect(try bench.turn().commands.map(\.kind) == [.start])
    }

    @Test(arguments: [
        (#"{"request":{"application":"AAAAA-00001","auth":"k-test"}}"#, "notifications: missing"),
        (
            #"{"request":{"application":"AAAAA-00001","auth":"k-test","notifications":{}}}"#,
            "notifications: must be an array"
        ),
        (
            #"{"request":{"application":"AAAAA-00001","auth":"k-test","notifications":[]}}"#,
            "notifications: must have 1 to 1000 elements"
        ),
        (
            #"{"request":{"application":"AAAAA-00001","auth":"k-test","notifications":[7]}}"#,
            "notifications[0]: must be an object"
        ),
        (#"{"request":{"application":"AAAAA-00001","auth":"k-test","note":[]}}"#, "note: unknown member"),
        (#"{"request":{"application":"ZZZZZ-00001","auth":"k-test"}}"#, "application: not found"),
        (#"{"request":{"application":7,"auth":"k-test"}}"#, "application: must be a string"),
        (#"{"request":{"auth":"k-test"}}"#, "application: missing"),
        (#"{"request":{"application":"AAAAA-00001"}}"#, "auth: missing"),
        (
            #"{"request":{"application":"AAAAA-00001","auth":"k-other"}}"#,
            "auth: not valid for this application"
        ),
        (#"{"request":7}"#, "request: must be an object"),
        (#"{}"#, "request: missing"),
        (#"[]"#, "must be an object"),
    ])
    func `a wrong envelope is refused by name`(_ body: String, _ message: String) throws {
        let reply = try Bench().call("POST", "/json/1.3/startLiveActivity", body)
        #expect(reply.status == 200)
        #expect(reply.code == 210)
        #expect(reply.statusMessage == message)
    }

    @Test func `a body that is no JSON is answered 400 without being shown`() throws {
        let reply = try Bench().call("POST", "/json/1.3/startLiveActivity", #"{"request": sk-leak}"#)
        #expect(reply.status == 400)
        #expect(reply.code == 400)
        #expect(reply.statusMessage == "not JSON: expected a value in request, at byte 12")
    }

    @Test(arguments: [
        Change(
            #""ord-12""#, #""ord-12","live_activity_id":"ord-99""#,
            "notifications[0].live_activity_id: repeated member, at byte"),
        Change(
            #"{"step":2}"#, #"{"x":1,"x":2}"#,
            "notifications[0].live_activity.content-state.x: repeated member, at byte"),
        Change(
            #"{"step":2}"#, #"{"x":1,"\u0078":2}"#,
            "notifications[0].live_activity.content-state.x: repeated member, at byte"),
    ])
    func `ing-duplicate-names: a member that stands twice is refused by name and nothing is touched`(
        _ change: Change
    ) throws {
        let bench = try Bench()
        try bench.start()
        let reply = try bench.update(Bench.update.replacing(change.from, with: change.to))
        #expect(reply.code == 210)
        #expect(reply.statusMessage.hasPrefix(change.message))
        #expect(try bench.turn().commands.map(\.kind) == [.start])
    }

    @Test func `nesting beyond 64 levels is refused, not walked into`() throws {
        let deep = String(repeating: "[", count: 100_000)
        let reply = try Bench().call("POST", "/json/1.3/startLiveActivity", deep)
        #expect(reply.code == 210)
        #expect(reply.statusMessage.contains("nested too deep"))
    }

    @Test
    func
        `ing-array-one-bad: one bad notification of three refuses all three, and good ones keep their order`()
        throws
    {
        let bench = try Bench()
        let good = ["a", "b", "c"].map { Bench.start.replacing("ord-12", with: $0) }
        let bad = good[1].replacing(#""live_activity_id":"b","#, with: "")
        let refused = try bench.notify("startLiveActivity", good[0], bad, good[2])
        #expect(refused.code == 210)
        #expect(refused.statusMessage == "notifications[1].live_activity_id: missing")
        #expect(try bench.turn().isEmpty)

        let accepted = try bench.notify("startLiveActivity", good[0], good[1], good[2])
        #expect(accepted.codes.count == 3)
        let sequences = accepted.codes.compactMap(bench.journal.codes.sequence)
        #expect(sequences == sequences.sorted())
        #expect(try bench.turn().commands.map(\.activity) == ["a", "b", "c"])
        let empty = try bench.notify("startLiveActivity")
        #expect(empty.code == 210)
        #expect(empty.statusMessage == "notifications: must have 1 to 1000 elements")
    }

    @Test func `what the store refuses refuses the whole call too`() throws {
        let bench = try Bench()
        let other = Bench.start.replacing("ord-12", with: "other")
        let again = Bench.start.replacing("Cooking", with: "Baking")
        let reply = try bench.notify("startLiveActivity", other, Bench.start, again)
        #expect(reply.code == 210)
        #expect(
            reply.statusMessage
                == "notifications[2].live_activity_id: an activity of this id is already running")
        #expect(try bench.turn().isEmpty)
        #expect(try bench.start(other).code == 200)
    }

    @Test func `paths and methods that are not served say so`() throws {
        let bench = try Bench()
        #expect(try bench.call("POST", "/json/1.3/createMessage", "{}").status == 404)
        let reply = try bench.call("GET", "/json/1.3/startLiveActivity")
        #expect(reply.status == 405)
        #expect(reply.header("Allow") == "POST")
    }
}
