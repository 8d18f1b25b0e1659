import Contracts
import Store
import Testing

@testable import token_registry

/// Situations by their names that need a process to die at a certain instant.
@Suite struct `Situations in the simulation` {
    /// One phone that shows an activity, in a kind world.
    private func shown() throws -> (world: World, token: String) {
        let world = try World(seed: 1, faults: .none)
        let start = world.phones.add("p1")
        world.tell(
            .init(
                method: "setActivityPushToStartToken",
                request: ["hwid": "p1", "activity_push_to_start_token": start]), phone: "p1")
        try world.run(seconds: 3)
        begin("a1", on: ["p1"], in: world)
        try world.run(seconds: 40) { world.phones.shown["p1"]?["a1"]?.token != nil }
        try world.run(seconds: 20)
        return (world, try #require(world.phones.shown["p1"]?["a1"]?.token))
    }

    private func notify(_ world: World, _ method: String, _ notification: [String: Any]) {
        world.pushwoosh(method, ["auth": "k-test", "notifications": [notification]])
    }

    private func begin(_ name: String, on phones: [String], in world: World) {
        notify(
            world, "startLiveActivity",
            [
                "content": "Cooking", "title": "Order", "live_activity_id": name, "devices": phones,
                "live_activity": [
                    "event": "start", "content-state": ["n": 0], "attributes-type": "Order",
                    "attributes": ["activity": name],
                ],
            ])
    }

    private func update(_ world: World, _ n: Int) {
        notify(
            world, "updateLiveActivity",
            ["live_activity_id": "a1", "live_activity": ["event": "update", "content-state": ["n": n]]])
    }

    @Test(arguments: [ServiceName.tokenRegistry, .apnsGateway, .rateLimiter])
    func `ipc-first-event-missed: a 410 is not lost, whoever dies while it is told`(_ service: ServiceName)
        throws
    {
        let (world, token) = try shown()
        // The phone has a new token that nobody is told of.
        _ = world.phones.rotate("p1", "a1", at: world.phonesNow, isToBeTold: { _ in false })
        update(world, 1)
        let isAnswered = try world.run(seconds: 5) {
            world.phones.arrivals.of(token: token).contains { $0.status == 410 }
        }
        #expect(isAnswered)
        for process in world.processes where process.instance.service == service {
            try world.kill(process.instance)
        }
        try world.run(seconds: 120)
        update(world, 2)
        try world.run(seconds: 60)
        let refused = world.phones.arrivals.of(token: token).filter { $0.status == 410 }
        // A gateway that dies with the answer asks once more.
        #expect(refused.count <= (service == .apnsGateway ? 2 : 1))
        #expect(refused.allSatisfy { $0.n == 1 })
        #expect(world.phones.violations == [])
        #expect(world.processes.allSatisfy { $0.keptCount == 0 })
    }

    @Test(arguments: ["update", "end"])
    func `the only phone, whose token died before its new one was registered, gets the newest state`(
        event: String
    ) throws {
        let (world, _) = try shown()
        let rotated = world.phones.rotate("p1", "a1", at: world.phonesNow, isToBeTold: { _ in false })
        let new = try #require(rotated)
        update(world, 1)
        try world.run(seconds: 20)
        notify(
            world, "updateLiveActivity",
            ["live_activity_id": "a1", "live_activity": ["event": event, "content-state": ["n": 2]]])
        try world.run(seconds: 20)
        #expect(world.phones.shown["p1"]?["a1"]?.n == [0])
        let request = ["hwid": "p1", "activity_id": "a1", "activity_token": new]
        world.tell(.init(method: "setActivityToken", request: request, token: new), phone: "p1")
        try world.run(seconds: 5)
        #expect(world.phones.shown["p1"]?["a1"]?.n == [0, 2])
        #expect(world.phones.shown["p1"]?["a1"]?.ended == (event == "end"))
        try world.run(seconds: 90)
        #expect(world.phones.violations == [])
        #expect(world.processes.allSatisfy { $0.keptCount == 0 })
    }

    @Test func `a ledger that is gone: what it had says that it is lost, and all goes on with new tokens`()
        throws
    {
        let (world, _) = try shown()
        world.own("POST", ["v1", "applications", World.application, "pause"]) {}
        try world.run(seconds: 5)
        var code = ""
        world.pushwoosh(
            "updateLiveActivity",
            [
                "auth": "k-test",
                "notifications": [
                    [
                        "live_activity_id": "a1",
                        "live_activity": ["event": "update", "content-state": ["n": 1]],
                    ]
                ],
            ]
        ) { _, response in code = (response["Messages"] as? [String])?.first ?? "" }
        try world.run(seconds: 70)
        #expect(try state(code, world) == "taken")
        try world.kill(world.registry.instance)
        world.registry.replaceStore(with: try Ledger(Database(.memory), seed: 2))
        try world.run(seconds: 150)
        #expect(try state(code, world) == "lost")
        #expect(world.logs.contains { $0.contains("messages-lost") })
        let rotated = world.phones.rotate("p1", "a1", at: world.phonesNow, isToBeTold: { _ in false })
        let token = try #require(rotated)
        world.tell(
            .init(
                method: "setActivityToken",
                request: ["hwid": "p1", "activity_id": "a1", "activity_token": token]), phone: "p1")
        try world.run(seconds: 3)
        update(world, 2)
        try world.run(seconds: 60) { world.phones.shown["p1"]?["a1"]?.n.last == 2 }
        #expect(world.phones.shown["p1"]?["a1"]?.n == [0, 2])
        #expect(world.phones.violations == [])
    }

    /// An activity that is about to start on 40 phones, of which two are a turn of the registry's.
    private func startingInSmallTurns() throws -> World {
        // What the world does under every third seed.
        let world = try World(seed: 3, faults: .none)
        let phones = (1...40).map { "p\($0)" }
        for phone in phones {
            let token = world.phones.add(phone)
            let request = ["hwid": phone, "activity_push_to_start_token": token]
            world.tell(.init(method: "setActivityPushToStartToken", request: request), phone: phone)
        }
        try world.run(seconds: 10)
        begin("a1", on: phones, in: world)
        return world
    }

    /// Neither the batch that the registry takes in over many turns, nor who waits for it, has to wait for a minute.
    @Test func `a store that fails while a batch is taken in has the rest of it come again at once`() throws {
        let world = try startingInSmallTurns()
        func rows() -> Int64 {
            let count = try? world.registry.store.database.first("SELECT count(*) FROM delivery") {
                $0.int(0)
            }
            return count ?? 0
        }
        #expect(try world.run(seconds: 5) { rows() > 10 })
        world.faults.fail = 1
        try world.run(seconds: 5) { world.failures > 0 }
        world.faults = .none
        #expect(rows() < 40)
        #expect(try world.run(seconds: 5) { world.phones.shown.values.count { $0["a1"] != nil } == 40 })
        try world.run(seconds: 90)
        #expect(!world.logs.contains { $0.contains("sent-again") })
        #expect(world.phones.violations == [])
    }

    @Test func `a store that fails every other time lets batches come to their end`() throws {
        let world = try startingInSmallTurns()
        try world.run(seconds: 0.1)
        world.faults.fail = 0.5
        #expect(try world.run(seconds: 120) { world.phones.shown.values.count { $0["a1"] != nil } == 40 })
        #expect(world.phones.violations == [])
    }

    private func state(_ code: String, _ world: World) throws -> String? {
        var state: String?
        world.state(of: code) { state = $0["state"] as? String }
        try world.run(seconds: 2) { state != nil }
        return state
    }
}
