import Foundation
import Store
import Testing
import Web

/// Situations of the stores, by their names, on the real executables.
@Suite(.serialized, .timeLimit(.minutes(10))) struct `Situations of the stores` {
    @Test func `db-cold-start: all come up at once in an empty directory, with the tools beside them`() throws
    {
        for _ in 1...50 {
            let fleet = try Fleet()
            try fleet.startSimulator()
            for service in Fleet.services { try fleet.start(service) }
            let check = try Program.run("liveline", ["check", fleet.configurationFile])
            #expect(check.code == 0, "\(check.output)")
            // It finds services that are not ready yet, and stores that are just being made: that is no damage.
            let tool = try Program.run("liveline", ["doctor", "--config", fleet.configurationFile])
            #expect([0, 1].contains(tool.code) && !tool.output.contains("damaged"), "\(tool)")
            for service in Fleet.services { try fleet.waitUntilReady(service) }
            for store in ["journal", "profiles", "ledger"] {
                let database = try Database(.file(fleet.dataDirectory + "/\(store).sqlite"))
                #expect(try database.integrityCheck() == [])
            }
            for service in Fleet.services { #expect(try fleet.stop(service) == 0) }
        }
    }

    /// A push that APNs has read and not answered, when the gateway dies; the number of repeats by event.
    @Test func `db-killed-between-send-and-mark: a push comes twice at most, as the same push`() throws {
        let fleet = try Fleet(delivery: #"{"intervalSeconds":0}"#)
        try fleet.startAll(simulator: ["--ended-token-s", "60"])
        try fleet.addPhones(1)
        var codes: [String] = []
        for (event, request) in [
            ("start", fleet.start("a1", on: "p1")), ("update", fleet.update("a1", 1)),
            ("end", fleet.update("a1", 2, event: "end")),
        ] {
            let before = try arrivals(fleet).count
            try fleet.control(
                "POST", "/script",
                #"{"action":"never","deliver":true,"count":1,"match":{"event":"\#(event)"}}"#)
            codes += try fleet.accepted([request])
            try fleet.wait(for: "the \(event) to arrive") { try self.arrivals(fleet).count > before }
            try fleet.kill9("apns-gateway")
            try fleet.control("DELETE", "/script")
            try fleet.start("apns-gateway")
            let outcomes = try fleet.outcomes([codes[codes.count - 1]])
            let told = try deliveries(codes[codes.count - 1], fleet)
            // A start whose activity has registered its token by then is not sent again.
            let isThere =
                event == "start" && outcomes == ["superseded": 1] && told.contains("already-running")
            #expect(outcomes == ["delivered": 1] || isThere, "\(event) \(told)")
            let ids = try arrivals(fleet)[before...].map { $0 }
            #expect((1...2).contains(ids.count) && Set(ids).count == 1, "\(event): \(ids)")
        }
        #expect(Set(try arrivals(fleet)).count == 3)
    }

    @Test func `db-killed-between-send-and-mark: of two states only the newer goes again`() throws {
        let fleet = try Fleet(delivery: #"{"intervalSeconds":0}"#)
        try fleet.startAll()
        try fleet.addPhones(1)
        _ = try fleet.outcomes(try fleet.accepted([fleet.start("a1", on: "p1")]))
        try fleet.control(
            "POST", "/script", #"{"action":"never","deliver":true,"count":1,"match":{"event":"update"}}"#)
        let older = try fleet.accepted([fleet.update("a1", 1)])
        try fleet.wait(for: "the update to arrive") { try self.arrivals(fleet).count == 2 }
        let newer = try fleet.accepted([fleet.update("a1", 2)])
        try fleet.kill9("apns-gateway")
        try fleet.start("apns-gateway")
        #expect(try fleet.outcomes(newer) == ["delivered": 1])
        let outcomes = try fleet.outcomes(older)
        let told = try deliveries(older[0], fleet)
        #expect(outcomes == ["superseded": 1], "\(told)")
        try fleet.waitUntilShown(2, on: "p1")
        #expect(try arrivals(fleet).count == 3)
    }

    private func deliveries(_ code: String, _ fleet: Fleet) throws -> String {
        try fleet.door("GET", "/v1/messages/\(code)/deliveries").body
    }

    /// The `apns-id` of each push that arrived, in order.
    private func arrivals(_ fleet: Fleet) throws -> [String] {
        try fleet.control("GET", "/arrivals?limit=1000").matches(of: /"apnsId":"([^"]+)"/).map {
            String($0.1)
        }
    }

    @Test(.enabled(if: Disk.canBeMade, "only root can mount a small disk"))
    func `db-disk-full: nothing accepted is lost, and all works again with room`() throws {
        let disk = try Disk(mebibytes: 4)
        let fleet = try Fleet(dataDirectory: disk.path, delivery: #"{"intervalSeconds":1}"#)
        try fleet.startAll()
        try fleet.addPhones(20)
        var codes = try fleet.accepted((1...20).map { fleet.start("a\($0)", on: "p\($0)") })
        try disk.fill(leavingKibibytes: 1_024)
        var refused = 0
        var problems: Set<String> = []
        var n = 0
        let end = Date(timeIntervalSinceNow: 15)
        while refused < 200, Date() < end {
            n += 1
            let state = String(repeating: "x", count: 2_000)
            for answer in fleet.calls((1...20).map { fleet.update("a\($0)", n, filler: state) }) {
                if let code = Fleet.code(answer) { codes.append(code) } else { refused += 1 }
                if let answer, answer.status != 200 { problems.insert("\(answer.status) \(answer.body)") }
            }
        }
        #expect(refused >= 200)
        #expect(
            !problems.isEmpty && problems.allSatisfy { $0.hasPrefix("503") && $0.contains("storage") },
            "\(problems)")
        for store in ["journal", "profiles", "ledger"] {
            let log = try FileManager.default.attributesOfItem(atPath: disk.path + "/\(store).sqlite-wal")
            // An eighth of the disk, and what one round of the loop adds.
            #expect(try #require(log[.size] as? Int) < 1 << 20, "\(store)")
        }
        let read = try fleet.door("GET", "/v1/messages/\(codes[0])")
        #expect(read.status == 200)
        try disk.fill(leavingKibibytes: 0)
        // Nobody takes what is accepted, so that no page becomes free.
        fleet.signal("segmenter", SIGSTOP)
        var rounds = 0
        while rounds < 100, try isRegistrationTaken(fleet, rounds) { rounds += 1 }
        #expect(rounds < 100, "registrations are taken as long as anything can be written")
        for _ in 1...10 {
            // Turns that write nothing go by in between, and say nothing about the disk.
            Thread.sleep(forTimeInterval: 0.3)
            if let code = Fleet.code(fleet.calls([fleet.update("a1", n)])[0]) { codes.append(code) }
        }
        let recoveries = try fleet.log("ingest").components(separatedBy: "store-recovered").count - 1
        #expect(recoveries <= 1)
        fleet.signal("segmenter", SIGCONT)
        disk.free()
        try fleet.wait(for: "room to be noticed") {
            Fleet.code(fleet.calls([fleet.update("a1", n + 1)])[0]) != nil
        }
        codes += try fleet.accepted((1...20).map { fleet.update("a\($0)", n + 2) })
        let outcomes = try fleet.outcomes(codes)
        #expect(outcomes.values.reduce(0, +) == codes.count)
        #expect(Set(outcomes.keys).isSubset(of: ["delivered", "superseded"]), "\(outcomes)")
        for phone in 1...20 { try fleet.waitUntilShown(n + 2, on: "p\(phone)") }
        for service in Fleet.services { #expect(fleet.isRunning(service)) }
        for service in Fleet.services { #expect(try fleet.stop(service) == 0) }
        for store in ["journal", "profiles", "ledger"] {
            #expect(try Database(.file(disk.path + "/\(store).sqlite")).integrityCheck() == [])
        }
    }

    /// Has a phone tell much of itself; false where the disk has no room for that.
    private func isRegistrationTaken(_ fleet: Fleet, _ round: Int) throws -> Bool {
        let word = String(repeating: "t", count: 200)
        let tags = (1...10).map { tag in #""x\#(tag)":"\#(word)\#(round)""# }.joined(separator: ",")
        let call = fleet.phoneRequest("setTags", "p1", #""tags":{\#(tags)}"#)
        let answers = fleet.calls(Array(repeating: call, count: 20)).compactMap { $0 }
        let refused = answers.filter { $0.status != 200 }
        #expect(refused.allSatisfy { $0.status == 503 && $0.body.contains("storage is full") }, "\(refused)")
        return refused.isEmpty
    }
}
