import Foundation
import Store
import Testing

@Suite struct DatabaseTests {
    @Test func `a new file and its log are for the owner alone`() throws {
        let folder = try Folder()
        let database = try Database(.file(folder.file("a")))
        try database.run("CREATE TABLE t(k)")
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
        #expect(names == ["a", "a-shm", "a-wal"])
        for name in names { #expect(try folder.mode(name) == 0o600, "\(name)") }
    }

    @Test func `a file that exists keeps its mode`() throws {
        let folder = try Folder()
        let made = FileManager.default.createFile(
            atPath: folder.file("a"), contents: nil, attributes: [.posixPermissions: 0o640])
        #expect(made)
        _ = try Database(.file(folder.file("a")))
        #expect(try folder.mode("a") == 0o640)
    }

    @Test(arguments: [
        ("PRAGMA journal_mode", "wal"), ("PRAGMA synchronous", "2"), ("PRAGMA foreign_keys", "0"),
        ("PRAGMA busy_timeout", "500"), ("PRAGMA wal_autocheckpoint", "256"),
        ("PRAGMA journal_size_limit", "1048576"),
    ])
    func `a file is set up`(pragma: String, value: String) throws {
        let folder = try Folder()
        let database = try Database(.file(folder.file("a")))
        #expect(try database.first(SQL(pragma)) { $0.text(0) } == value)
    }

    @Test func `the log stays bounded over many commits`() throws {
        let folder = try Folder()
        let database = try Database(.file(folder.file("a")))
        try database.run("PRAGMA synchronous = OFF")
        try database.run("CREATE TABLE t(k INTEGER PRIMARY KEY, v BLOB)")
        let payload = Value.blob([UInt8](repeating: 1, count: 100_000))
        var largest = 0
        for key in 0..<400 {
            try database.run("INSERT OR REPLACE INTO t VALUES(?, ?)", .int(Int64(key % 10)), payload)
            largest = max(largest, try folder.size("a-wal"))
        }
        #expect(largest > 900_000 && largest < 1_300_000)
    }

    @Test func `what is not committed is seen by nobody else`() throws {
        let folder = try Folder()
        let writer = try Database(.file(folder.file("a")))
        try writer.run("CREATE TABLE t(k INTEGER PRIMARY KEY)")
        let reader = try Database(.file(folder.file("a")))
        try writer.begin()
        try writer.run("INSERT INTO t VALUES(1)")
        #expect(try writer.count() == 1)
        #expect(try reader.count() == 0)
        try writer.commit()
        #expect(try reader.count() == 1)
    }

    @Test func `a connection that goes away in a transaction leaves nothing of it`() throws {
        let folder = try Folder()
        do {
            let killed = try Database(.file(folder.file("a")))
            try killed.run("CREATE TABLE t(k INTEGER PRIMARY KEY)")
            try killed.begin()
            try killed.run("INSERT INTO t VALUES(1)")
        }
        let next = try Database(.file(folder.file("a")))
        #expect(try next.count() == 0)
        #expect(try next.integrityCheck() == [])
    }

    @Test func `the files as a crash leaves them hold all that was committed`() throws {
        let folder = try Folder()
        let database = try Database(.file(folder.file("a")))
        try database.run("CREATE TABLE t(k INTEGER PRIMARY KEY)")
        try database.run("INSERT INTO t VALUES(1)")
        try database.begin()
        try database.run("INSERT INTO t VALUES(2)")
        for name in ["a", "a-wal"] {
            let copy = name.replacing("a", with: "b", maxReplacements: 1)
            try FileManager.default.copyItem(atPath: folder.file(name), toPath: folder.file(copy))
        }
        let recovered = try Database(.file(folder.file("b")))
        #expect(try recovered.all("SELECT k FROM t") { $0.int(0) } == [1])
    }

    @Test func `a lock that is not given is reported as busy`() throws {
        let folder = try Folder()
        let first = try Database(.file(folder.file("a")))
        var options = Database.Options()
        options.busyTimeoutMilliseconds = 0
        let second = try Database(.file(folder.file("a")), options: options)
        try first.begin()
        let failure = #expect(throws: StoreError.self) { try second.begin() }
        #expect(failure?.isBusy == true && !second.isInTransaction)
        try first.rollback()
        try second.begin()
        try second.commit()
    }

    @Test func `closing the last connection folds the log away`() throws {
        let folder = try Folder()
        do {
            let database = try Database(.file(folder.file("a")))
            try database.run("CREATE TABLE t(k)")
            try database.query("SELECT * FROM t") { _ in }
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["a"])
    }
}
