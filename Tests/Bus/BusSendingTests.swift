import Contracts
import Glibc
import Testing

@testable import Bus

@Suite(.timeLimit(.minutes(10))) struct BusSendingTests {
    let segmenter = InstanceName(.segmenter)

    @Test func `frames arrive as they were sent, each lane by itself`() throws {
        let directory = try RunDirectory()
        let receiver = try directory.bus(.segmenter)
        let sender = try directory.bus(.ingest)
        try sender.deliver([bytes("a"), [], bytes("b")], to: segmenter, .work)
        try sender.deliver([bytes("c")], to: segmenter, .answers)
        #expect(try receiver.next(.answers) == .message([bytes("c")]))
        #expect(receiver.receive(.answers) == .nothing)
        #expect(try receiver.next(.work) == .message([bytes("a"), [], bytes("b")]))
    }

    @Test func `nothing is taken for who is not there`() throws {
        let directory = try RunDirectory()
        let sender = try directory.bus(.ingest)
        #expect(sender.send([bytes("a")], to: segmenter, .work) == .notNow)
        try leaveStaleSocket(try directory.endpoint(.segmenter).path(.answers))
        try sender.discover(nowMilliseconds: 0)
        #expect(sender.neighbours == [segmenter])
        sender.poll([], timeoutMilliseconds: 150)
        #expect(sender.send([bytes("a")], to: segmenter, .answers) == .notNow)
    }

    @Test func `who binds later is found and connected to`() throws {
        let directory = try RunDirectory()
        let sender = try directory.bus(.ingest)
        try sender.discover(nowMilliseconds: 0)
        #expect(sender.neighbours == [])
        let receiver = try directory.bus(.segmenter)
        try sender.deliver([bytes("late")], to: segmenter)
        #expect(try receiver.next() == .message([bytes("late")]))
    }

    @Test func `only neighbours are connected to`() throws {
        let directory = try RunDirectory()
        let sender = try directory.bus(.ingest)
        let others = [
            try directory.bus(.segmenter, 2), try directory.bus(.rateLimiter), try directory.bus(.segmenter),
        ]
        try leaveStaleSocket("\(directory.path)/segmenter.0.answers")
        try leaveStaleSocket("\(directory.path)/segmenter.x.answers")
        try sender.discover(nowMilliseconds: 0)
        #expect(sender.neighbours == [InstanceName(.segmenter, 1), InstanceName(.segmenter, 2)])
        withExtendedLifetime(others) {}
    }

    @Test func `who is long gone is forgotten, who is away for a moment is not`() throws {
        let directory = try RunDirectory()
        var receiver: Bus? = try directory.bus(.segmenter)
        let sender = try directory.bus(.ingest)
        try sender.discover(nowMilliseconds: 1_000)
        #expect(receiver != nil)
        receiver = nil
        try sender.discover(nowMilliseconds: 10_999)
        #expect(sender.neighbours == [segmenter])
        try sender.discover(nowMilliseconds: 11_000)
        #expect(sender.neighbours == [])
    }

    @Test func `who was killed and came back is served again over the same connection`() throws {
        let directory = try RunDirectory()
        let endpoint = try directory.endpoint(.segmenter)
        var receiver: Bus? = try Bus(endpoint)
        let sender = try directory.bus(.ingest)
        try sender.deliver([bytes("1")], to: segmenter)
        #expect(try receiver?.next() == .message([bytes("1")]))
        receiver = nil
        // What a killed process leaves.
        for lane in Lane.allCases { try leaveStaleSocket(endpoint.path(lane)) }
        try wait(until: { sender.send([bytes("lost")], to: segmenter, .work) == .notNow }, sender)
        receiver = try Bus(endpoint)
        try wait(until: { sender.send([bytes("2")], to: segmenter, .work) == .taken }, sender)
        #expect(try receiver?.next() == .message([bytes("2")]))
    }

    @Test func `a full queue refuses, and takes again when it is read`() throws {
        let directory = try RunDirectory()
        var limits = BusLimits()
        limits.queuedMessagesMax = 10
        let receiver = try directory.bus(.segmenter, limits: limits)
        let sender = try directory.bus(.ingest, limits: limits)
        // Large enough to fill the kernel's buffers too.
        let frame = [UInt8](repeating: 7, count: 100_000)
        try sender.deliver([frame], to: segmenter)
        var sent = 1
        for _ in 0..<100 {
            while sender.send([frame], to: segmenter, .work) == .taken { sent += 1 }
            sender.poll([], timeoutMilliseconds: 2)
        }
        #expect((10...60).contains(sent))
        for _ in 0..<sent { #expect(try receiver.next() == .message([frame])) }
        #expect(receiver.receive(.work) == .nothing)
        try sender.deliver([bytes("again")], to: segmenter)
        #expect(try receiver.next() == .message([bytes("again")]))
    }

    @Test func `the default queue holds more than all windows together`() {
        let windows = Windows()
        let sum = WindowKind.allCases.reduce(0) { $0 + windows[$1] }
        #expect(Int(BusLimits().queuedMessagesMax) > sum)
    }

    @Test func `closing does not wait for who never reads`() throws {
        let directory = try RunDirectory()
        let receiver = try directory.bus(.segmenter)
        var sender: Bus? = try directory.bus(.ingest)
        let frame = [UInt8](repeating: 7, count: 1_000_000)
        try sender?.deliver([frame], to: segmenter)
        for _ in 0..<2_000 { _ = sender?.send([frame], to: segmenter, .work) }
        let clock = ContinuousClock()
        let elapsed = clock.measure { sender = nil }
        #expect(elapsed < .seconds(5))
        withExtendedLifetime(receiver) {}
    }

    @Test func `poll ends when a descriptor is readable`() throws {
        let directory = try RunDirectory()
        let bus = try directory.bus(.segmenter)
        var pair: [CInt] = [0, 0]
        #expect(pipe(&pair) == 0)
        defer { pair.forEach { close($0) } }
        #expect(write(pair[1], "x", 1) == 1)
        let clock = ContinuousClock()
        let elapsed = clock.measure { bus.poll(Lane.allCases, [-1, pair[0]], timeoutMilliseconds: 20_000) }
        #expect(elapsed < .seconds(10))
    }
}
