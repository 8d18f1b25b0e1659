import Contracts
import Service
import Store
import Testing

@testable import ingest

/// The order in which accepted work goes.
@Suite struct ReleaseTests {
    private func sequences(_ messages: [Message]) -> [Int64] {
        messages.compactMap {
            switch $0 {
            case .command(let command): command.sequence
            case .registration(let registration): registration.sequence
            default: nil
            }
        }
    }

    private func taken(_ bench: Bench, _ sequence: Int64) throws {
        #expect(
            try bench.hear(.taken(.command(message: sequence))) == [
                .noted(Noted([.taken(message: sequence)]))
            ])
    }

    private func registered(_ bench: Bench, _ sequence: Int64, _ service: ServiceName) throws {
        let key = CustodyKey.registered(sequence: sequence, by: service)
        #expect(
            try bench.hear(.taken(.registration(sequence: sequence, by: service)), from: service)
                == [.noted(Noted([key]))])
    }

    @Test func `a start waits for the registrations of its application that came before it`() throws {
        let bench = try Bench()
        try bench.phone("registerDevice", "", device: "dev-1")
        try bench.start()
        try bench.phone("registerDevice", "", device: "dev-2")
        #expect(sequences(try bench.turn()) == [1, 3, 1, 3])
        try registered(bench, 1, .segmenter)
        #expect(try bench.turn().isEmpty, "the token registry has not taken it")
        try registered(bench, 1, .tokenRegistry)
        #expect(sequences(try bench.turn()) == [2])
    }

    @Test func `a start does not wait for another application's registrations`() throws {
        let bench = try Bench()
        try bench.call(
            "POST", "/json/1.3/registerDevice", #"{"request":{"application":"BBBBB-00002","hwid":"x"}}"#)
        try bench.start()
        #expect(sequences(try bench.turn()) == [1, 1, 2])
    }

    @Test func `a start waits for the earlier commands of its activity`() throws {
        let bench = try Bench()
        try bench.start()
        try bench.update()
        try bench.end()
        try bench.start()
        #expect(sequences(try bench.turn()) == [1, 3], "an end waits for no start, an update does")
        try taken(bench, 3)
        #expect(try bench.turn().isEmpty)
        try taken(bench, 1)
        #expect(sequences(try bench.turn()) == [2])
        try taken(bench, 2)
        #expect(sequences(try bench.turn()) == [4])
    }

    @Test func `updates and ends among themselves need no order`() throws {
        let bench = try Bench()
        try bench.start()
        _ = try bench.drain()
        try bench.update()
        try bench.update()
        try bench.end()
        #expect(sequences(try bench.turn()) == [2, 3, 4])
    }

    @Test func `an update waits for the registrations that name its activity, and for no others`() throws {
        let bench = try Bench()
        try bench.start()
        _ = try bench.drain()
        try bench.activityToken(Bench.tokA, "another", device: "dev-2")
        try bench.activityToken(Bench.tokA)
        try bench.phone("setTags", #""tags":{"a":1}"#, device: "dev-3")
        try bench.update()
        #expect(sequences(try bench.turn()) == [4, 2, 3], "each goes, but the update stays")
        try registered(bench, 2, .tokenRegistry)
        #expect(try bench.turn().isEmpty)
        try registered(bench, 3, .tokenRegistry)
        #expect(sequences(try bench.turn()) == [5])
    }

    @Test func `at the Firebase door it is the token that is named`() throws {
        let bench = try Bench()
        try bench.activityToken(Bench.tokA)
        try bench.fcm(Bench.fcmUpdate)
        try bench.fcm(Bench.fcmUpdate.replacing(Bench.tokA, with: Bench.tokB))
        #expect(sequences(try bench.turn()) == [1, 3])
        try registered(bench, 1, .tokenRegistry)
        #expect(sequences(try bench.turn()) == [2])
    }

    @Test func `the registrations of one device go to each service one after the other`() throws {
        let bench = try Bench()
        try bench.phone("registerDevice", "")
        try bench.phone("setTags", #""tags":{"a":1}"#)
        try bench.phone("registerDevice", "")
        try bench.activityToken(Bench.tokA)
        #expect(sequences(try bench.turn()) == [1, 1])
        try registered(bench, 1, .tokenRegistry)
        #expect(sequences(try bench.turn()) == [3], "the registry does not wait for tags")
        try registered(bench, 3, .tokenRegistry)
        #expect(sequences(try bench.turn()) == [4])
        try registered(bench, 1, .segmenter)
        #expect(sequences(try bench.turn()) == [2])
        try registered(bench, 2, .segmenter)
        #expect(sequences(try bench.turn()) == [3])
    }

    @Test func `nothing is sent beyond the room, and no application takes it all`() throws {
        let bench = try Bench()
        for id in ["a", "b", "c", "d"] { try bench.start(Bench.start.replacing("ord-12", with: id)) }
        try bench.fcm(Bench.fcmStart, token: "k-other", project: "other")
        let place = Room.Place(instance: InstanceName(.segmenter), windows: Windows(commands: 3))
        let room = Room(places: [place], settledServices: [])
        let sent = try bench.turn(room).commands
        #expect(sent.map(\.application) == ["AAAAA-00001", "BBBBB-00002"])
        #expect(try bench.turn(Room(places: [], settledServices: [])).isEmpty)
        #expect(try bench.turn().count == 3)
    }

    @Test func `a turn is bounded and asks for the next at once`() throws {
        let bench = try Bench()
        for id in 1...100 { try bench.start(Bench.start.replacing("ord-12", with: "id-\(id)")) }
        #expect(try bench.turn().count == 64)
        #expect(bench.core.nextTurnMilliseconds(after: bench.now) == 0)
        #expect(try bench.turn().count == 36)
        #expect(bench.core.nextTurnMilliseconds(after: bench.now) != 0)
    }

    @Test func `what is busy goes again after a second, then at doubling times up to a minute`() throws {
        let bench = try Bench()
        try bench.start()
        #expect(try bench.turn().count == 1)
        for seconds in [1, 2, 4, 8, 16, 32, 60, 60] as [Int64] {
            #expect(try bench.hear(.busy(Busy(message: 1)), from: .segmenter).isEmpty)
            try bench.hear(.busy(Busy(message: 1)), from: .segmenter)
            bench.now = bench.now.advanced(byMilliseconds: seconds * 1_000 - 1)
            #expect(try bench.turn().isEmpty)
            bench.now = bench.now.advanced(byMilliseconds: 1)
            #expect(sequences(try bench.turn()) == [1])
        }
        #expect(bench.counts.filter { $0.name == "ignored" }.count == 8)
        try taken(bench, 1)
        #expect(try bench.turn().isEmpty)
    }

    @Test func `the time of a retry is asked for`() throws {
        let bench = try Bench()
        try bench.start()
        _ = try bench.turn()
        try bench.hear(.busy(Busy(message: 1)), from: .segmenter)
        #expect(bench.core.nextTurnMilliseconds(after: bench.now) == 1_000)
    }

    @Test func `answers that come twice, or to nothing, are noted and change nothing`() throws {
        let bench = try Bench()
        try bench.start()
        _ = try bench.turn()
        for _ in 1...2 { try taken(bench, 1) }
        try taken(bench, 77)
        try registered(bench, 78, .segmenter)
        #expect(try bench.hear(.busy(Busy(message: 1))).isEmpty)
        #expect(try bench.hear(.busy(Busy(message: 79))).isEmpty)
        #expect(try bench.turn().isEmpty)
        #expect(bench.counts.filter { $0.name == "ignored" }.count == 5)
    }

    @Test func `messages that nobody sends to ingest are ignored and counted`() throws {
        let bench = try Bench()
        try bench.hear(.taken(.batch(message: 1, pass: Pass(epoch: 1, number: 1), index: 0)))
        try bench.hear(.query(Query(id: 1, application: "AAAAA-00001", kind: .tags(device: "x"))))
        #expect(bench.counts.map(\.name) == ["ignored", "ignored"])
    }
}

/// What a new life makes of what a former one left.
@Suite struct RestartTests {
    /// A conversation that visits every kind of state.
    private static let steps: [@Sendable (Bench) throws -> Void] = [
        { try $0.phone("registerDevice", #""os_version":"17.4","tags":{"a":1}"#) },
        { try $0.start() },
        { try $0.hear(.taken(.registration(sequence: 1, by: .segmenter)), from: .segmenter) },
        { try $0.update() },
        { try $0.hear(.taken(.registration(sequence: 1, by: .tokenRegistry))) },
        { try $0.activityToken(Bench.tokA) },
        { try $0.hear(.taken(.command(message: 2))) },
        { try $0.end() },
        { try $0.start() },
        { try $0.fcm(Bench.fcmStart) },
    ]

    @Test(arguments: 0...10)
    func `after a restart at any step the rest goes in the same order`(_ step: Int) throws {
        var results: [[Message]] = []
        for restarts in [false, true] {
            let bench = try Bench()
            for (index, next) in RestartTests.steps.enumerated() {
                if restarts, index == step { try bench.restart() }
                try next(bench)
            }
            if restarts, step == 10 { try bench.restart() }
            results.append(try bench.drain())
        }
        #expect(results[0] == results[1])
        #expect(!results[0].isEmpty)
    }

    @Test func `what was sent and not taken is sent again, once`() throws {
        let bench = try Bench()
        try bench.start()
        let first = try bench.turn()
        try bench.restart()
        #expect(try bench.turn() == first)
        #expect(try bench.turn().isEmpty)
    }

    @Test func `a sequence is never given out twice`() throws {
        let bench = try Bench()
        try bench.phone("setTags", #""tags":{"a":1}"#)
        _ = try bench.drain()
        try bench.restart()
        try bench.phone("setTags", #""tags":{"a":1}"#)
        #expect(try bench.turn().registrations.map(\.sequence) == [2])
    }

    @Test func `a file is read by the next process, codes and all`() throws {
        try withDirectory { directory in
            let path = directory + "/journal"
            let codes = try Bench(at: .file(path)).start().codes
            let later = try Bench(at: .file(path))
            #expect(codes.compactMap(later.journal.codes.sequence) == [1])
            #expect(try later.turn().commands.map(\.sequence) == [1])
            #expect(try later.start().codes == codes)
        }
    }

    @Test func `what was not committed is not there`() throws {
        let bench = try Bench()
        var store = bench.journal
        try bench.journal.begin()
        let call = HTTPCall(
            id: 1, method: "POST", path: ["json", "1.3", "setTags"],
            body: Array(#"{"request":{"application":"AAAAA-00001","hwid":"x","tags":{"a":1}}}"#.utf8))
        _ = try bench.core.step(.external(.request(call)), at: bench.now, in: &store)
        try bench.journal.rollback()
        try bench.restart()
        #expect(try bench.turn().isEmpty)
    }
}
