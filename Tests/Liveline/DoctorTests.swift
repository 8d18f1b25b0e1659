import Contracts
import Crypto
import Foundation
import Service
import Store
import Testing

@testable import liveline

@Suite(.timeLimit(.minutes(10)))
struct DoctorTests {
    private let directory: TemporaryDirectory
    private let now = Date().timeIntervalSince1970

    init() throws {
        directory = try TemporaryDirectory()
    }

    private var configuration: Configuration {
        var configuration = Configuration()
        configuration.dataDirectory = directory.path
        configuration.runDirectory = directory.path
        return configuration
    }

    private func host(_ configuration: Configuration, at seconds: Double? = nil) -> [String] {
        HostExamination(configuration: configuration, nowSeconds: seconds ?? now).findings.map(\.what)
    }

    private func write(_ name: String, _ text: String = "", mode: Int = 0o600) throws {
        let path = "\(directory.path)/\(name)"
        try text.write(toFile: path, atomically: false, encoding: .utf8)
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
    }

    // MARK: Host

    @Test func `a directory in order is no finding`() {
        #expect(host(configuration) == [])
    }

    @Test func `a data directory that is not there is one`() {
        var configuration = configuration
        configuration.dataDirectory += "/none"
        #expect(host(configuration) == ["\(directory.path)/none: there is no such directory"])
    }

    @Test func `so is one that is open to every user`() throws {
        try FileManager.default.setAttributes([.posixPermissions: 0o777], ofItemAtPath: directory.path)
        #expect(host(configuration) == ["\(directory.path) is open to every user"])
    }

