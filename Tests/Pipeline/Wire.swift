import Contracts
import Foundation
import HTTP2
import JSON
import Testing

@testable import apns_gateway

/// The pipeline in a kind world, with what goes to APNs written down.
final class Wire {
    static let tokA = String(repeating: "a1", count: 80)
    static let tokB = String(repeating: "b2", count: 80)
    static let startA = String(repeating: "5a", count: 80)

    /// One push as it stands on the wire.
    struct Push {
        var headers: [String: String]
        var body: [UInt8]

        var text: String { String(decoding: body, as: UTF8.self) }
        var aps: JSONValue? { (try? JSONDocument(body))?.root["aps"] }
        var token: String { headers[":path"]?.split(separator: "/").last.map(String.init) ?? "" }
    }

    /// What was answered to a call.
    struct Reply {
        var status: Int
        var object: [String: Any]

        var code: Int { object["status_code"] as? Int ?? status }
        var message: String { object["status_message"] as? String ?? "" }
        var error: [String: Any] { object["error"] as? [String: Any] ?? [:] }
        var codes: [String] { (object["response"] as? [String: Any])?["Messages"] as? [String] ?? [] }
        var text: String { "\(object)" }
    }

    let world: World
    private(set) var pushes: [Push] = []

    init() throws {
        world = try World(seed: 1, faults: .none)
        world.onPush = { [unowned self] request in
            var template = HeaderTemplate(
                request.group, authority: "api.push.apple.com", providerToken: "a.b.c")
            let fields = template.headers(of: request).pairs.map { ($0.name, $0.value) }
            let headers = Dictionary(fields) { "\($0), \($1)" }
            pushes.append(Push(headers: headers, body: request.body))
        }
        try world.run(seconds: 5)
    }

    var nowSeconds: Int64 { world.now.wallSeconds }

    /// A call and its answer.
    @discardableResult
    func call(_ path: String, _ body: String) throws -> Reply {
        var reply: Reply?
        world.send(
            World.Call(path: path.split(separator: "/").map(String.init), body: body, isRepeated: false) {
                reply = Reply(status: $0, object: $1)
            })
        try world.run(seconds: 5) { reply != nil }
        return try #require(reply)
    }

    @discardableResult
    func firebase(_ body: String) throws -> Reply { try call("/v1/projects/demo/messages:send", body) }

    @discardableResult
    func start(_ notification: String) throws -> Reply { try notify("startLiveActivity", notification) }

    @discardableResult
    func update(_ notification: String) throws -> Reply { try notify("updateLiveActivity", notification) }

    private func notify(_ method: String, _ notification: String) throws -> Reply {
        try call(
            "/json/1.3/\(method)",
            #"{"request":{"application":"AAAAA-00001","auth":"k-test","notifications":[\#(notification)]}}"#)
    }

    func phone(_ method: String, _ members: String, device: String = "dev-1") throws {
        let reply = try call(
            "/json/1.3/\(method)",
            #"{"request":{"application":"AAAAA-00001","hwid":"\#(device)"\#(members)}}"#)
        #expect(reply.code == 200)
    }

    /// A phone that can be started.
    func introduce(_ device: String, startToken: String) throws {
        try phone("registerDevice", #","os_version":"18.0","device_type":1"#, device: device)
        try phone(
            "setActivityPushToStartToken", #","activity_push_to_start_token":"\#(startToken)""#,
            device: device)
    }

    /// Lets time pass until so many pushes have gone.
    func wait(for count: Int) throws { #expect(try world.run(seconds: 60) { pushes.count >= count }) }

    /// Lets time pass in which more would go if there were any.
    func settle() throws { try world.run(seconds: 60) }

    // MARK: The bodies of the doors

    static let start = """
        {"content":"Cooking","title":"Order 12","live_activity":{"event":"start","content-state":{"step":1},\
        "attributes-type":"OrderAttributes","attributes":{}},"live_activity_id":"ord-12","devices":["dev-1"]}
        """
    static let update = """
        {"live_activity":{"event":"update","content-state":{"step":2}},"live_activity_id":"ord-12"}
        """

    func fcmUpdate(
        token: String = #""live_activity_token":"\#(Wire.tokA)""#,
        headers: String = #"{"apns-priority":"10"}"#,
        state: String = #"{"step":2}"#
    ) -> String {
        """
        {"message":{"token":"reg-1","apns":{\(token),"headers":\(headers),"payload":{"aps":{\
        "timestamp":\(nowSeconds),"event":"update","content-state":\(state)}}}}}
        """
    }
}
