import Foundation
import Store
import Testing
import Web

/// Stores that are damaged, gone, newer than the program, or on a disk that takes no writes, on the real executables.
@Suite(.serialized, .timeLimit(.minutes(10))) struct `Stores in trouble` {
    static let stores = [
        (service: "ingest", name: "journal"), (service: "segmenter", name: "profiles"),
        (service: "token-registry", name: "ledger"),
    ]

    private func path(_ name: String, _ fleet: Fleet) -> String { "\(fleet.dataDirectory)/\(name).sqlite" }

    /// Runs a service until it is ready, and stops it.
    private func makeStore(_ service: String, _ fleet: Fleet) throws {
        try fleet.start(service)
        try fleet.wait(for: "a ready line") { try fleet.log(service).contains(" ready") }
        #expect(try fleet.stop(service) == 0)
    }

    /// All services, with one activity that is shown on one phone.
    private func startedFleet() throws -> (Fleet, codes: [String]) {
        let fleet = try Fleet(delivery: #"{"intervalSeconds":0}"#)
        try fleet.startAll()
        try fleet.addPhones(1)
        let codes = try fleet.accepted([fleet.start("a1", on: "p1")])
        #expect(try fleet.outcomes(codes) == ["delivered": 1])
        return (fleet, codes)
    }

    @Test(arguments: stores)
    func
        `a damaged store, a newer one and something else at its place are refused by name, and left as they are`(
            _ store: (service: String, name: String)
        ) throws
    {
        let fleet = try Fleet()
        try makeStore(store.service, fleet)
        let path = path(store.name, fleet)
        let sound = try Data(contentsOf: URL(filePath: path))
        func requireRefusal(_ words: String, _ content: Data) throws {
            for _ in 1...2 {
                try fleet.start(store.service)
                #expect(try fleet.exitCode(store.service) == 69)
            }
            let line = try #require(fleet.log(store.service).split(separator: "\n").last)
            #expect(line.contains("\(store.service).1 error store ") && line.contains(words), "\(line)")
            #expect(try Data(contentsOf: URL(filePath: path)) == content)
        }
        let noise = Data((0..<8_192).map { UInt8(truncatingIfNeeded: $0 &* 31) })
        try noise.write(to: URL(filePath: path))
        try requireRefusal("file is not a database", noise)

        let torn = sound.prefix(100) + Data(count: sound.count - 100)
        try torn.write(to: URL(filePath: path))
        try requireRefusal("malformed", torn)

        try sound.write(to: URL(filePath: path))
        do {
            let database = try Database(.file(path))
            try database.run("PRAGMA user_version = 9999")
        }
        let newer = try Data(contentsOf: URL(filePath: path))
        try requireRefusal("a newer program wrote it", newer)

        try FileManager.default.removeItem(atPath: path)
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
        try fleet.start(store.service)
        #expect(try fleet.exitCode(store.service) == 69)
        #expect(try fleet.log(store.service).contains("unable to open database file"))

        // With the sound one back in its place all goes on.
        try FileManager.default.removeItem(atPath: path)
        try sound.write(to: URL(filePath: path))
        try makeStore(store.service, fleet)
    }

    @Test(.enabled(if: Disk.canBeMade, "only root can mount a small disk"))
    func `a disk that takes no writes lets nobody start, and what was accepted goes on when it does again`()
        throws
    {
        let disk = try Disk(mebibytes: 16)
        let fleet = try Fleet(dataDirectory: disk.path, delivery: #"{"intervalSeconds":0}"#)
        try fleet.startAll()
        try fleet.addPhones(5)
        fleet.signal("rate-limiter", SIGSTOP)
        let codes = try fleet.accepted((1...5).map { fleet.start("a\($0)", on: "p\($0)") })
        for service in Fleet.services.reversed() where service != "rate-limiter" {
            #expect(try fleet.stop(service) == 0, "\(service)")
        }
        try disk.remount(isReadOnly: true)
        for store in Self.stores {
            try fleet.start(store.service)
            #expect(try fleet.exitCode(store.service) == 69)
            let log = try fleet.log(store.service)
            let isNamed = log.contains("ead-only") || log.contains("unable to open database file")
            #expect(isNamed, "\(store.service): \(log.suffix(400))")
        }
        try disk.remount(isReadOnly: false)
        fleet.signal("rate-limiter", SIGCONT)
        for service in Fleet.services where service != "rate-limiter" { try fleet.start(service) }
        for service in Fleet.services { try fleet.waitUntilReady(service) }
        #expect(try fleet.outcomes(codes) == ["delivered": 5])
    }

    @Test
    func `a store that another program keeps locked: 503, reading goes on, and who is told to stop does`()
        throws
    {
        let (fleet, codes) = try startedFleet()
        var locks: [Database] = []
        for store in Self.stores {
            let lock = try Database(.file(path(store.name, fleet)))
            try lock.run("BEGIN EXCLUSIVE")
            locks.append(lock)
        }
        for n in 1...3 {
            let answer = try #require(fleet.calls([fleet.update("a1", n)])[0])
            #expect(answer.status == 503 && answer.body.contains("busy"), "\(answer)")
            let began = ContinuousClock.now
            #expect(try fleet.door("GET", "/v1/messages/\(codes[0])").status == 200)
            #expect(try fleet.door("GET", "/healthz").status == 200)
            #expect(ContinuousClock.now - began < .seconds(3))
        }
        for service in ["apns-gateway", "rate-limiter"] {
            #expect(try !fleet.log(service).contains("neighbour-gone"), "\(service)")
        }
        // The door keeps what comes meanwhile; the others have it when the locks are gone.
        for lock in locks { try lock.rollback() }
        try fleet.wait(for: "an update to be accepted") {
            fleet.calls([fleet.update("a1", 9)])[0]?.status == 200
        }
        try fleet.waitUntilShown(9, on: "p1")
        for store in Self.stores {
            let lock = try Database(.file(path(store.name, fleet)))
            try lock.run("BEGIN EXCLUSIVE")
            #expect(try fleet.stop(store.service, withinSeconds: 10) == 0, "\(store.service)")
        }
    }

    @Test(.enabled(if: ErringDisk.canBeMade, "needs root, loop devices and ext4"))
    func
        `a disk that takes no more writes while all runs: 503, reading goes on, and nothing accepted is lost`()
        throws
    {
        let disk = try ErringDisk(mebibytes: 32)
        let fleet = try Fleet(dataDirectory: disk.path, delivery: #"{"intervalSeconds":0}"#)
        try fleet.startAll()
        try fleet.addPhones(5)
        let codes = try fleet.accepted((1...5).map { fleet.start("a\($0)", on: "p\($0)") })
        #expect(try fleet.outcomes(codes) == ["delivered": 5])
        fleet.signal("rate-limiter", SIGSTOP)
        let held = try fleet.accepted((1...5).map { fleet.update("a\($0)", 1) })
        try disk.err()
        fleet.signal("rate-limiter", SIGCONT)
        for n in 2...4 {
            let answer = try #require(fleet.calls([fleet.update("a1", n)])[0])
            #expect(answer.status == 503 && answer.body.contains("storage"), "\(answer)")
            #expect(try fleet.door("GET", "/v1/messages/\(held[0])").status == 200)
        }
        for service in Fleet.services { #expect(fleet.isRunning(service), "\(service)") }
        for service in Fleet.services.reversed() { #expect(try fleet.stop(service) == 0, "\(service)") }
        try disk.repair()
        for service in Fleet.services { try fleet.start(service) }
        for service in Fleet.services { try fleet.waitUntilReady(service) }
        let later = try fleet.accepted([fleet.update("a1", 5)])
        let outcomes = try fleet.outcomes(held + later)
        #expect(
            outcomes.values.reduce(0, +) == 6 && Set(outcomes.keys).isSubset(of: ["delivered", "superseded"]))
        try fleet.waitUntilShown(5, on: "p1")
        for phone in 2...5 { try fleet.waitUntilShown(1, on: "p\(phone)") }
        for service in Fleet.services.reversed() { #expect(try fleet.stop(service) == 0) }
        for store in Self.stores {
            #expect(try Database(.file("\(disk.path)/\(store.name).sqlite")).integrityCheck() == [])
        }
    }

    @Test func `a journal that is a copy of former days hears how that has ended which it sends again`()
        throws
    {
        let fleet = try Fleet(delivery: #"{"intervalSeconds":0}"#)
        try fleet.startAll()
        try fleet.addPhones(3)
        fleet.signal("segmenter", SIGSTOP)
        let codes = try fleet.accepted((1...3).map { fleet.start("a\($0)", on: "p\($0)") })
        #expect(try fleet.stop("ingest") == 0)
        let file = URL(filePath: path("journal", fleet))
        let copy = try Data(contentsOf: file)
        try fleet.start("ingest")
        fleet.signal("segmenter", SIGCONT)
        try fleet.waitUntilReady("ingest")
        #expect(try fleet.outcomes(codes) == ["delivered": 3])
        #expect(try fleet.stop("ingest") == 0)

        try copy.write(to: file)
        try? FileManager.default.removeItem(atPath: file.path + "-wal")
        try fleet.start("ingest")
        try fleet.waitUntilReady("ingest")
        #expect(try fleet.outcomes(codes) == ["delivered": 3])
        let counters = try fleet.control("GET", "/counters")
        #expect(counters.contains(#""duplicates":0,"#), "\(counters)")
    }

    @Test(arguments: ["journal.sqlite", "journal.sqlite-wal"])
    func `nothing is accepted into a journal that was removed`(_ name: String)
        throws
    {
        let (fleet, _) = try startedFleet()
        try FileManager.default.removeItem(atPath: "\(fleet.dataDirectory)/\(name)")
        for n in 1...2 {
            let answer = try #require(fleet.calls([fleet.update("a1", n)])[0])
            #expect(answer.status == 503 && answer.body.contains("storage"), "\(answer)")
        }
        #expect(try fleet.log("ingest").contains("removed or replaced while the store is open"))
        #expect(try fleet.stop("ingest", withinSeconds: 7) == 0)
        guard name == "journal.sqlite" else { return try requireOnlyWhatIsAccepted(fleet) }

        // The new journal gives no number that the ledger knows, or the ledger would take new work for old.
        try fleet.start("ingest")
        try fleet.waitUntilReady("ingest")
        let again = try fleet.accepted((2...7).map { fleet.start("a\($0)", on: "p1") })
        #expect(try fleet.outcomes(again) == ["delivered": 6])
    }

    /// What was answered 503 does not appear when the journal is opened again, and what is accepted then goes on.
    private func requireOnlyWhatIsAccepted(_ fleet: Fleet) throws {
        try fleet.start("ingest")
        try fleet.waitUntilReady("ingest")
        let codes = try fleet.accepted([fleet.update("a1", 9)])
        #expect(try fleet.outcomes(codes) == ["delivered": 1])
        let counters = try fleet.control("GET", "/counters")
        #expect(counters.contains(#""update":{"updated":1}"#), "\(counters)")
    }
}
