import Contracts
import Glibc
import Testing

@testable import Bus

/// A run directory of its own, short enough for socket paths, gone with the last reference to it.
final class RunDirectory {
    let path: String

    init() throws {
        var template = Array("/tmp/bus-XXXXXX".utf8CString)
        let isMade = template.withUnsafeMutableBufferPointer { buffer in
            buffer.baseAddress.flatMap { mkdtemp($0) } != nil
        }
        try #require(isMade)
        path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    deinit { removeTree(path) }

    func endpoint(_ service: ServiceName, _ number: Int = 1) throws -> BusEndpoint {
        try BusEndpoint(runDirectory: path, instance: InstanceName(service, number))
    }

    func bus(_ service: ServiceName, _ number: Int = 1, limits: BusLimits = BusLimits()) throws -> Bus {
        try Bus(endpoint(service, number), limits: limits)
    }
}

/// Removes a directory of plain files and directories.
func removeTree(_ path: String) {
    for name in (try? directoryEntries(path)) ?? [] where name != "." && name != ".." {
        let child = "\(path)/\(name)"
        if unlink(child) != 0 { removeTree(child) }
    }
    rmdir(path)
}

/// Turns of 5 ms until a condition holds, at most 10 s.
func wait(until condition: () throws -> Bool, _ waiter: Bus) throws {
    for _ in 0..<2_000 {
        if try condition() { return }
        waiter.poll([], timeoutMilliseconds: 5)
    }
    Issue.record("the condition did not come true")
}

extension Bus {
    /// Finds the neighbours and sends until one of them takes it.
    func deliver(_ frames: [[UInt8]], to instance: InstanceName, _ lane: Lane = .work) throws {
        try wait(
            until: {
                try discover(nowMilliseconds: 0)
                return send(frames, to: instance, lane) == .taken
            }, self)
    }

    /// Waits for the next thing on a lane.
    func next(_ lane: Lane = .work) throws -> Received {
        for _ in 0..<1_000 {
            let received = receive(lane)
            if received != .nothing { return received }
            poll([lane], timeoutMilliseconds: 10)
        }
        Issue.record("nothing came")
        return .nothing
    }
}

func bytes(_ text: String) -> [UInt8] { Array(text.utf8) }

/// Leaves a socket file behind, as a process that was killed does.
func leaveStaleSocket(_ path: String) throws {
    close(try listenRaw(path))
}

/// Listens at a path with a plain socket.
func listenRaw(_ path: String) throws -> CInt {
    let descriptor = try rawSocket(path) { bind($0, $1, $2) }
    try #require(listen(descriptor, 1) == 0)
    return descriptor
}

/// Connects to a path with a plain socket.
func connectRaw(_ path: String) throws -> CInt { try rawSocket(path) { connect($0, $1, $2) } }

private func rawSocket(
    _ path: String, _ join: (CInt, UnsafePointer<sockaddr>, socklen_t) -> CInt
) throws -> CInt {
    let descriptor = socket(AF_UNIX, CInt(SOCK_STREAM.rawValue), 0)
    try #require(descriptor >= 0)
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
    let result = withUnsafePointer(to: &address) { pointer in
        pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
            join(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
        }
    }
    try #require(result == 0)
    return descriptor
}
