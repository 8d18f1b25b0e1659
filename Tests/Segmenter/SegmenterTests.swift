import Contracts
import Service
import Testing

@testable import segmenter

@Suite struct `Batches of an audience` {
    private func bench(devices: Int) throws -> Bench {
        var bench = try Bench()
        try bench.profiles.begin()
        for device in 0..<devices { try bench.register("d\(device)", .tags(["t": .set(.integer(1))])) }
        try bench.profiles.commit()
        return bench
    }

    @Test func `an audience becomes batches of 500, numbered, the last one marked`() throws {
        var bench = try bench(devices: 1_200)
        let command = bench.command(.filter(.everyone))
        _ = try bench.tell(.command(command))
        #expect(bench.segmenter.waiting == 1)
        let batches = try bench.drain()
        #expect(batches.map(\.recipients.count) == [500, 500, 200])
        #expect(batches.map(\.index) == [0, 1, 2])
        #expect(batches.map(\.last) == [false, false, true])
        #expect(Set(batches.map(\.pass)) == [Pass(epoch: 7, number: 1)])
        #expect(batches.allSatisfy { $0.command == command })
        #expect(Set(batches.flatMap(\.recipients)).count == 1_200)
        #expect(bench.segmenter.waiting == 0)
    }

    @Test func `nobody is one empty last batch`() throws {
        var bench = try Bench()
        _ = try bench.tell(.command(bench.command(.filter(.everyone))))
        let batches = try bench.turn()
        #expect(batches.map(\.recipients) == [[]])
        #expect(batches.map(\.last) == [true])
    }

    @Test(arguments: [Audience.activity, .token("a1")])
    func `an activity or a token passes through as one batch`(audience: Audience) throws {
        var bench = try Bench()
        _ = try bench.tell(.command(bench.command(audience)))
        let batches = try bench.turn()
        #expect(batches.map(\.last) == [true])
        #expect(batches.first?.command.audience == audience)
    }

    @Test
    func `seg-same-device-twice: a device named twice, by hardware id and push token, is one recipient`()
        throws
    {
        var bench = try Bench()
        var profile = Profile()
        profile.pushToken = "ab"
        try bench.register("dev-1", .profile(profile))
        _ = try bench.tell(.command(bench.command(.devices(["dev-1", "dev-1", "dev-2", "AB", "dev-1"]))))
        #expect(try bench.drain().map(\.recipients) == [["dev-1", "dev-2"]])
    }

    @Test func `a core that is made anew in the same life gives no pass a number again`() throws {
        var bench = try bench(devices: 600)
        let command = bench.command(.filter(.everyone))
        func pass(_ bench: inout Bench) throws -> Pass? {
            _ = try bench.segmenter.step(.started, at: bench.now, in: &bench.profiles)
            _ = try bench.tell(.command(command))
            return try bench.turn().first?.pass
        }
        let first = try #require(try pass(&bench))
        bench.segmenter = Segmenter(epoch: 7)
        bench.now = bench.now.advanced(byMilliseconds: 250)
        let second = try #require(try pass(&bench))
        #expect(first != second)
    }

    @Test func `a command that is at work is ignored when it comes again`() throws {
        var bench = try bench(devices: 600)
        let command = bench.command(.filter(.everyone))
        _ = try bench.tell(.command(command))
        let first = try bench.turn(windows: Windows(batches: 1))
        _ = try bench.tell(.command(command))
        try bench.take(first[0])
        let rest = try bench.drain()
        #expect((first + rest).map(\.recipients.count) == [500, 100])
    }

    @Test func `seg-killed-in-the-middle: a new life makes a new pass over all of it`() throws {
        var bench = try bench(devices: 1_000)
        let command = bench.command(.filter(.everyone))
        _ = try bench.tell(.command(command))
        #expect(try bench.turn(windows: Windows(batches: 1)).count == 1)
        bench.segmenter = Segmenter(epoch: 8)
        _ = try bench.tell(.command(command))
        let batches = try bench.drain()
        #expect(batches.map(\.index) == [0, 1])
        #expect(Set(batches.map(\.pass.epoch)) == [8])
        #expect(Set(batches.flatMap(\.recipients)).count == 1_000)
    }

