import Foundation
import Testing

@testable import Store

@Suite struct FullDiskTests {
    /// Writes two tables in one commit; all of it or nothing must be found afterwards.
    private func work(_ database: Database, round: Int64) throws(StoreError) {
        try database.transaction { () throws(StoreError) in
            for key in 0..<40 {
                try database.run(
                    "INSERT INTO t VALUES(?, ?)", .int(round * 100 + Int64(key)),
                    .blob([UInt8](repeating: 1, count: 900)))
                try database.run("INSERT INTO u VALUES(?)", .text("\(round)-\(key)"))
            }
        }
    }

    private func counts(_ database: Database) throws(StoreError) -> [Int64?] {
        [try database.count(), try database.count("SELECT count(*) FROM u")]
    }

    private func open(_ folder: Folder) throws -> Database {
        let database = try Database(.file(folder.file("a")))
        try database.run("CREATE TABLE t(k INTEGER PRIMARY KEY, v BLOB)")
        try database.run("CREATE TABLE u(v TEXT UNIQUE)")
        return database
    }

    @Test func `a full store says so, can be read, and works again with room`() throws {
        let folder = try Folder()
        let database = try open(folder)
        try database.run("PRAGMA max_page_count = 40")
        var rounds: Int64 = 0
        let failure = #expect(throws: StoreError.self) {
            while true {
                try work(database, round: rounds)
                rounds += 1
            }
        }
        #expect(failure?.isFull == true && failure?.code == 13 && rounds > 0)
        #expect(!database.isInTransaction)
        #expect(try counts(database) == [rounds * 40, rounds * 40])
        try database.run("PRAGMA max_page_count = 4000")
        try work(database, round: rounds)
        #expect(try counts(database) == [(rounds + 1) * 40, (rounds + 1) * 40])
        #expect(try database.integrityCheck() == [])
    }

    @Test func `wherever the store becomes full, a commit is whole or absent`() throws {
        let folder = try Folder()
        let database = try open(folder)
        try work(database, round: 0)
        let start = try #require(try database.count("PRAGMA page_count"))
        var failures = 0
        while failures < 100 {
            _ = try database.count(SQL("PRAGMA max_page_count = \(start + Int64(failures))"))
            do {
                try work(database, round: 1)
                break
            } catch {
                #expect(error.isFull && !database.isInTransaction)
                #expect(try counts(database) == [40, 40])
                failures += 1
            }
        }
        #expect(failures > 5 && failures < 100)
        #expect(try counts(database) == [80, 80])
        #expect(try database.integrityCheck() == [])
    }

    @Test func `explicit steps after a full disk do not commit a part`() throws {
        let folder = try Folder()
        let database = try open(folder)
        try database.run("PRAGMA max_page_count = 10")
        try database.begin()
        var failure: StoreError?
        for key in 0..<200 where failure == nil {
            do {
                try database.run("INSERT INTO t VALUES(?, zeroblob(900))", .int(Int64(key)))
            } catch { failure = error }
        }
        #expect(failure?.isFull == true)
        try database.rollback()
        #expect(try counts(database) == [0, 0])
    }

    /// Free KiB, and how many KiB the log may have.
    private static let logs: [(Int64, Int64)] = [
        (1_073_741_824, 8_192), (65_536, 8_192), (64_512, 4_096), (4_096, 512), (600, 64), (0, 64),
    ]

    @Test(arguments: logs)
    func `the log grows to eight mebibytes, or an eighth of what is free`(free: Int64, log: Int64) {
        #expect(Database.logBytes(freeBytes: free << 10, target: 8 << 20) == log << 10)
    }

    @Test func `after a full disk the log is copied back and cut off`() throws {
        let folder = try Folder()
        let database = try open(folder)
        try work(database, round: 0)
        #expect(try size(folder.file("a-wal")) > 0)
        let pages = try #require(try database.count("PRAGMA page_count"))
        _ = try database.count(SQL("PRAGMA max_page_count = \(pages)"))
        #expect(throws: StoreError.self) { try work(database, round: 1) }
        #expect(database.needsRoom)
        _ = try database.count("PRAGMA max_page_count = 4000")
        try database.begin()
        // The one page that has shown that the disk takes writes.
        #expect(try size(folder.file("a-wal")) < 8_192)
        try database.rollback()
        #expect(!database.needsRoom)
        try work(database, round: 1)
        #expect(try counts(database) == [80, 80])
    }

    @Test(arguments: ["a", "a-wal"], [true, false])
    func `a store whose file is gone or another takes no more`(name: String, isReplaced: Bool) throws {
        let folder = try Folder()
        let database = try open(folder)
        try work(database, round: 0)
        try FileManager.default.moveItem(atPath: folder.file(name), toPath: folder.file("former"))
        if isReplaced { try Data().write(to: URL(filePath: folder.file(name))) }
        for round in 1...2 as ClosedRange<Int64> {
            let failure = #expect(throws: StoreError.self) { try work(database, round: round) }
            #expect(failure?.message.contains(folder.file(name)) == true)
            #expect(failure?.systemError == (isReplaced ? 0 : ENOENT))
        }
    }

    private func size(_ path: String) throws -> Int {
        try #require(try FileManager.default.attributesOfItem(atPath: path)[.size] as? Int)
    }
}
