import Contracts
import Foundation
import Testing

/// The host's clock is set, forward or back, while an activity is shown.
@Suite struct `A clock that is set` {
    private let world: World

    /// One phone that shows an activity, in a kind world.
    init() throws {
        world = try World(seed: 1, faults: .none)
        let start = world.phones.add("p1")
        world.tell(
            .init(
                method: "setActivityPushToStartToken",
                request: ["hwid": "p1", "activity_push_to_start_token": start]), phone: "p1")
        try world.run(seconds: 3)
        startActivity("a1")
        try world.run(seconds: 40) { world.phones.shown["p1"]?["a1"]?.token != nil }
        try world.run(seconds: 20)
    }

    private func startActivity(_ name: String) {
        notify(
            "startLiveActivity",
            [
                "content": "Cooking", "title": "Order", "live_activity_id": name, "devices": ["p1"],
                "live_activity": [
                    "event": "start", "content-state": ["n": 0], "attributes-type": "Order",
                    "attributes": ["activity": name],
                ],
            ])
    }

    private func notify(_ method: String, _ notification: [String: Any]) {
        world.pushwoosh(method, ["auth": "k-test", "notifications": [notification]]) { status, _ in
            #expect(status == 200)
        }
    }

    private func update(_ n: Int, event: String = "update") {
        notify(
            "updateLiveActivity",
            ["live_activity_id": "a1", "live_activity": ["event": event, "content-state": ["n": n]]])
    }

    private func requireShown(_ n: Int, withinSeconds seconds: Double) throws {
        #expect(
            try world.run(seconds: seconds) { world.phones.shown["p1"]?["a1"]?.n.last == n },
            "\(world.phones.shown) \(world.logs.suffix(20))")
    }

    static let jumps: [Int64] = [-3_600, -60, 60, 3_500]

    @Test(arguments: jumps)
    func `what is accepted after it goes out at the usual pace`(seconds: Int64) throws {
        update(1)
        try requireShown(1, withinSeconds: 2)
        world.setClock(secondsLater: seconds)
        update(2)
        try requireShown(2, withinSeconds: 17)
        update(3)
        try requireShown(3, withinSeconds: 17)
        #expect(world.phones.violations == [])
        update(4, event: "end")
        try requireShown(4, withinSeconds: 2)
    }

    @Test(arguments: jumps, [0.0, 14.9])
    func `what waits then goes out when its slot opens`(seconds: Int64, waited: Double) throws {
        update(1)
        try requireShown(1, withinSeconds: 2)
        update(2)
        try world.run(seconds: waited)
        world.setClock(secondsLater: seconds)
        try requireShown(2, withinSeconds: 17)
        #expect(world.phones.violations == [])
    }

    @Test(arguments: jumps)
    func `what is on the wire then and has no answer goes once more in time`(seconds: Int64) throws {
        world.faults.silent = 1
        update(1)
        try world.run(seconds: 1)
        world.setClock(secondsLater: seconds)
        try world.run(seconds: 1)
        world.faults = .none
        try requireShown(1, withinSeconds: 60)
        try world.run(seconds: 60)
        #expect(world.processes.allSatisfy { $0.keptCount == 0 })
        update(2)
        try requireShown(2, withinSeconds: 17)
        #expect(world.phones.violations == [])
    }

    @Test(arguments: jumps, [ServiceName.ingest, .tokenRegistry, .rateLimiter, .apnsGateway, .segmenter])
    func `a service that starts after it goes on where it was`(seconds: Int64, service: ServiceName) throws {
        update(1)
        try requireShown(1, withinSeconds: 2)
        update(2)
        try world.run(seconds: 1)
        for process in world.processes where process.instance.service == service {
            try world.kill(process.instance)
        }
        world.setClock(secondsLater: seconds)
        try requireShown(2, withinSeconds: 90)
        update(3)
        try requireShown(3, withinSeconds: 17)
    }

    @Test func `a mistake of an hour that is mended a minute later leaves no trace`() throws {
        update(1)
        try requireShown(1, withinSeconds: 2)
        world.setClock(secondsLater: 3_500)
        update(2)
        try requireShown(2, withinSeconds: 17)
        try world.run(seconds: 60)
        world.setClock(secondsLater: -3_500)
        update(3)
        try requireShown(3, withinSeconds: 17)
        startActivity("a2")
        #expect(try world.run(seconds: 5) { world.phones.shown["p1"]?["a2"] != nil })
        #expect(world.phones.violations == [])
    }
}
