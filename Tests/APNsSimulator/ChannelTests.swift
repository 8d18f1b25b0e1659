import JSON
import Testing

@testable import apns_simulator

/// Broadcast channels: their host, their pushes and the phones that listen.
@Suite struct ChannelTests {
    var bench = Bench()

    private func call(_ method: String, _ path: String, channel: String? = nil, body: String = "")
        -> APNsRequest
    {
        var headers = APNsHeaders()
        headers.authorization = "bearer " + providerToken()
        headers.channelID = channel
        return APNsRequest(method: method, path: path, headers: headers, body: Array(body.utf8))
    }

    private mutating func manage(_ request: APNsRequest) -> Reaction {
        bench.simulator.manage(
            request, on: &bench.connection, nowMicroseconds: bench.nowSeconds * 1_000_000)
    }

    static let channels = "/1/apps/\(bundle)/channels"
    static func creation(_ policy: Int) -> String {
        #"{"message-storage-policy":\#(policy),"push-type":"LiveActivity"}"#
    }

    private mutating func create(policy: Int = 1) throws -> String {
        let reaction = manage(call("POST", Self.channels, body: Self.creation(policy)))
        #expect(reaction.status == 201)
        return try #require(reaction.answer?.channelID)
    }

    private func broadcast(_ channel: String, _ change: (inout APNsRequest) -> Void = { _ in }) -> APNsRequest
    {
        var request = call("POST", "/4/broadcasts/apps/\(bundle)", channel: channel)
        request.headers.pushType = "Liveactivity"
        request.headers.priority = "10"
        request.headers.expiration = "0"
        request.body = changeBody(timestamp: bench.nowSeconds)
        change(&request)
        return request
    }

