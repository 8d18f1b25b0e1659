import Contracts
import Service
import Store
import Testing

@testable import ingest

/// How what was imported goes on to the services that need it.
@Suite struct ImportReleaseTests {
    /// Hands in a piece of an import, as the adapter does.
    @discardableResult
    private func take(_ bench: Bench, _ devices: [String], application: String = "AAAAA-00001") throws
        -> ImportOutcome?
    {
        let token = application == "AAAAA-00001" ? "k-test" : "k-other"
        let call = HTTPCall(
            id: 900, method: "POST", path: ["v1", "applications", application, "devices:import"],
            headers: [.init(name: "Authorization", value: "Bearer \(token)")])
        let lines = devices.enumerated().map { number, device in
            ImportPiece.Line(
                number: number + 1,
                text: Array(#"{"hwid":"\#(device)","push_to_start_tokens":[{"token":"5a5a"}]}"#.utf8))
        }
        try bench.step(.external(.importing(ImportPiece(call: call, lines: lines))))
        return bench.imported.last?.outcome
    }

    private func taken(_ bench: Bench, _ sequence: Int64, _ services: ServiceName...) throws {
        for service in services {
            try bench.hear(.taken(.registration(sequence: sequence, by: service)), from: service)
        }
    }

    private func names(_ prefix: String, _ count: Int) -> [String] { (0..<count).map { "\(prefix)-\($0)" } }

    @Test func `a piece is journalled and released in groups, to each service what is for it`() throws {
        let bench = try Bench()
        #expect(try take(bench, names("a", 150)) == .committed(ImportTally(lines: 150, accepted: 150)))
        #expect(bench.core.backlog.total.registrations == 300)
        let first = try bench.turn().groups
        #expect(first.map(\.entries.count) == [100, 200])
        #expect(first.map(\.sequence) == [1, 1])
        #expect(bench.core.nextTurnMilliseconds(after: bench.now) == 0)
        let second = try bench.turn().groups
        #expect(second.map(\.entries.count) == [50, 100])
        #expect(second.map(\.sequence) == [201, 201])
        #expect(try bench.turn().isEmpty)
        try taken(bench, 201, .segmenter, .tokenRegistry)
        try taken(bench, 1, .tokenRegistry)
        #expect(bench.core.backlog.total.registrations == 200)
        try taken(bench, 1, .segmenter, .segmenter)
        #expect(bench.core.backlog.total.registrations == 0)
        #expect(bench.core.release.count == 0)
        #expect(try bench.journal.waitingRegistrationCounts().isEmpty)
        #expect(try bench.journal.group(1) == nil)
    }

    @Test func `the registrations of one device go one after the other, the later one wins`() throws {
        let bench = try Bench()
        try bench.phone("setTags", #""tags":{"n":1}"#, device: "a-0")
        try take(bench, ["a-0", "a-1"])
        try bench.phone("setTags", #""tags":{"n":2}"#, device: "a-1")
        try bench.phone("setTags", #""tags":{"n":3}"#, device: "b")
        let sent = try bench.turn()
        // The group waits for its device at the segmenter, not at the registry; a later single of it for the group.
        #expect(sent.registrations.map(\.sequence) == [1, 7])
        #expect(sent.groups.map(\.entries.count) == [4])
        try taken(bench, 1, .segmenter)
        #expect(try bench.turn().groups.map(\.entries.count) == [2])
        #expect(try bench.turn().isEmpty)
        try taken(bench, 2, .segmenter)
        #expect(try bench.turn().registrations.map(\.sequence) == [6])
    }

    @Test func `a start waits for the import of its application before it, another application's does not`()
        throws
    {
        let bench = try Bench()
        try take(bench, ["a"])
        try bench.start()
        try take(bench, ["b"], application: "BBBBB-00002")
        #expect(try bench.turn().commands.isEmpty)
        try taken(bench, 1, .segmenter, .tokenRegistry)
        #expect(try bench.turn().commands.map(\.sequence) == [3])
    }

    @Test func `an update waits for an imported token of its activity`() throws {
        let bench = try Bench()
        let line = #"{"hwid":"a","activity_tokens":[{"token":"a1a1","live_activity_id":"ord-12"}]}"#
        _ = try bench.call(
            "POST", "/v1/applications/AAAAA-00001/devices:import", line, [("Authorization", "Bearer k-test")])
        try bench.update()
        #expect(try bench.turn().commands.isEmpty)
        try taken(bench, 1, .tokenRegistry)
        #expect(try bench.turn().commands.count == 1)
    }

    @Test func `singles of every application go before an import, which has one group a turn`() throws {
        let bench = try Bench()
        for _ in 0..<5 { try take(bench, names("a\(bench.now.monotonic)", 100)); bench.advance(seconds: 1) }
        try bench.phone("setTags", #""tags":{"n":1}"#, device: "single")
        let sent = try bench.turn()
        let toSegmenter = sent.filter { $0.window != nil }
        #expect(toSegmenter.first == .registration(try #require(sent.registrations.first)))
        #expect(sent.groups.count == 2)
    }

    @Test func `an import leaves room in a window for singles of its own application`() throws {
        let bench = try Bench()
        for number in 0..<4 { try take(bench, names("a\(number)", 100)) }
        var places: [Room.Place] = []
        var used = 0
        for _ in 0..<4 {
            places = [
                Room.Place(
                    instance: InstanceName(.tokenRegistry), windows: Windows(),
                    used: [.registrations: used], usedByAccount: [.registrations: ["AAAAA-00001": used]])
            ]
            let sent = try bench.turn(Room(places: places, settledServices: []))
            used += sent.groups.reduce(0) { $0 + $1.entries.count }
        }
        #expect(used == 400)
        try bench.phone("registerDevice", "", device: "single")
        let room = Room(places: places, settledServices: [])
        #expect(room.free(.registrations, at: InstanceName(.tokenRegistry), account: "AAAAA-00001") == 100)
        #expect(try bench.turn(room).registrations.map(\.device) == ["single"])
    }

    @Test func `an import waits while too much of its application waits, another's goes on`() throws {
        var limits = IngestLimits()
        limits.importWaitingMax = 4
        let bench = try Bench(limits: limits)
        #expect(try take(bench, ["a", "b"]) == .committed(ImportTally(lines: 2, accepted: 2)))
        #expect(try take(bench, ["c"]) == .waits)
        #expect(try take(bench, ["c"], application: "BBBBB-00002") != .waits)
        #expect(try bench.phone("setTags", #""tags":{"n":1}"#).code == 200)
        try taken(bench, 1, .segmenter, .tokenRegistry)
        #expect(try take(bench, ["c"]) == .committed(ImportTally(lines: 1, accepted: 1)))
    }

    @Test func `a restart in the middle goes on with what was accepted and not taken, in its order`() throws {
        try withDirectory { directory in
            let bench = try Bench(at: .file("\(directory)/journal.sqlite"))
            try bench.phone("setTags", #""tags":{"n":1}"#, device: "a-0")
            try take(bench, names("a", 100))
            try bench.start()
            try take(bench, ["b"])
            _ = try bench.turn()
            try taken(bench, 2, .tokenRegistry)
            try bench.restart()
            #expect(bench.core.backlog.total.registrations == 1 + 200 + 2)
            let sent = try bench.turn()
            #expect(sent.registrations.map(\.sequence) == [1])
            #expect(sent.groups.map(\.sequence) == [203, 203])
            try taken(bench, 1, .segmenter)
            #expect(try bench.turn().groups.map(\.sequence) == [2])
            try taken(bench, 2, .segmenter)
            #expect(try bench.turn().commands.map(\.sequence) == [202])
        }
    }

    @Test func `what a failed transaction had read is not sent under a sequence that is given out again`()
        throws
    {
        let bench = try Bench()
        func group(_ device: String) throws -> RegistrationGroup {
            RegistrationGroup(
                sequence: try bench.journal.nextSequence(), application: "AAAAA-00001",
                acceptedAtMilliseconds: 0,
                entries: [.init(sequence: 1, device: device, change: .unregister)])
        }
        try bench.journal.begin()
        _ = try bench.journal.insert(try group("lost"))
        #expect(try bench.journal.group(1)?.entries.first?.device == "lost")
        try bench.journal.rollback()
        try bench.journal.begin()
        _ = try bench.journal.insert(try group("kept"))
        try bench.journal.commit()
        #expect(try bench.journal.group(1)?.entries.first?.device == "kept")
    }

    @Test func `a push-to-start token that is imported again lives again`() throws {
        let bench = try Bench()
        try bench.phone("setActivityPushToStartToken", #""activity_push_to_start_token":"\#(Bench.startA)""#)
        var fact = Fact(
            number: 1, application: "AAAAA-00001", kind: .tokenDied, registrationSequence: 1)
        fact.token = Bench.startA
        try bench.hear(.fact(fact))
        #expect(try bench.fcm(Bench.fcmStart).status == 404)
        let line = #"{"hwid":"dev-1","push_to_start_tokens":[{"token":"\#(Bench.startA)"}]}"#
        _ = try bench.call(
            "POST", "/v1/applications/AAAAA-00001/devices:import", line, [("Authorization", "Bearer k-test")])
        #expect(try bench.fcm(Bench.fcmStart).status == 200)
    }
}
