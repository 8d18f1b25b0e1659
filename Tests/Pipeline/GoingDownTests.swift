import Foundation
import Testing
import Web

/// Services that stop, stand still and come back, on the real executables.
@Suite(.serialized, .timeLimit(.minutes(10))) struct `Going down and coming back` {
    static let phones = 10

    /// Phones that each show an activity.
    private func shown(delivery: String = #"{"intervalSeconds":0}"#) throws -> Fleet {
        let fleet = try Fleet(delivery: delivery)
        try fleet.startAll()
        try fleet.addPhones(Self.phones)
        let starts = try fleet.accepted((1...Self.phones).map { fleet.start("a\($0)", on: "p\($0)") })
        #expect(try fleet.outcomes(starts) == ["delivered": Self.phones])
        return fleet
    }

    /// Updates of all activities in turn, each with a greater `n` than those before it.
    private func load(_ fleet: Fleet, from first: Int = 1, count: Int = 4_000) -> Load {
        Load((first..<first + count).map { fleet.update("a\($0 % Self.phones + 1)", $0) })
    }

    /// Everything that was accepted has its outcome, and each phone gets the newest state.
    private func requireAll(_ codes: [String], _ fleet: Fleet, newest n: Int, duplicatesMax: Int) throws {
        let last = try fleet.accepted((1...Self.phones).map { fleet.update("a\($0)", n) })
        let outcomes = try fleet.outcomes(codes + last, seconds: 120)
        #expect(outcomes.values.reduce(0, +) == codes.count + Self.phones)
        #expect(Set(outcomes.keys).isSubset(of: ["delivered", "superseded"]), "\(outcomes)")
        for phone in 1...Self.phones { try fleet.waitUntilShown(n, on: "p\(phone)") }
        let counters = try fleet.control("GET", "/counters")
        let duplicates = try #require(counters.firstMatch(of: /"duplicates":(\d+)/)).1
        #expect(try #require(Int(duplicates)) <= duplicatesMax, "\(counters)")
    }

    @Test func `a stand-by that is told to reload works by the new configuration when its turn comes`() throws
    {
        let fleet = try Fleet()
        try fleet.startAll()
        let resume = "/v1/applications/AAAAA-00001/resume"
        #expect(try fleet.door("POST", resume).status == 200)
        try fleet.start("ingest", as: "standby", ["--instance", "2"])
        try fleet.wait(for: "a stand-by") { try fleet.log("standby").contains("standing-by") }
        let file = URL(filePath: fleet.configurationFile)
        let former = try String(contentsOf: file, encoding: .utf8)
        try Data(former.replacing("k-test", with: "k-next").utf8).write(to: file)
        fleet.signal("standby", SIGHUP)
        fleet.signal("ingest", SIGHUP)
        try fleet.wait(for: "a reload") { try fleet.log("ingest").contains("reloaded") }
        #expect(try fleet.door("POST", resume).status == 401)
        try fleet.kill9("ingest")
        try fleet.wait(for: "its turn") { try fleet.log("standby").contains(" ready") }
        #expect(try fleet.door("POST", resume).status == 401, "a token that was withdrawn")
    }

    @Test func `SIGTERM under load with all neighbours gone ends each service in time, and loses nothing`()
        throws
    {
        let fleet = try shown()
        var codes: [String] = []
        var n = 1
        for service in Fleet.services {
            let load = load(fleet, from: n)
            try fleet.wait(for: "load") { load.accepted >= 30 }
            for other in Fleet.services where other != service { try fleet.kill9(other) }
            fleet.signal(service, SIGTERM)
            #expect(try fleet.exitCode(service, withinSeconds: 7) == 0, "\(service)")
            let (accepted, calls) = try load.stop()
            codes += accepted
            n += calls
            for service in Fleet.services { try fleet.start(service) }
            for service in Fleet.services { try fleet.waitUntilReady(service) }
        }
        // Four of the five rounds kill the gateway, with what it has on the wire then.
        try requireAll(codes, fleet, newest: n + 1, duplicatesMax: 4 * Self.phones)
    }

    @Test func `a second SIGTERM ends the gateway at once, while it waits for APNs`() throws {
        let fleet = try shown()
        fleet.signal(Fleet.simulator, SIGSTOP)
        let codes = try fleet.accepted([fleet.update("a1", 1)])
        try fleet.wait(for: "the push to be on the wire") { try fleet.waiting("apns-gateway") == 1 }
        fleet.signal("apns-gateway", SIGTERM)
        Thread.sleep(forTimeInterval: 0.7)
        #expect(fleet.isRunning("apns-gateway"))
        fleet.signal("apns-gateway", SIGTERM)
        #expect(try fleet.exitCode("apns-gateway", withinSeconds: 2) == 0)
        fleet.signal(Fleet.simulator, SIGCONT)
        try fleet.start("apns-gateway")
        #expect(try fleet.outcomes(codes) == ["delivered": 1])
    }

    @Test func `two SIGTERMs that come together end all that was started, in order and without killing`()
        throws
    {
        let pipeline = try RunningPipeline()
        try pipeline.addPhone()
        #expect(try pipeline.stop(again: 0.01) == 0)
        // The last lines may still be on their way to here.
        try pipeline.wait("six ends") { pipeline.count("liveline info ended") == 6 }
        #expect(pipeline.count(" code=0") == 6, "\(pipeline.log)")
    }

    @Test func `each service is stopped and started again under load, and nothing is lost or comes twice`()
        throws
    {
        let fleet = try shown()
        let load = load(fleet)
        for service in Fleet.services {
            let before = load.accepted
            if service != "ingest" { try fleet.wait(for: "load") { load.accepted >= before + 30 } }
            #expect(try fleet.stop(service, withinSeconds: 7) == 0, "\(service)")
            try fleet.start(service)
            try fleet.waitUntilReady(service)
        }
        let before = load.accepted
        try fleet.wait(for: "load") { load.accepted >= before + 30 }
        let (codes, calls) = try load.stop()
        try requireAll(codes, fleet, newest: calls + 1, duplicatesMax: 0)
    }

    @Test func `all are stopped and started again under load, and nothing is lost or comes twice`() throws {
        let fleet = try Fleet(delivery: #"{"intervalSeconds":0}"#)
        try fleet.startSimulator()
        try fleet.up()
        try fleet.addPhones(Self.phones)
        let starts = try fleet.accepted((1...Self.phones).map { fleet.start("a\($0)", on: "p\($0)") })
        #expect(try fleet.outcomes(starts) == ["delivered": Self.phones])
        // Something of each activity is on the wire all the time.
        try fleet.control("POST", "/script", #"{"action":"pass","delayMilliseconds":150}"#)
        let load = load(fleet)
        for _ in 1...3 {
            let before = load.accepted
            try fleet.wait(for: "load") { load.accepted >= before + 60 }
            #expect(try fleet.stop("up") == 0)
            try fleet.up()
        }
        let (codes, calls) = try load.stop()
        try requireAll(codes, fleet, newest: calls + 1, duplicatesMax: 0)
    }

    /// A hello is missed five times in a row after five seconds: then a neighbour is gone for the others.
    @Test
    func `each service that stands still for longer than its neighbours wait goes on as if nothing were`()
        throws
    {
        let fleets = try Fleet.services.map { service in
            (
                service: service,
                fleet: try shown(
                    delivery: #"{"intervalSeconds":0,"sendBeforeSeconds":2,"answerDeadlineSeconds":3}"#)
            )
        }
        let loads = fleets.map { load($0.fleet) }
        for (service, fleet) in fleets { fleet.signal(service, SIGSTOP) }
        Thread.sleep(forTimeInterval: 7)
        for (service, fleet) in fleets { fleet.signal(service, SIGCONT) }
        for ((service, fleet), load) in zip(fleets, loads) {
            let (codes, calls) = try load.stop()
            try requireAll(codes, fleet, newest: calls + 1, duplicatesMax: 0)
            #expect(try fleet.stop(service) == 0)
        }
    }

    @Test(arguments: Fleet.services)
    func `a second process of one name is refused, whatever the first one does, and leaves it alone`(
        _ service: String
    )
        throws
    {
        let fleet = try Fleet()
        try fleet.startSimulator()
        try fleet.start(service)
        try fleet.wait(for: "a ready line") { try fleet.log(service).contains(" ready") }
        for hold in [false, true] {
            if hold { fleet.signal(service, SIGSTOP) }
            try fleet.start(service, as: "second")
            #expect(try fleet.exitCode("second") == 75)
            #expect(try fleet.log("second").contains("another \(service).1 runs"))
        }
        fleet.signal(service, SIGCONT)
        let request = HTTPClientRequest(
            url: "http://localhost/healthz", timeoutMilliseconds: 2_000,
            unixSocketPath: "\(fleet.runDirectory)/\(service).1.admin")
        #expect(try HTTPClient.perform(request).status == 200)
        #expect(try fleet.stop(service) == 0)
    }

    @Test(arguments: ["ingest", "token-registry"])
    func `who loses the lock of its store goes before another works at it for long`(_ service: String) throws
    {
        let fleet = try Fleet()
        try fleet.startSimulator()
        try fleet.start(service)
        try fleet.wait(for: "a ready line") { try fleet.log(service).contains(" ready") }
        try FileManager.default.removeItem(atPath: "\(fleet.dataDirectory)/\(service).lock")
        #expect(try fleet.exitCode(service, withinSeconds: 5) == 75)
        #expect(try fleet.log(service).contains("\(service).lock is gone"))
    }

    @Test func `who stands by goes when the lock of its name is lost`() throws {
        let fleet = try Fleet()
        try fleet.startSimulator()
        try fleet.start("ingest")
        try fleet.wait(for: "a ready line") { try fleet.log("ingest").contains(" ready") }
        try fleet.start("ingest", as: "standby", ["--instance", "2"])
        try fleet.wait(for: "a stand-by") { try fleet.log("standby").contains("standing-by") }
        try FileManager.default.removeItem(atPath: "\(fleet.runDirectory)/ingest.2.lock")
        #expect(try fleet.exitCode("standby", withinSeconds: 5) == 75)
        #expect(try fleet.log("standby").contains("ingest.2.lock is gone"))
    }
}

extension Fleet {
    /// How many pieces of work a service has that are not done.
    fileprivate func waiting(_ service: String) throws -> Int? {
        let answer = try HTTPClient.perform(
            HTTPClientRequest(
                url: "http://localhost/metrics", timeoutMilliseconds: 2_000,
                unixSocketPath: "\(runDirectory)/\(service).1.admin"))
        let text = String(decoding: answer.body, as: UTF8.self)
        return text.firstMatch(of: /liveline_waiting (\d+)/).flatMap { Int($0.1) }
    }
}
