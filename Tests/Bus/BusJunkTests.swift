import Contracts
import Glibc
import Testing

@testable import Bus

/// What a local user who may connect can do, and what becomes of it.
@Suite(.timeLimit(.minutes(10))) struct BusJunkTests {
    let segmenter = InstanceName(.segmenter)

    /// A sender that keeps to no limits.
    private func recklessSender(_ directory: RunDirectory) throws -> Bus {
        var limits = BusLimits()
        limits.frameBytesMax = 1 << 30
        limits.messageBytesMax = 1 << 30
        limits.framesMax = .max
        return try directory.bus(.ingest, limits: limits)
    }

    @Test(arguments: [
        [[]], [bytes("\u{0}\u{1}\u{2}")], [[0xFF, 0xFE], [0xC0], [0x80], [], [0]],
        [bytes(String(repeating: "[", count: 100_000))],
    ])
    func `ipc-junk-message: bytes of no meaning are handed on as they are`(frames: [[UInt8]]) throws {
        let directory = try RunDirectory()
        let receiver = try directory.bus(.segmenter)
        let sender = try recklessSender(directory)
        try sender.deliver(frames, to: segmenter)
        try sender.deliver([bytes("good")], to: segmenter)
        #expect(try receiver.next() == .message(frames))
        #expect(try receiver.next() == .message([bytes("good")]))
    }

    @Test func `ipc-junk-message: a frame of 64 MB ends the connection, and the next good message is served`()
        throws
    {
        let directory = try RunDirectory()
        let receiver = try directory.bus(.segmenter)
        let sender = try recklessSender(directory)
        try sender.deliver([bytes("before")], to: segmenter)
        #expect(try receiver.next() == .message([bytes("before")]))
        #expect(receiver.takeEndedConnections() == 0)
        try sender.deliver([[UInt8](repeating: 0, count: 64 << 20)], to: segmenter)
        var ended = 0
        try wait(
            until: {
                ended += receiver.takeEndedConnections()
                return ended > 0
            }, receiver)
        #expect(receiver.receive(.work) == .nothing)
        // Its queue may hold what is lost with the connection: sent until it arrives, as work is.
        var arrived = Received.nothing
        try wait(
            until: {
                _ = sender.send([bytes("good")], to: segmenter, .work)
                arrived = receiver.receive(.work)
                return arrived != .nothing
            }, receiver)
        #expect(arrived == .message([bytes("good")]))
    }

    @Test func `a message with too many frames is dropped whole`() throws {
        let directory = try RunDirectory()
        let receiver = try directory.bus(.segmenter)
        let sender = try recklessSender(directory)
        let count = BusLimits().framesMax + 1
        try sender.deliver([[UInt8]](repeating: [1], count: count), to: segmenter)
        try sender.deliver([bytes("good")], to: segmenter)
        #expect(try receiver.next() == .dropped(.tooManyFrames, byteCount: count))
        #expect(try receiver.next() == .message([bytes("good")]))
    }

    @Test func `a message with too many bytes is dropped whole`() throws {
        let directory = try RunDirectory()
        let receiver = try directory.bus(.segmenter)
        let sender = try recklessSender(directory)
        let frame = [UInt8](repeating: 0, count: 7 << 20)
        try sender.deliver([frame, frame, frame], to: segmenter)
        try sender.deliver([bytes("good")], to: segmenter)
        #expect(try receiver.next() == .dropped(.tooLarge, byteCount: 21 << 20))
        #expect(try receiver.next() == .message([bytes("good")]))
    }

    @Test func `a sender refuses what its receiver would not take`() throws {
        let directory = try RunDirectory()
        let receiver = try directory.bus(.segmenter)
        let sender = try directory.bus(.ingest)
        try sender.deliver([bytes("before")], to: segmenter)
        let large = [UInt8](repeating: 0, count: BusLimits().frameBytesMax + 1)
        #expect(sender.send([large], to: segmenter, .work) == .tooLarge)
        let half = [UInt8](repeating: 0, count: 6 << 20)
        #expect(sender.send([half, half, half], to: segmenter, .work) == .tooLarge)
        let many = [[UInt8]](repeating: [], count: BusLimits().framesMax + 1)
        #expect(sender.send(many, to: segmenter, .work) == .tooLarge)
        #expect(try receiver.next() == .message([bytes("before")]))
        #expect(receiver.receive(.work) == .nothing)
    }

    @Test func `bytes that are not ZMTP end their own connection only`() throws {
        let directory = try RunDirectory()
        let receiver = try directory.bus(.segmenter)
        let sender = try directory.bus(.ingest)
        let stranger = try connectRaw(receiver.endpoint.path(.work))
        defer { close(stranger) }
        let junk = [UInt8](repeating: 0x55, count: 4_096)
        #expect(write(stranger, junk, junk.count) == junk.count)
        try sender.deliver([bytes("good")], to: segmenter)
        #expect(try receiver.next() == .message([bytes("good")]))
    }
}
