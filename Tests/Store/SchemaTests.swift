import Foundation
import Store
import Synchronization
import Testing

@Suite struct SchemaTests {
    private let first = Schema(steps: ["CREATE TABLE t(k INTEGER PRIMARY KEY) STRICT; CREATE TABLE ran(step)"]
    )
    private var second: Schema {
        Schema(steps: first.steps + ["ALTER TABLE t ADD COLUMN v TEXT; INSERT INTO ran VALUES(2)"])
    }

    @Test func `steps run in order, once`() throws {
        let database = try Database(.memory)
        try database.migrate(to: second)
        try database.migrate(to: second)
        #expect(try database.count("PRAGMA user_version") == 2)
        #expect(try database.all("SELECT step FROM ran") { $0.int(0) } == [2])
    }

    @Test func `an older store gets what is missing and keeps its rows`() throws {
        let folder = try Folder()
        try Database(.file(folder.file("a"))).migrate(to: first)
        let database = try Database(.file(folder.file("a")))
        try database.run("INSERT INTO t VALUES(5)")
        try database.migrate(to: second)
        #expect(
            try database.all("SELECT k, v FROM t") { [$0.optionalInt(0), $0.optionalInt(1)] } == [[5, nil]])
    }

    @Test func `a newer store is refused and left alone`() throws {
        let database = try Database(.memory)
        try database.migrate(to: second)
        let failure = #expect(throws: StoreError.self) { try database.migrate(to: first) }
        #expect(
            failure?.message
                == "the store has schema version 2 and this program knows versions up to 1; a newer program wrote it"
        )
        #expect(try database.count("PRAGMA user_version") == 2)
    }

    @Test func `a step that fails takes back the whole upgrade`() throws {
        let database = try Database(.memory)
        try database.migrate(to: first)
        let broken = Schema(steps: second.steps + ["CREATE TABLE t(again)"])
        #expect(throws: StoreError.self) { try database.migrate(to: broken) }
        #expect(try database.count("PRAGMA user_version") == 1)
        #expect(try database.count("SELECT count(*) FROM ran") == 0)
        #expect(!database.isInTransaction)
    }

    @Test func `an upgrade inside a transaction is refused`() throws {
        let database = try Database(.memory)
        try database.begin()
        #expect(throws: StoreError.self) { try database.migrate(to: first) }
    }

    /// Opens, upgrades and writes at the same time on several threads; what was thrown.
    private func openTogether(_ file: String, _ schema: Schema) -> [StoreError] {
        let failures = Mutex<[StoreError]>([])
        DispatchQueue.concurrentPerform(iterations: 6) { _ in
            do throws(StoreError) {
                let database = try Database(.file(file))
                try database.migrate(to: schema)
                try database.run("INSERT INTO t(k) VALUES(?)", .int(database.nextKey()))
            } catch {
                failures.withLock { $0.append(error) }
            }
        }
        return failures.withLock { $0 }
    }

    @Test(.timeLimit(.minutes(10)))
    func `db-cold-start: many that open an empty store at once all come up, and the upgrade runs once`()
        throws
    {
        for round in 0..<50 {
            let folder = try Folder()
            let schema = round % 2 == 0 ? first : second
            #expect(openTogether(folder.file("a"), schema) == [])
            let database = try Database(.file(folder.file("a")))
            #expect(try database.count() == 6)
            #expect(try database.count("SELECT count(*) FROM ran") == Int64(round % 2))
            #expect(try database.integrityCheck() == [])
            #expect(try folder.mode("a") == 0o600)
        }
    }

    @Test(.timeLimit(.minutes(10)))
    func `db-cold-start: many that open a store one version old upgrade it once`() throws {
        for _ in 0..<20 {
            let folder = try Folder()
            try Database(.file(folder.file("a"))).migrate(to: first)
            #expect(openTogether(folder.file("a"), second) == [])
            let database = try Database(.file(folder.file("a")))
            #expect(try database.count("SELECT count(*) FROM ran") == 1)
        }
    }
}

extension Database {
    /// A key nobody else draws.
    fileprivate func nextKey() -> Int64 { .random(in: 0 ... .max) }
}
