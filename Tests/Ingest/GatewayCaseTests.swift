import Contracts
import Crypto
import JSON
import Service
import Testing

@testable import ingest

/// What the door has to do so that requests to APNs are right.
@Suite struct GatewayCaseTests {
    private func push(_ notification: String) throws -> Notification {
        let bench = try Bench()
        try bench.start()
        if notification != Bench.start { #expect(try bench.update(notification).code == 200) }
        return try #require(try bench.drain().commands.last?.notification)
    }

    @Test func `gw-caller-headers: every wrong one is named, and nothing is stored`() throws {
        let headers = """
            {"apns-push-type":"alert","APNS-Priority":"5","apns-priority":"10","apns-topic":"com.other.app",\
            "authorization":"bearer x",":path":"/3/device/ff","x-note":"hi"}
            """
        let bench = try Bench()
        let reply = try bench.fcm(Bench.fcmUpdate.replacing(#"{"apns-priority":"10"}"#, with: headers))
        #expect(reply.status == 400)
        #expect(reply.errorStatus == "INVALID_ARGUMENT")
        let names = [
            ".apns-push-type", ".APNS-Priority", ".apns-priority", ".apns-topic", ".authorization",
            #"[":path"]"#, ".x-note",
        ]
        #expect(
            reply.violations.map { $0.split(separator: ": ").first.map(String.init) }
                == names.map { "message.apns.headers\($0)" })
        #expect(!reply.text.contains("bearer x"))
        #expect(try bench.turn().isEmpty)
        #expect(try bench.journal.newestRun(Bench.tokenActivity) == nil)
    }

    @Test func `gw-caller-headers: known ones count in any letter case`() throws {
        let bench = try Bench()
        let headers = #"{"APNS-PRIORITY":"5","Apns-Expiration":"1700000042","apns-Push-Type":"liveactivity"}"#
        try bench.fcm(Bench.fcmUpdate.replacing(#"{"apns-priority":"10"}"#, with: headers))
        let push = try #require(try bench.turn().commands.first?.notification)
        #expect(push.priority == 5)
        #expect(push.expirationSeconds == 1_700_000_042)
    }

    @Test(
        arguments: [
            String(repeating: "x", count: 120), String(repeating: "👩‍🍳", count: 30),
            String(repeating: "y", count: 100) + "1", "ord-12 ",
        ])
    func `gw-collapse-id-length: an id of any length and script is taken`(_ id: String) throws {
        let bench = try Bench()
        #expect(try bench.start(Bench.start.replacing("ord-12", with: id)).code == 200)
        #expect(try bench.turn().commands.first?.activity == id)
    }

    @Test func `gw-collapse-id-length: an id with a line break is refused by name`() throws {
        let bench = try Bench()
        let reply = try bench.start(Bench.start.replacing("ord-12", with: #"ord\n12"#))
        #expect(reply.code == 210)
        #expect(reply.statusMessage.contains("live_activity_id"))
        #expect(try bench.turn().isEmpty)
    }

    @Test(arguments: ["é", "a\\u0000b", String(repeating: "c", count: 65), " c", "c ", ""])
    func `gw-collapse-id-length: a caller's own that cannot stand on the wire is refused`(_ id: String) throws
    {
        let bench = try Bench()
        let headers = #"{"apns-collapse-id":"\#(id)"}"#
        let reply = try bench.fcm(Bench.fcmUpdate.replacing(#"{"apns-priority":"10"}"#, with: headers))
        #expect(reply.status == 400)
        #expect(reply.violations.first?.hasPrefix("message.apns.headers.apns-collapse-id: ") == true)
        #expect(try bench.turn().isEmpty)
    }

    @Test func `gw-expiration-default: every push expires, in whole seconds ahead`() throws {
        let now = Bench.nowSeconds
        #expect(try push(Bench.start).expirationSeconds == now + 600)
        #expect(try push(Bench.update).expirationSeconds == now + 3_600)
        let stale = Bench.update.replacing(#"{"step":2}"#, with: #"{"step":2},"stale-date":\#(now + 300)"#)
        #expect(try push(stale).expirationSeconds == now + 300)
        #expect(try push(Bench.end).expirationSeconds == now + 14_400)
    }

    @Test func `gw-apns-id: a caller's UUID is used as given, and nothing else is taken`() throws {
        func call(_ id: String, _ bench: Bench) throws -> HTTPReply {
            try bench.fcm(
                Bench.fcmUpdate.replacing(#"{"apns-priority":"10"}"#, with: #"{"apns-id":"\#(id)"}"#))
        }
        let bench = try Bench()
        #expect(
            try call("order-12", bench).violations == ["message.apns.headers.apns-id: must be a UUID"])
        #expect(try bench.turn().isEmpty)
        let id = "8b6fe1a0-0000-4000-8000-00000000abcd"
        #expect(try call(id, bench).status == 200)
        #expect(try bench.turn().commands.first?.notification?.apnsID == id)
    }
}