    /// Starts an activity that listens on the first production phone.
    private mutating func listen(to channel: String, system: String? = nil) -> Reaction {
        bench.send { request in
            request.body = aps([
                ("timestamp", "\(noon - 5)"), ("event", #""start""#), ("content-state", #"{"n":1}"#),
                ("attributes-type", #""Order""#), ("attributes", #"{"activityId":"order-1"}"#),
                ("alert", #"{"title":"t","body":"b"}"#), ("input-push-channel", "\"\(channel)\""),
            ])
        }
    }

    private func shown(_ phone: Int = 0) -> [String] {
        bench.simulator.fleet.slots(of: phone).map {
            String(decoding: bench.simulator.fleet.activities[$0].shown, as: UTF8.self)
        }
    }

    @Test mutating func `a channel is made, read, listed and deleted`() throws {
        let id = try create(policy: 0)
        let read = manage(call("GET", Self.channels, channel: id))
        #expect(read.answer.map { String(decoding: $0.body, as: UTF8.self) } == Self.creation(0))
        let other = try create()
        let list = try #require(manage(call("GET", "/1/apps/\(bundle)/all-channels")).answer)
        #expect(
            try JSONDocument(list.body).root["channels"]?.elements?.compactMap(\.string)
                == [id, other].sorted())
        #expect(list.idField == "apns-request-id")
        #expect(manage(call("DELETE", Self.channels, channel: id)).status == 204)
        #expect(manage(call("GET", Self.channels, channel: id)).reason == "ChannelNotRegistered")
        #expect(bench.send(broadcast(id)).reason == "ChannelNotRegistered")
    }

    @Test mutating func `a channel is unknown in the other environment and to another app`() throws {
        let id = try create()
        var sandbox = bench.simulator.open(.sandbox)
        let reaction = bench.simulator.receive(
            broadcast(id), on: &sandbox, nowMicroseconds: noon * 1_000_000)
        #expect(reaction.reason == "ChannelNotRegistered")
    }

    struct Fault: CustomTestStringConvertible, Sendable {
        var testDescription: String
        var reason: String
        var change: @Sendable (inout APNsRequest) -> Void

        init(_ name: String, _ reason: String, _ change: @escaping @Sendable (inout APNsRequest) -> Void) {
            (testDescription, self.reason, self.change) = (name, reason, change)
        }
    }

    static let broadcastFaults = [
        Fault("GET", "MethodNotAllowed") { $0.method = "GET" },
        Fault("no token", "MissingProviderToken") { $0.headers.authorization = nil },
        Fault("another app", "TopicMismatch") { $0.path = "/4/broadcasts/apps/com.example.else" },
        Fault("a suffix", "TopicDisallowed") { $0.path += ".push-type.liveactivity" },
        Fault("an id that is none", "BadMessageId") { $0.headers.requestID = "x" },
        Fault("no channel", "MissingChannelId") { $0.headers.channelID = nil },
        Fault("no base64", "BadChannelId") { $0.headers.channelID = "a!b=" },
        Fault("unknown channel", "ChannelNotRegistered") { $0.headers.channelID = "AAAA" },
        Fault("no push type", "MissingPushType") { $0.headers.pushType = nil },
        Fault("alert", "InvalidPushType") { $0.headers.pushType = "alert" },
        Fault("no priority", "BadPriority") { $0.headers.priority = nil },
        Fault("no expiration", "BadExpirationDate") { $0.headers.expiration = nil },
        Fault("stored where nothing is", "BadExpirationDate") { $0.headers.expiration = "1800000600" },
        Fault("no body", "PayloadEmpty") { $0.body = [] },
        Fault("too large", "PayloadTooLarge") { $0.body = Array(repeating: 0x20, count: 5_121) },
    ]

    @Test(arguments: broadcastFaults)
    mutating func `each fault of a broadcast has its reason`(fault: Fault) throws {
        let id = try create(policy: 0)
        #expect(bench.send(broadcast(id, fault.change)).reason == fault.reason)
    }

    static let managementFaults = [
        Fault("another path", "BadPath") { $0.path = "/2/apps/x/channels" },
        Fault("PUT", "MethodNotAllowed") { $0.method = "PUT" },
        Fault("no token", "MissingProviderToken") { $0.headers.authorization = nil },
        Fault("another app", "TopicMismatch") { $0.path = "/1/apps/com.example.else/channels" },
        Fault("empty", "PayloadEmpty") { $0.body = [] },
        Fault("no JSON", "BadRequestPayload") { $0.body = Array("{".utf8) },
        Fault("unknown attribute", "BadRequestParams") { $0.body = Array(#"{"name":1}"#.utf8) },
        Fault("another push type", "InvalidPushType") {
            $0.body = Array(#"{"message-storage-policy":1,"push-type":"alert"}"#.utf8)
        },
    ]

    @Test(arguments: managementFaults)
    mutating func `each fault of a call has its reason`(fault: Fault) {
        var request = call("POST", Self.channels, body: Self.creation(1))
        fault.change(&request)
        #expect(manage(request).reason == fault.reason)
    }

    @Test mutating func `there are no more channels than may be, and none without the capability`() throws {
        bench.simulator.channels.channelsMax = 2
        _ = try create()
        let second = try create()
        #expect(
            manage(call("POST", Self.channels, body: Self.creation(1))).reason == "CannotCreateChannelConfig")
        _ = manage(call("DELETE", Self.channels, channel: second))
        _ = try create()
        bench.simulator.rules.settings.refusesBroadcasts = true
        #expect(manage(call("GET", "/1/apps/\(bundle)/all-channels")).reason == "FeatureNotEnabled")
    }

    @Test mutating func `phones that listen show a broadcast, and get no token`() throws {
        let id = try create()
        #expect(listen(to: id).status == 200)
        bench.simulator.fleet.settleRegistrations()
        #expect(bench.simulator.fleet.updateToken(of: 0) == nil)
        let answer = try #require(bench.send(broadcast(id)).answer)
        #expect(answer.status == 200 && answer.idField == "apns-request-id")
        #expect(shown() == [#"{"n":2}"#])
        #expect(bench.simulator.counters.reached == 1)
        _ = bench.send(broadcast(id) { $0.body = changeBody("end", timestamp: noon + 1, state: #"{"n":3}"#) })
        #expect(bench.simulator.fleet.activities[0].state == .ended)
        #expect(bench.simulator.fleet.activities[0].shown == Array(#"{"n":3}"#.utf8))
    }

    @Test mutating func `a start cannot be broadcast, and an older state is not shown`() throws {
        let id = try create()
        _ = listen(to: id)
        #expect(bench.send(broadcast(id) { $0.body = startBody() }).status == 200)
        #expect(bench.send(broadcast(id) { $0.body = changeBody(timestamp: noon - 10) }).status == 200)
        #expect(shown() == [#"{"n":1}"#])
    }

    @Test mutating func `on iOS 17 an activity with a channel does not start`() throws {
        let id = try create()
        var traits = PhoneGroup.Traits(prefix: "old", application: "A", bundleID: bundle)
        traits.system = try #require(SystemVersion("17.5"))
        _ = bench.simulator.fleet.add(
            traits, count: 1, firstNumber: nil, isSingle: true, nowMilliseconds: noon * 1000)
        let phone = try #require(bench.simulator.fleet.phone(hardwareID: "old"))
        let token = bench.simulator.fleet.token(
            bench.simulator.fleet.startTokens(of: phone)[0].reference)
        let body = bench.request().body
        let withChannel = String(decoding: body, as: UTF8.self).replacing(
            #""input-push-token":1"#, with: #""input-push-channel":"\#(id)""#)
        _ = bench.send { request in
            request.path = "/3/device/" + token
            request.body = Array(withChannel.utf8)
        }
        #expect(shown(phone).isEmpty)
        #expect(bench.simulator.fleet.tally[.start, .channelNeedsNewerSystem] == 1)
    }

    @Test(arguments: [(0, #"{"n":1}"#), (1, #"{"n":2}"#)])
    mutating func `who was away gets the newest message if the channel stores it`(policy: Int, state: String)
        throws
    {
        let id = try create(policy: policy)
        _ = listen(to: id)
        bench.simulator.fleet.phones[0].flags.insert(.offline)
        let expiration = policy == 0 ? "0" : "\(noon + 60)"
        #expect(bench.send(broadcast(id) { $0.headers.expiration = expiration }).status == 200)
        #expect(shown() == [#"{"n":1}"#])
        bench.simulator.comeOnline(0, nowMilliseconds: noon * 1000)
        #expect(shown() == [state])
    }

    @Test mutating func `the control port shows channels and who listens`() throws {
        let id = try create()
        _ = listen(to: id)
        _ = bench.send(broadcast(id))
        let api = ControlAPI()
        let channels = api.handle(
            ControlRequest(method: "GET", segments: ["channels"]), &bench.simulator,
            nowMicroseconds: noon * 1_000_000)
        let first = try JSONDocument(channels.body).root["channels"]?.elements?.first
        #expect(first?["id"]?.string == id)
        #expect(first?["listening"]?.int64 == 1)
        #expect(first?["broadcasts"]?.int64 == 1)
        let arrivals = api.handle(
            ControlRequest(method: "GET", segments: ["arrivals"]), &bench.simulator,
            nowMicroseconds: noon * 1_000_000)
        let last = try JSONDocument(arrivals.body).root["arrivals"]?.elements.map { Array($0) }?.last
        #expect(last?["channel"]?.string == id)
        #expect(last?["verdict"]?.string == "broadcast")
    }

    @Test mutating func `a rule of the script can name a channel`() throws {
        let id = try create()
        let reply = ControlAPI().handle(
            ControlRequest(
                method: "POST", segments: ["script"],
                body: Array(
                    #"{"match":{"channel":"\#(id)"},"status":503,"reason":"Shutdown","count":1}"#.utf8)),
            &bench.simulator, nowMicroseconds: noon * 1_000_000)
        #expect(reply.status == 200)
        #expect(bench.send().status == 200)
        #expect(bench.send(broadcast(id)).status == 503)
        #expect(bench.send(broadcast(id)).status == 200)
    }
}