    @Test func `a clock before 2025 is one, and one that was set back`() throws {
        try write("journal.sqlite")
        #expect(host(configuration, at: 1_000) == ["the clock says a time before 2025"])
        #expect(
            host(configuration, at: now - 3_600) == [
                "\(directory.path)/journal.sqlite was written in the future"
            ])
    }

    @Test func `little disk says what will happen`() {
        let finding = HostExamination.disk("/var/lib/liveline", free: 100 << 20, size: 1 << 30)
        #expect(finding.what == "/var/lib/liveline: 100 MiB of disk are free")
        #expect(finding.remedy.contains("will be answered 503 when less than 16 MiB are free"))
        let reached = HostExamination.disk("/d", free: 15 << 20, size: 1 << 30)
        #expect(reached.remedy.contains("are answered 503 now, since less than 16 MiB are free"))
    }

    @Test func `of a small disk an eighth is kept`() {
        let finding = HostExamination.disk("/d", free: 3 << 20, size: 4 << 20)
        #expect(finding.what == "/d: 3.0 MiB of disk are free")
        #expect(finding.remedy.contains("will be answered 503 when less than 0.5 MiB are free"))
    }

    @Test func `a certificate that ends soon is one`() throws {
        let made = try SelfSignedCertificate.make(hosts: ["localhost"])
        try write("door.pem", made.certificatePEM)
        var configuration = configuration
        configuration.http.certificateFile = "\(directory.path)/door.pem"
        #expect(host(configuration) == [])
        let end = Double(try CertificateFile.validUntilSeconds(pem: Array(made.certificatePEM.utf8)))
        #expect(
            HostExamination(configuration: configuration, nowSeconds: end - 86_400 * 3.5).certificates.map(
                \.what)
                == ["http.certificateFile: \(directory.path)/door.pem is valid for 3 more days"])
        #expect(
            HostExamination(configuration: configuration, nowSeconds: end + 1).certificates.map(\.what)
                == ["http.certificateFile: \(directory.path)/door.pem is valid no longer"])
    }

    // MARK: Stores

    private func stores(version: Int? = nil) -> [Finding] {
        StoreExamination(directory: directory.path, isThorough: true) { _ in version }.findings
    }

    private func makeStore(_ name: String) throws -> Database {
        let database = try Database(.file("\(directory.path)/\(name)"))
        try database.migrate(to: Schema(steps: ["CREATE TABLE t (n INTEGER); INSERT INTO t VALUES (1)"]))
        return database
    }

    @Test func `a sound store is no finding, also while it is written to`() throws {
        let database = try makeStore("journal.sqlite")
        try database.begin()
        try database.run("INSERT INTO t VALUES (2)")
        #expect(stores(version: 1) == [])
        try database.commit()
        #expect(stores() == [])
    }

    @Test func `no store at all is none`() {
        #expect(stores(version: 1) == [])
    }

    @Test(arguments: [(2, "restart ingest"), (0, "a newer ingest wrote it")])
    func `a store of another version than the program is one`(known: Int, remedy: String) throws {
        _ = try makeStore("journal.sqlite")
        let findings = stores(version: known)
        #expect(
            findings.map(\.what).first?.hasPrefix("\(directory.path)/journal.sqlite has schema 1") == true)
        #expect(findings.first?.remedy.contains(remedy) == true)
    }

    @Test func `a damaged store is one`() throws {
        do {
            let database = try makeStore("ledger.sqlite")
            for number in 0..<2_000 { try database.run("INSERT INTO t VALUES (?)", .int(Int64(number))) }
        }
        let path = "\(directory.path)/ledger.sqlite"
        var bytes = try #require(FileManager.default.contents(atPath: path))
        for place in stride(from: 4_096, to: bytes.count, by: 7) { bytes[place] = 0xA5 }
        try bytes.write(to: URL(filePath: path))
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
        let findings = stores(version: 1)
        #expect(findings.count == 1)
        #expect(findings.first?.what.hasPrefix("\(path) is damaged: ") == true)
        #expect(findings.first?.remedy.contains("backup") == true)
    }

    @Test func `what is no store, or open to every user, is one`() throws {
        try write("profiles.sqlite", String(repeating: "no store at all ", count: 100), mode: 0o644)
        let findings = stores(version: 1).map(\.what)
        #expect(findings.count == 2)
        #expect(findings.first == "\(directory.path)/profiles.sqlite can be read or written by every user")
    }

    /// Looks at stores whose services have these files open.
    private func lost(_ opened: String...) -> [Finding] {
        StoreExamination(
            directory: directory.path, isThorough: false, version: { _ in nil },
            opened: { $0 == .ingest ? opened : [] }
        ).findings
    }

    @Test func `a store that was removed or moved away under its service is one`() throws {
        let path = "\(directory.path)/journal.sqlite"
        for opened in ["\(path) (deleted)", "/elsewhere/journal.sqlite"] {
            let finding = try #require(lost(opened, "\(path)-wal (deleted)").first)
            #expect(finding.what == "\(path) was removed or replaced while ingest works with it")
            #expect(finding.remedy.contains("restart ingest") && finding.remedy.contains("is lost"))
        }
        #expect(
            lost("\(directory.path)/journal.old", "\(path)-wal").first?.what.hasPrefix("\(path) was moved")
                == true)
        let database = try makeStore("journal.sqlite")
        #expect(lost("\(path) (deleted)").count == 1)
        #expect(
            lost("\(directory.path)/journal.old", "\(path)-wal").count == 1, "another one stands in its place"
        )
        #expect(lost(path, "\(path)-wal", "/tmp/other (deleted)") == [])
        withExtendedLifetime(database) {}
    }

    @Test(arguments: [false, true])
    func `a store is not read through while its service could fill the disk meanwhile`(isRunning: Bool) throws
    {
        let path = "\(directory.path)/journal.sqlite"
        let database = try makeStore("journal.sqlite")
        let size = try Data(contentsOf: URL(filePath: path)).count
        for free in [0, size / 4] {
            var examination = StoreExamination(
                directory: directory.path, isThorough: false, version: { _ in nil },
                opened: { _ in isRunning ? [path, "\(path)-wal"] : [] })
            examination.freeBytes = { _ in Int64(free) }
            let isLeftOut = isRunning && free < size / 4
            #expect(
                examination.findings.count { $0.what.contains("was not read through") } == (isLeftOut ? 1 : 0)
            )
        }
        withExtendedLifetime(database) {}
    }

    @Test func `what the kernel tells is read to its end`() throws {
        // Hundreds of mappings: much more than one read of a file of /proc gives.
        let text = try #require(KernelView.text("/proc/self/smaps"))
        #expect(text.utf8.count > 65_536 && text.hasSuffix("\n"))
        #expect(text.contains("[stack]"))
        #expect(KernelView.text("/proc/none") == nil)
    }

    @Test func `a service that works with a store elsewhere is one`() throws {
        let finding = try #require(lost("/elsewhere/journal.sqlite", "/elsewhere/journal.sqlite-wal").first)
        let path = "\(directory.path)/journal.sqlite"
        #expect(finding.what == "\(path) is not there: ingest works with /elsewhere/journal.sqlite")
        #expect(finding.remedy.contains("--data"))
    }

    @Test func `so is one whose log was`() throws {
        let database = try makeStore("journal.sqlite")
        let path = "\(directory.path)/journal.sqlite"
        let findings = lost(path, "\(path)-wal (deleted)")
        #expect(findings.map(\.what) == ["\(path)-wal was removed or replaced while ingest works with it"])
        #expect(findings.first?.remedy.contains("-wal alone is lost") == true)
        withExtendedLifetime(database) {}
    }

    @Test(arguments: [("ingest 1.0.0, store 12\n", 12), ("rate-limiter 1.0.0\n", nil), ("", nil)])
    func `a program's version names its schema`(text: String, schema: Int?) {
        #expect(StoreExamination.schema(inVersion: text) == schema)
    }

    // MARK: Locks, sockets, limits

    private let locks = """
        1: POSIX  ADVISORY  WRITE 12 08:01:77 0 EOF
        2: FLOCK  ADVISORY  WRITE 708 08:01:3145 0 EOF
        3: -> FLOCK  ADVISORY  WRITE 900 08:01:3146 0 EOF
        """

    @Test func `who holds a lock is what the kernel says`() {
        #expect(KernelView.holder(ofInode: 3_145, in: locks) == 708)
        #expect(KernelView.holder(ofInode: 77, in: locks) == nil)
        #expect(KernelView.holder(ofInode: 3_146, in: locks) == nil)
    }

    /// What the kernel would say if these locks were held, each by the process at its place, 700 and on.
    private func kernel(_ held: String..., others: [String: String] = [:]) throws -> KernelView {
        let lines = try held.enumerated().map { place, name in
            let attributes = try FileManager.default.attributesOfItem(
                atPath: "\(directory.path)/\(name).lock")
            let inode = try #require(attributes[.systemFileNumber] as? UInt64)
            return "1: FLOCK  ADVISORY  WRITE \(700 + place) 08:01:\(inode) 0 EOF\n"
        }
        return KernelView(read: { $0 == "/proc/locks" ? lines.joined() : others[$0] }, links: { _ in [] })
    }

    private func run(_ kernel: KernelView) -> RunExamination {
        RunExamination(directory: directory.path, kernel: kernel)
    }

    @Test func `a service that does not run while others do is one`() throws {
        for name in ["ingest.1", "segmenter.1"] { try write("\(name).lock") }
        let run = try run(kernel("segmenter.1"))
        #expect(
            run.findings.map(\.what) == [
                "ingest.1 does not run: nobody holds \(directory.path)/ingest.1.lock"
            ])
        #expect(run.running == [.init(name: InstanceName(.segmenter), process: 700)])
        #expect(run.remark == nil)
    }

    @Test func `a further instance that has ended is none`() throws {
        for name in ["ingest.1", "ingest.2", "segmenter.1", "segmenter.3"] { try write("\(name).lock") }
        #expect(try run(kernel("ingest.2", "segmenter.1")).findings == [])
    }

    @Test func `a deployment that is stopped as a whole is none, and is said`() throws {
        for name in ["ingest.1", "ingest.2", "segmenter.1"] { try write("\(name).lock") }
        for name in ["ingest.up", "ingest.lock"] { try write(name) }
        let run = try run(kernel())
        #expect(run.findings == [])
        #expect(run.remark == "\(directory.path): the services are stopped")
    }

    @Test(arguments: [("1024", 1), ("65536", 0), ("unlimited", 0)])
    func `a service that may open few files is one`(limit: String, count: Int) throws {
        try write("ingest.1.lock")
        let limits =
            "Limit                     Soft Limit           Hard Limit           Units     \n"
            + "Max open files            \(limit)                 524288               files     \n"
        let findings = try run(kernel("ingest.1", others: ["/proc/700/limits": limits])).findings
        #expect(findings.count == count)
        if count == 1 {
            #expect(findings.first?.what == "ingest.1 (process 700) may open 1024 files at a time")
        }
    }

    @Test func `a socket whose process is gone is one`() throws {
        for name in ["ingest.1.lock", "ingest.1.admin", "segmenter.1.work", "segmenter.1.answers"] {
            try write(name)
        }
        #expect(
            try run(kernel("ingest.1")).findings.map(\.what) == [
                "\(directory.path)/segmenter.1.answers and 1 more: nobody listens at this socket"
            ])
    }

    @Test func `what a process is and has is read`() {
        let kernel = KernelView(
            read: {
                [
                    "/proc/7/stat": "7 (a (b) T) T 1 7 7 0", "/proc/8/stat": "8 (x) S 1 8 8 0",
                    "/proc/7/environ": "A=1\0LIVELINE_X=y=z\0\0B\0",
                ][$0]
            }, links: { $0 == "/proc/7/fd" ? ["/a", "/b (deleted)"] : [] })
        #expect([7, 8, 9].map(kernel.isHeld) == [true, false, false])
        #expect(kernel.environment(7) == ["A": "1", "LIVELINE_X": "y=z"])
        #expect(kernel.environment(8) == nil)
        #expect(kernel.opened(7) == ["/a", "/b (deleted)"])
    }

    @Test func `a run directory that is not there, or open to every user, is one`() throws {
        let none = RunExamination(directory: "\(directory.path)/none").findings
        #expect(none.map(\.what) == ["\(directory.path)/none: there is no such directory"])
        try FileManager.default.setAttributes(
            [.posixPermissions: 0o755 | 0o007], ofItemAtPath: directory.path)
        let open = RunExamination(directory: directory.path).findings
        #expect(open.map(\.what) == ["\(directory.path) is open to every user"])
    }

    // MARK: All together

    @Test func `a configuration with faults, and APNs that nobody answers for, are findings`() throws {
        let setup = TrialSetup(directory: directory.path, runDirectory: directory.path)
        try setup.write()
        let screen = Screen()
        let words = ["doctor", "--config", setup.configurationFile]
        #expect(Subcommands.run(words + ["--offline"], on: screen.console) == 0)
        #expect(screen.output == ["nothing found"])
        let text = String(decoding: setup.configuration, as: UTF8.self)
        let closed = text.dropLast() + #", "apns": {"production": "https://apns.invalid"}}"#
        try String(closed).write(toFile: setup.configurationFile, atomically: true, encoding: .utf8)
        #expect(Subcommands.run(words, on: screen.console) == 1)
        #expect(screen.output.contains { $0.hasPrefix("https://apns.invalid cannot be reached: ") })
        #expect(screen.output.last == "1 finding")
        try "{".write(toFile: setup.configurationFile, atomically: true, encoding: .utf8)
        #expect(Subcommands.run(words + ["--offline"], on: screen.console) == 1)
    }
}
