import Contracts
import Service
import Store
import Testing

@testable import segmenter

@Suite struct `An audience read in slices` {
    private static let gold = Filter.tag(name: "level", comparison: .equal, values: [.string("gold")])

    /// Devices d0, d1, … in a file, all of them gold.
    private func bench(_ location: Database.Location, devices: Int, application: String = "A") throws -> Bench
    {
        var bench = try Bench(location)
        try bench.together { bench in
            for device in 0..<devices {
                try bench.register(
                    "d\(device)", .tags(["level": .set(.string("gold"))]), application: application)
            }
        }
        return bench
    }

    @Test
    func `seg-paging-under-change: each device of the moment gets one, whatever changes while it is read`()
        throws
    {
        try withStore { location in
            var bench = try bench(location, devices: 10_000)
            try bench.register("silver", .tags(["level": .set(.string("silver"))]))
            let command = bench.command(.filter(Self.gold))
            _ = try bench.tell(.command(command))
            var batches: [Batch] = []
            while batches.count < 4 {
                for batch in try bench.turn(windows: Windows(batches: 1)) {
                    batches.append(batch)
                    try bench.take(batch)
                }
            }
            // Another segmenter of the host takes the registrations.
            var other = try Bench(location)
            other.sequence = bench.sequence
            try other.together { other in
                for device in 0..<500 { try other.register("d\(device)", .unregister) }
                for device in 5_000..<5_100 { try other.register("d\(device)", .unregister) }
                for device in 9_000..<9_100 {
                    try other.register("d\(device)", .tags(["level": .set(.string("silver"))]))
                }
                try other.register("silver", .tags(["level": .set(.string("gold"))]))
                for device in 10_000..<10_300 {
                    try other.register("d\(device)", .tags(["level": .set(.string("gold"))]))
                }
            }
            batches += try bench.drain()
            let recipients = batches.flatMap(\.recipients)
            #expect(recipients.count == 9_900)
            #expect(
                Set(recipients) == Set((0..<10_000).filter { !(5_000..<5_100).contains($0) }.map { "d\($0)" })
            )
            #expect(batches.map(\.index) == Array(0..<batches.count))
            #expect(batches.map(\.last) == batches.indices.map { $0 == batches.count - 1 })
        }
    }

    @Test func `the first batches go out while the audience is still being read`() throws {
        try withStore { location in
            var bench = try bench(location, devices: 20_000)
            _ = try bench.tell(.command(bench.command(.filter(.except(Self.gold, minus: .any([]))))))
            var first: [Batch] = []
            while first.isEmpty, bench.isReading { first = try bench.turn() }
            #expect(first.first?.recipients.count == 500)
            #expect(bench.isReading)
            for batch in first { try bench.take(batch) }
            #expect(try (first + bench.drain()).flatMap(\.recipients).count == 20_000)
        }
    }

    @Test func `what registers, or comes back, after a message gets none from a later pass`() throws {
        try withStore { location in
            var bench = try bench(location, devices: 600)
            let command = bench.command(.filter(.everyone))
            let users = bench.command(.users(["u"]))
            try bench.register("new", .profile(Profile()))
            try bench.register("new", .user("u"))
            try bench.register("d7", .unregister)
            try bench.register("d7", .profile(Profile()))
            try bench.register("d8", .profile(Profile()))
            bench.segmenter = Segmenter(epoch: 8)
            _ = try bench.tell(.command(command))
            _ = try bench.tell(.command(users))
            let recipients = try bench.drain().flatMap(\.recipients)
            #expect(recipients.sorted() == (0..<600).filter { $0 != 7 }.map { "d\($0)" }.sorted())
            #expect(try bench.matched(.everyone).count == 601)
        }
    }

    /// Whether the log can be emptied: nobody reads an older state.
    private func isFree(_ location: Database.Location) throws -> Bool {
        var options = Database.Options()
        options.busyTimeoutMilliseconds = 0
        let database = try Database(location, options: options)
        return try database.first("PRAGMA wal_checkpoint(TRUNCATE)") { $0.int(0) } == 0
    }

    @Test func `a reading ends although nobody takes a batch, and so does one that is cancelled`() throws {
        try withStore { location in
            var bench = try bench(location, devices: 20_000)
            _ = try bench.tell(.command(bench.command(.filter(.everyone))))
            _ = try bench.turn(windows: Windows(batches: 0))
            #expect(bench.isReading)
            while bench.isReading { #expect(try bench.turn(windows: Windows(batches: 0)).isEmpty) }
            try bench.register("d0", .unregister)
            #expect(try isFree(location))

            let command = bench.command(.filter(Self.gold))
            _ = try bench.tell(.command(command))
            _ = try bench.turn(windows: Windows(batches: 0))
            #expect(bench.isReading)
            try bench.register("d1", .unregister)
            #expect(try !isFree(location))
            var cancel = bench.command(.activity)
            cancel.kind = .cancel
            cancel.cancelledMessage = command.sequence
            _ = try bench.tell(.command(cancel))
            #expect(!bench.isReading)
            #expect(try isFree(location))
        }
    }

    @Test func `a large audience leaves turns to the others, and to questions`() throws {
        try withStore { location in
            var bench = try bench(location, devices: 20_000)
            try bench.register("z", .profile(Profile()), application: "B")
            for _ in 0..<20 { _ = try bench.tell(.command(bench.command(.filter(Self.gold)))) }
            _ = try bench.tell(.command(bench.command(.filter(.everyone), application: "B")))
            _ = try bench.tell(
                .query(Query(id: 9, application: "A", kind: .audience(filter: .everyone))))
            var turns = 0
            var (hasBatch, hasAnswer) = (false, false)
            while !hasBatch || !hasAnswer {
                turns += 1
                for message in try bench.turnMessages() {
                    if case .batch(let batch) = message, batch.command.application == "B" { hasBatch = true }
                    if message == .answer(Answer(id: 9, content: .count(devices: 20_000))) {
                        hasAnswer = true
                    }
                }
            }
            #expect(turns < 20)
            #expect(bench.isReading)
        }
    }

    @Test func `who asked and waits no more is not answered`() throws {
        try withStore { location in
            var bench = try bench(location, devices: 20_000)
            for id in 1...2 {
                _ = try bench.tell(
                    .query(Query(id: Int64(id), application: "A", kind: .audience(filter: Self.gold))))
            }
            _ = try bench.turn()
            bench.now.monotonic += Questions.patienceMilliseconds + 1
            #expect(try bench.turnMessages().isEmpty)
            #expect(try bench.turnMessages().isEmpty)
            #expect(!bench.isReading)
        }
    }
}
