import Bus
import Contracts
import Glibc
import Telemetry
import Testing
import Web

@testable import Service

@Suite struct InstanceLockTests {
    @Test func `one holds the lock, and gives it back with its end`() throws {
        let directory = try TemporaryDirectory()
        let path = "\(directory.path)/x.lock"
        var first = try InstanceLock(path)
        #expect(first != nil)
        #expect(try InstanceLock(path) == nil)
        first = nil
        #expect(try InstanceLock(path) != nil)
    }

    @Test func `the file says whose it is`() throws {
        let directory = try TemporaryDirectory()
        let lock = try InstanceLock("\(directory.path)/x.lock")
        let bytes = try readFile("\(directory.path)/x.lock", bytesMax: 100)
        #expect(String(decoding: bytes, as: UTF8.self) == "\(getpid())\n")
        withExtendedLifetime(lock) {}
    }

    @Test func `a lock whose file was removed or replaced keeps nobody off`() throws {
        let directory = try TemporaryDirectory()
        let path = "\(directory.path)/x.lock"
        let lock = try #require(try InstanceLock(path))
        #expect(lock.isHeld)
        #expect(unlink(path) == 0)
        #expect(!lock.isHeld)
        try directory.write("", to: "x.lock")
        #expect(!lock.isHeld)
    }

    @Test func `a link is not followed`() throws {
        let directory = try TemporaryDirectory()
        let path = "\(directory.path)/x.lock"
        #expect(symlink("/tmp/elsewhere", path) == 0)
        let error = try #require(throws: SystemError.self) { _ = try InstanceLock(path) }
        #expect(error.code == ELOOP)
    }
}

@Suite struct DirectoryTests {
    private func mode(_ path: String) -> mode_t {
        var status = stat()
        return stat(path, &status) == 0 ? status.st_mode & 0o777 : 0
    }

    @Test func `a directory is made with those above it, and left as it is when it is there`() throws {
        let directory = try TemporaryDirectory()
        let path = "\(directory.path)/a/b"
        try makeDirectory(path, mode: 0o750)
        #expect(mode(path) == 0o750)
        #expect(chmod(path, 0o700) == 0)
        try makeDirectory(path, mode: 0o750)
        #expect(mode(path) == 0o700)
    }

    @Test(arguments: [(0o750, nil), (0o770, nil), (0o751, "751"), (0o1777, "1777")] as [(mode_t, String?)])
    func `a run directory that is open to others is told`(mode: mode_t, told: String?) throws {
        let directory = try TemporaryDirectory()
        #expect(chmod(directory.path, mode) == 0)
        let log = LogCollector()
        try warnIfOpen(directory.path, Logger(service: "x", sink: log.sink))
        #expect(
            log.lines
                == (told.map { ["x warning run-directory-open run=\(directory.path) mode=\($0)"] } ?? []))
    }

    @Test func `something else at the path is an error`() throws {
        let directory = try TemporaryDirectory()
        let path = try directory.write("x", to: "file")
        let error = try #require(throws: SystemError.self) { try makeDirectory(path, mode: 0o750) }
        #expect(error.code == ENOTDIR)
    }
}

@Suite struct FileTests {
    @Test func `a file larger than the limit is not read`() throws {
        let directory = try TemporaryDirectory()
        let path = try directory.write(String(repeating: "x", count: 100), to: "file")
        #expect(try readFile(path, bytesMax: 100).count == 100)
        let error = try #require(throws: SystemError.self) { _ = try readFile(path, bytesMax: 99) }
        #expect(error.code == EFBIG)
    }
}

@Suite(.timeLimit(.minutes(10))) struct ServiceManagerTests {
    @Test func `the manager hears of readiness and of the end`() throws {
        let directory = try TemporaryDirectory()
        let path = "\(directory.path)/notify"
        let descriptor = socket(AF_UNIX, CInt(SOCK_DGRAM.rawValue), 0)
        defer { close(descriptor) }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        let result = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        try #require(result == 0)
        let manager = ServiceManager(environment: ["NOTIFY_SOCKET": path])
        manager.ready()
        manager.stopping()
        #expect(try readSome(descriptor, bytesMax: 100) == Array("READY=1".utf8))
        #expect(try readSome(descriptor, bytesMax: 100) == Array("STOPPING=1".utf8))
    }

    @Test(arguments: [nil, "", "relative", "/none/such", "@" + String(repeating: "x", count: 200)])
    func `a manager that is not there is none`(path: String?) {
        let environment = path.map { ["NOTIFY_SOCKET": $0] } ?? [:]
        ServiceManager(environment: environment).ready()
    }
}

@Suite struct UsageTests {
    @Test func `the kernel says what the process has used`() {
        let usage = ProcessUsage.now()
        #expect(usage.cpuSeconds > 0)
        #expect(usage.residentBytes > 1 << 20)
    }
}

@Suite struct AdminAddressTests {
    private func address(_ text: String?, _ number: Int) throws -> HTTPAddress {
        var configuration = Configuration()
        configuration.adminListen[.rateLimiter] = text
        return try AdminDoor.address(
            configuration,
            .init(runDirectory: "/run/x", instance: InstanceName(.rateLimiter, number)))
    }

    @Test func `each instance has a door of its own`() throws {
        #expect(try address(nil, 2) == .unix(path: "/run/x/rate-limiter.2.admin"))
        #expect(try address("127.0.0.1:9104", 1) == .tcp(host: "127.0.0.1", port: 9_104))
        #expect(try address("127.0.0.1:9104", 3) == .tcp(host: "127.0.0.1", port: 9_106))
        #expect(try address("127.0.0.1:0", 3) == .tcp(host: "127.0.0.1", port: 0))
        #expect(throws: ServiceFailure.self) { try address("127.0.0.1:65535", 2) }
    }
}

@Suite struct CountersTests {
    @Test func `a name keeps its labels, and what does not fit is left out`() {
        let metrics = Metrics()
        var counters = Counters(metrics, instance: limiter)
        for by in [1, 2] {
            let isCounted = counters.add(Count("ignored", [("type", "report")], by: by))
            #expect(isCounted)
        }
        let wrong = [
            Count("ignored", [("kind", "x")]), Count("ignored"), Count("Bad-Name"), Count(""),
            Count("fine", [("a", "1"), ("a", "2")]), Count("fine", by: -1), Count("store_errors"),
        ]
        for count in wrong {
            let isCounted = counters.add(count)
            #expect(!isCounted)
        }
        #expect(metrics.exposition().contains(#"liveline_ignored_total{type="report"} 3"#))
    }
}
