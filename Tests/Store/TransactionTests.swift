import Store
import Testing

@Suite struct TransactionTests {
    @Test func `a transaction commits what it did and hands on the result`() throws {
        let database = try table()
        let result = try database.transaction { () throws(StoreError) -> Int in
            try database.run("INSERT INTO t VALUES(1, 1)")
            #expect(database.isInTransaction)
            return 7
        }
        #expect(result == 7 && !database.isInTransaction)
        #expect(try database.count() == 1)
    }

    @Test func `a transaction that throws leaves nothing`() throws {
        let database = try table()
        let failure = #expect(throws: StoreError.self) {
            try database.transaction { () throws(StoreError) in
                try database.run("INSERT INTO t VALUES(1, 1)")
                throw StoreError(call: "core", message: "no")
            }
        }
        #expect(failure?.call == "core" && !database.isInTransaction)
        #expect(try database.count() == 0)
    }

    @Test func `begin, commit and rollback span several steps`() throws {
        let database = try table()
        try database.begin()
        try database.run("INSERT INTO t VALUES(1, 1)")
        try database.rollback()
        try database.begin()
        try database.run("INSERT INTO t VALUES(2, 2)")
        try database.commit()
        #expect(try database.all("SELECT k FROM t") { $0.int(0) } == [2])
    }

    @Test func `a reading sees one moment and takes no lock from who writes`() throws {
        let folder = try Folder()
        let writer = try Database(.file(folder.file("store")))
        try writer.run("CREATE TABLE t(k INTEGER PRIMARY KEY, v)")
        try writer.begin()
        let reader = try Database(.file(folder.file("store")))
        try reader.beginReading()
        #expect(try reader.count() == 0)
        try writer.run("INSERT INTO t VALUES(1, 1)")
        try writer.commit()
        #expect(try reader.count() == 0)
        try reader.rollback()
        #expect(try reader.count() == 1 && !reader.isInTransaction)
    }

    @Test func `a second begin is refused and the first goes on`() throws {
        let database = try table()
        try database.begin()
        #expect(throws: StoreError.self) { try database.begin() }
        try database.run("INSERT INTO t VALUES(1, 1)")
        try database.commit()
        #expect(try database.count() == 1)
    }

    @Test func `a rollback without a transaction does nothing`() throws {
        try table().rollback()
    }

    @Test func `a failed commit leaves no transaction open`() throws {
        let database = try Database(.memory)
        try database.run("PRAGMA foreign_keys = ON")
        try database.run("CREATE TABLE p(k INTEGER PRIMARY KEY)")
        try database.run("CREATE TABLE t(p REFERENCES p DEFERRABLE INITIALLY DEFERRED)")
        try database.begin()
        try database.run("INSERT INTO t VALUES(1)")
        let failure = #expect(throws: StoreError.self) { try database.commit() }
        #expect(failure?.extendedCode == 787 && !database.isInTransaction)
        #expect(try database.count() == 0)
        try database.transaction { () throws(StoreError) in try database.run("INSERT INTO p VALUES(1)") }
    }

    @Test func `after SQLite rolled back by itself nothing slips in before the end`() throws {
        let database = try table()
        try database.run("INSERT INTO t VALUES(1, 1)")
        try database.begin()
        try database.run("INSERT INTO t VALUES(2, 2)")
        let first = #expect(throws: StoreError.self) {
            try database.run("INSERT OR ROLLBACK INTO t VALUES(1, 1)")
        }
        let second = #expect(throws: StoreError.self) { try database.run("INSERT INTO t VALUES(3, 3)") }
        let third = #expect(throws: StoreError.self) { try database.commit() }
        #expect(first == second && second == third && first?.isConstraint == true)
        #expect(try database.all("SELECT k FROM t") { $0.int(0) } == [1])
    }
}
