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
        let finding = HostExamination.disk("/var/lib/liveline", free: 100 << 20)
        #expect(finding.what == "/var/lib/liveline: 100 MiB of disk are free")
        #expect(finding.remedy.contains("503"))
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
        #expect(RunExamination.holder(ofInode: 3_145, in: locks) == 708)
        #expect(RunExamination.holder(ofInode: 77, in: locks) == nil)
        #expect(RunExamination.holder(ofInode: 3_146, in: locks) == nil)
    }

    @Test func `a lock that nobody holds is a service that does not run`() throws {
        try write("ingest.1.lock", "708\n")
        let findings = RunExamination(directory: directory.path) { _ in "" }.findings
        #expect(
            findings.map(\.what) == ["ingest.1 does not run: nobody holds \(directory.path)/ingest.1.lock"])
    }

    @Test(arguments: [("1024", 1), ("65536", 0), ("unlimited", 0)])
    func `a service that may open few files is one`(limit: String, count: Int) throws {
        try write("ingest.1.lock")
        let attributes = try FileManager.default.attributesOfItem(
            atPath: "\(directory.path)/ingest.1.lock")
        let inode = try #require(attributes[.systemFileNumber] as? UInt64)
        let findings = RunExamination(directory: directory.path) { path in
            switch path {
            case "/proc/locks": "1: FLOCK  ADVISORY  WRITE 708 08:01:\(inode) 0 EOF\n"
            case "/proc/708/limits":
                "Limit                     Soft Limit           Hard Limit           Units     \n"
                    + "Max open files            \(limit)                 524288               files     \n"
            default: nil
            }
        }.findings
        #expect(findings.count == count)
        if count == 1 {
            #expect(findings.first?.what == "ingest.1 (process 708) may open 1024 files at a time")
        }
    }

    @Test func `a socket whose process is gone is one`() throws {
        for name in ["ingest.1.lock", "ingest.1.admin", "segmenter.1.work", "segmenter.1.answers"] {
            try write(name)
        }
        let attributes = try FileManager.default.attributesOfItem(
            atPath: "\(directory.path)/ingest.1.lock")
        let inode = try #require(attributes[.systemFileNumber] as? UInt64)
        let findings = RunExamination(directory: directory.path) {
            $0 == "/proc/locks" ? "1: FLOCK  ADVISORY  WRITE 708 08:01:\(inode) 0 EOF\n" : nil
        }.findings
        #expect(
            findings.map(\.what) == [
                "\(directory.path)/segmenter.1.answers and 1 more: nobody listens at this socket"
            ])
    }

    @Test func `a run directory that is not there, or open to every user, is one`() throws {
        let none = RunExamination(directory: "\(directory.path)/none") { _ in nil }.findings
        #expect(none.map(\.what) == ["\(directory.path)/none: there is no such directory"])
        try FileManager.default.setAttributes(
            [.posixPermissions: 0o755 | 0o007], ofItemAtPath: directory.path)
        let open = RunExamination(directory: directory.path) { _ in nil }.findings
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
        let closed = text.dropLast() + #", "apns": {"production": "https://127.0.0.1:1"}}"#
        try String(closed).write(toFile: setup.configurationFile, atomically: true, encoding: .utf8)
        #expect(Subcommands.run(words, on: screen.console) == 1)
        #expect(screen.output.contains { $0.hasPrefix("https://127.0.0.1:1 cannot be reached: ") })
        #expect(screen.output.last == "1 finding")
        try "{".write(toFile: setup.configurationFile, atomically: true, encoding: .utf8)
        #expect(Subcommands.run(words + ["--offline"], on: screen.console) == 1)
    }
}
