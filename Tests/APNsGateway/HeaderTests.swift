import Contracts
import HTTP2
import JSON
import Service
import Testing

@testable import apns_gateway

@Suite struct HeaderTests {
    var bench = Bench()

    private mutating func headers(_ push: Push, _ notification: Notification? = nil) throws -> HTTP2Headers {
        let request = try #require(bench.send(push, notification).requests.first)
        var template = HeaderTemplate(request.group, authority: "api.push.apple.com", providerToken: "a.b.c")
        return template.headers(of: request)
    }

    @Test mutating func `gw-caller-headers: a push has these fields, each once and in lower case`() throws {
        var notification = bench.update
        notification.expirationSeconds = 1_800_003_600
        let fields = try headers(bench.push(collapseID: "c-1", priority: 5), notification).pairs
        #expect(
            fields.map { "\($0.name): \($0.value)" } == [
                ":method: POST", ":scheme: https", ":authority: api.push.apple.com",
                "authorization: bearer a.b.c",
                "apns-topic: com.example.orders.push-type.liveactivity", "apns-push-type: liveactivity",
                "apns-priority: 5", "apns-expiration: 1800003600",
                ":path: /3/device/" + String(repeating: "a1", count: 80),
                "apns-id: 0b0e6d2c-6c1e-4ad9-9d7a-000000000001", "apns-collapse-id: c-1",
            ])
    }

    @Test mutating func `the fallback goes to the plain bundle id as an alert`() throws {
        var notification = bench.update
        notification.fallback = Notification.Fallback(title: nil, body: "hi")
        let headers = try headers(bench.push(pushType: .alert), notification)
        #expect(headers["apns-topic"] == "com.example.orders")
        #expect(headers["apns-push-type"] == "alert")
    }

    @Test mutating func `an expiration of 0 goes out as 0`() throws {
        var notification = bench.update
        notification.expirationSeconds = 0
        #expect(try headers(bench.push(), notification)["apns-expiration"] == "0")
    }

    @Test mutating func `gw-collapse-id-length: the caller's serves where the push has none of its own`()
        throws
    {
        var notification = bench.update
        notification.collapseID = "caller"
        #expect(try headers(bench.push(1), notification)["apns-collapse-id"] == "caller")
        #expect(try headers(bench.push(2, collapseID: "own"), notification)["apns-collapse-id"] == "own")
        #expect(try headers(bench.push(3))["apns-collapse-id"] == nil)
    }

    @Test mutating func `a token of 512 digits stands in the path in full`() throws {
        var push = bench.push()
        push.token = String(repeating: "0f", count: 256)
        #expect(try headers(push)[":path"] == "/3/device/" + push.token)
    }

    @Test mutating func `one template serves one request after the other`() throws {
        let requests = bench.send([bench.push(1, collapseID: "c"), bench.push(2)]).requests
        let group = try #require(requests.first?.group)
        #expect(requests.allSatisfy { $0.group === group })
        var template = HeaderTemplate(group, authority: "h", providerToken: "t")
        #expect(template.headers(of: requests[0]).count == 11)
        #expect(template.headers(of: requests[1]).count == 10)
    }

    @Test mutating func `pushes of different priority, type and environment have groups of their own`() {
        let pushes = [
            bench.push(1), bench.push(2, priority: 5), bench.push(3, environment: .sandbox), bench.push(4),
        ]
        let groups = bench.send(pushes).requests.map(\.group)
        #expect(groups[0] === groups[3])
        #expect(groups.map(\.priority) == [10, 5, 10, 10])
        #expect(groups.map(\.lane.environment) == [.production, .production, .sandbox, .production])
    }

    @Test mutating func `a key that names the environment goes before one that serves both`() {
        let sandbox = Configuration.Key(
            teamID: "TEAM123456", keyID: "SANDBOX123", file: "none", environment: .sandbox)
        bench = Bench(Bench.configuration(keys: [Bench.key, sandbox]))
        let requests = bench.send([bench.push(1), bench.push(2, environment: .sandbox)]).requests
        #expect(requests.map(\.group.lane.keyID) == ["KEY1234567", "SANDBOX123"])
        bench = Bench(Bench.configuration(keys: [sandbox]))
        #expect(bench.send(bench.push()).reports.first?.reason == "no-key")
    }

    @Test(arguments: [
        ("https://api.push.apple.com", "api.push.apple.com", 443, "api.push.apple.com"),
        ("https://127.0.0.1:8443/", "127.0.0.1", 8_443, "127.0.0.1:8443"),
        ("https://[::1]:2197", "::1", 2_197, "[::1]:2197"),
    ])
    func `a host is read from its URL`(url: String, host: String, port: Int, authority: String) {
        let endpoint = Endpoint(url)
        #expect(endpoint?.host == host)
        #expect(endpoint?.port == port)
        #expect(endpoint?.authority == authority)
    }

    @Test(arguments: [
        "http://api.push.apple.com", "api.push.apple.com", "https://", "https://a/b", "https://u@a", "",
    ])
    func `anything but a host is refused`(url: String) {
        #expect(Endpoint(url) == nil)
    }
}

@Suite struct GatewayLinesTests {
    var bench = Bench()

    @Test mutating func `a request is printed with its headers and its body`() throws {
        let request = try #require(bench.send(bench.push()).requests.first)
        let order = APNsOrder.request(request)
        #expect(order.lineType == "request")
        let root = try JSONDocument(try order.lineBody()).root
        #expect(root["message"]?.int64 == 12)
        #expect(root["headers"]?["apns-push-type"]?.string == "liveactivity")
        #expect(root["headers"]?["authorization"] == nil)
        #expect(root["body"]?.string == String(decoding: request.body, as: UTF8.self))
    }

    @Test mutating func `an answer is read from a line`() throws {
        bench.send(bench.push())
        let line = #"{"message":12,"device":1,"status":410,"reason":"Unregistered","timestamp":5}"#
        let event = try APNsEvent(lineType: "response", body: JSONDocument(text: line).root)
        let report = bench.step(.external(event)).reports.first
        #expect(report?.reason == "Unregistered")
        #expect(report?.apnsTimestampMilliseconds == 5)
        #expect(report?.sentAtMilliseconds == bench.now.wall)
    }

    @Test(arguments: [
        ("response", "{}"), ("response", #"{"message":1,"device":1}"#),
        ("response", #"{"message":1,"device":1,"status":99}"#), ("else", #"{"message":1,"device":1}"#),
    ])
    func `a line that is no answer is refused`(type: String, line: String) throws {
        let body = try JSONDocument(text: line).root
        #expect(throws: LineError.self) { try APNsEvent(lineType: type, body: body) }
    }

    @Test func `what is held is printed`() throws {
        let body = try APNsOrder.hold([PauseTests.pause]).lineBody()
        #expect(
            String(decoding: body, as: UTF8.self)
                == #"{"paused":[{"application":"AAAAA-00001","environment":"production"}]}"#)
    }
}
