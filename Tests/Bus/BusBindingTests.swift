import Contracts
import Glibc
import Testing

@testable import Bus

@Suite(.timeLimit(.minutes(10))) struct BusBindingTests {
    @Test func `owner and group may connect, others not`() throws {
        let directory = try RunDirectory()
        let bus = try directory.bus(.segmenter)
        for lane in Lane.allCases {
            var status = stat()
            #expect(stat(bus.endpoint.path(lane), &status) == 0)
            #expect(status.st_mode & 0o777 == 0o660)
        }
    }

    @Test func `a path of 107 bytes works`() throws {
        let directory = try RunDirectory()
        let pad = 107 - directory.path.utf8.count - "//segmenter.1.answers".utf8.count
        let long = "\(directory.path)/\(String(repeating: "d", count: pad))"
        #expect(mkdir(long, 0o750) == 0)
        let endpoint = try BusEndpoint(runDirectory: long, instance: InstanceName(.segmenter))
        #expect(endpoint.path(.answers).utf8.count == 107)
        let receiver = try Bus(endpoint)
        let sender = try Bus(BusEndpoint(runDirectory: long, instance: InstanceName(.ingest)))
        try sender.deliver([bytes("hi")], to: InstanceName(.segmenter), .answers)
        #expect(try receiver.next(.answers) == .message([bytes("hi")]))
    }

    @Test func `a name of many bytes a character works`() throws {
        let directory = try RunDirectory()
        let path = "\(directory.path)/日本 é"
        #expect(mkdir(path, 0o750) == 0)
        let receiver = try Bus(BusEndpoint(runDirectory: path, instance: InstanceName(.segmenter)))
        let sender = try Bus(BusEndpoint(runDirectory: path, instance: InstanceName(.ingest)))
        try sender.deliver([bytes("hi")], to: InstanceName(.segmenter))
        #expect(try receiver.next() == .message([bytes("hi")]))
    }

    @Test func `the socket of a dead process is taken over`() throws {
        let directory = try RunDirectory()
        let endpoint = try directory.endpoint(.segmenter)
        for lane in Lane.allCases { try leaveStaleSocket(endpoint.path(lane)) }
        let bus = try Bus(endpoint)
        #expect(bus.ownsItsSockets)
    }

    @Test func `a living process is not pushed aside`() throws {
        let directory = try RunDirectory()
        let first = try directory.bus(.segmenter)
        let error = try #require(throws: BusError.self) { _ = try directory.bus(.segmenter) }
        #expect(error.reason == .inUse)
        #expect(
            error.description.contains(first.endpoint.path(error.path.hasSuffix("work") ? .work : .answers)))
        #expect(first.ownsItsSockets)
    }

    @Test(arguments: Lane.allCases)
    func `what is no socket stays as it is`(lane: Lane) throws {
        let directory = try RunDirectory()
        let path = try directory.endpoint(.segmenter).path(lane)
        #expect(mkdir(path, 0o755) == 0)
        let error = try #require(throws: BusError.self) { _ = try directory.bus(.segmenter) }
        #expect(error.reason == .notASocket)
        #expect(rmdir(path) == 0)
    }

    @Test func `a directory that is not there is an error`() throws {
        let endpoint = try BusEndpoint(runDirectory: "/tmp/bus-none/x", instance: InstanceName(.ingest))
        let error = try #require(throws: BusError.self) { _ = try Bus(endpoint) }
        #expect(error.reason == .system)
    }

    @Test func `a process whose sockets were replaced notices, and leaves the new ones alone`() throws {
        let directory = try RunDirectory()
        var first: Bus? = try directory.bus(.segmenter)
        for lane in Lane.allCases { unlink(try directory.endpoint(.segmenter).path(lane)) }
        #expect(first?.ownsItsSockets == false)
        let second = try directory.bus(.segmenter)
        #expect(first?.ownsItsSockets == false)
        first = nil
        #expect(second.ownsItsSockets)
    }

    @Test func `closing takes the files away`() throws {
        let directory = try RunDirectory()
        var bus: Bus? = try directory.bus(.segmenter)
        #expect(bus?.ownsItsSockets == true)
        bus = nil
        #expect(try directoryEntries(directory.path).filter { $0.hasPrefix("segmenter") } == [])
    }
}