    @Test func `seg-paging-under-change: the audience is that of one moment`() throws {
        var bench = try bench(devices: 3_000)
        _ = try bench.tell(.command(bench.command(.filter(.everyone))))
        var batches = try bench.turn(windows: Windows(batches: 1))
        for device in 0..<100 { try bench.register("d\(device)", .unregister) }
        for device in 2_900..<3_000 { try bench.register("d\(device)", .unregister) }
        for device in 3_000..<3_300 { try bench.register("d\(device)", .profile(Profile())) }
        for batch in batches { try bench.take(batch) }
        batches += try bench.drain()
        let recipients = batches.flatMap(\.recipients)
        #expect(recipients.count == 2_900)
        #expect(Set(recipients) == Set((0..<2_900).map { "d\($0)" }))
    }

    @Test func `busy ends the pass and is passed on; the command begins anew when it comes again`() throws {
        var bench = try bench(devices: 600)
        let command = bench.command(.filter(.everyone))
        _ = try bench.tell(.command(command))
        let batch = try bench.turn(windows: Windows(batches: 1))[0]
        let busy = Busy(message: command.sequence, pass: batch.pass, index: 0)
        #expect(try bench.tell(.busy(busy), from: bench.registry) == [.busy(Busy(message: command.sequence))])
        #expect(try bench.tell(.busy(busy), from: bench.registry).isEmpty)
        #expect(try bench.turn().isEmpty)
        _ = try bench.tell(.command(command))
        #expect(try bench.drain().map(\.pass.number) == [2, 2])
    }

    @Test func `a cancel breaks off the pass and goes on to the registry`() throws {
        var bench = try bench(devices: 600)
        let command = bench.command(.filter(.everyone))
        _ = try bench.tell(.command(command))
        _ = try bench.turn(windows: Windows(batches: 1))
        var cancel = bench.command(.activity)
        cancel.kind = .cancel
        cancel.notification = nil
        cancel.cancelledMessage = command.sequence
        _ = try bench.tell(.command(cancel))
        #expect(try bench.drain().map(\.command.kind) == [.cancel])
    }

    @Test func `applications take turns`() throws {
        var bench = try bench(devices: 3_000)
        try bench.register("z", .profile(Profile()), application: "B")
        _ = try bench.tell(.command(bench.command(.filter(.everyone))))
        _ = try bench.tell(.command(bench.command(.filter(.everyone), application: "B")))
        while bench.isReading { _ = try bench.turn(windows: Windows(batches: 0)) }
        let order = try bench.turn(windows: Windows(batches: 8 * Batch.recipientsMax)).map(
            \.command.application)
        #expect(order.prefix(2) == ["A", "B"])
    }

    @Test func `no more is unanswered than the registry's window and the application's share`() throws {
        var bench = try bench(devices: 10_000)
        _ = try bench.tell(.command(bench.command(.filter(.everyone))))
        let batches = try bench.turn(windows: Windows(batches: 8 * Batch.recipientsMax))
        #expect(batches.count == 4)
    }

    @Test func `a batch uses as much of the window as it has recipients, one for an activity a single place`()
        throws
    {
        var bench = try bench(devices: 600)
        _ = try bench.tell(.command(bench.command(.filter(.everyone))))
        _ = try bench.tell(.command(bench.command(.activity)))
        let weights = try bench.drain().compactMap { Message.batch($0).window?.count }
        #expect(weights.sorted() == [1, 100, 500])
    }

    @Test func `only so many audiences are held at a time`() throws {
        var bench = try bench(devices: 600)
        for _ in 0..<20 { _ = try bench.tell(.command(bench.command(.filter(.everyone)))) }
        let first = try bench.turn(windows: Windows(batches: 1_000))
        #expect(first.count <= Segmenter.batchesPerTurnMax)
        let rest = try bench.drain()
        #expect((first + rest).count == 40)
    }

    @Test func `what is not for it is counted and dropped`() throws {
        var bench = try Bench()
        #expect(
            try bench.tell(.fact(Fact(number: 1, application: "A", kind: .runEmpty, registrationSequence: 0)))
                .isEmpty)
    }
}
