import Testing

@testable import Store

@Suite struct StatementTests {
    @Test func `a literal is prepared once`() throws {
        let database = try table()
        let before = database.cachedStatementCount
        for key in 1...100 { try database.run("INSERT INTO t VALUES(?, 'x')", .int(Int64(key))) }
        #expect(database.cachedStatementCount == before + 1)
        #expect(try database.count() == 100)
    }

    @Test func `texts made at run time are kept up to a limit`() throws {
        let database = try table()
        let before = database.cachedStatementCount
        for number in 0..<500 { _ = try database.count(SQL("SELECT \(number)")) }
        #expect(database.cachedStatementCount <= before + StatementCache.textCountMax)
        #expect(try database.count(SQL("SELECT 499")) == 499)
    }

    @Test func `a query may run itself inside`() throws {
        let database = try table()
        for key in 1...3 { try database.run("INSERT INTO t VALUES(?, 0)", .int(Int64(key))) }
        func keys(depth: Int) throws(StoreError) -> [Int64] {
            var found: [Int64] = []
            try database.query("SELECT k FROM t ORDER BY k") { row throws(StoreError) in
                found.append(row.int(0))
                if depth > 0 { found += try keys(depth: depth - 1) }
            }
            return found
        }
        #expect(try keys(depth: 1) == [1, 1, 2, 3, 2, 1, 2, 3, 3, 1, 2, 3])
    }

    @Test func `bindings do not outlive a call, nor a failed one`() throws {
        let database = try table()
        try database.run("INSERT INTO t VALUES(?, ?)", 1, "a")
        let failure = #expect(throws: StoreError.self) {
            try database.run("INSERT INTO t VALUES(?, ?)", 1, "b")
        }
        #expect(failure?.isConstraint == true)
        try database.run("INSERT INTO t VALUES(?, ?)", 2, nil)
        #expect(try database.all("SELECT v FROM t ORDER BY k") { $0.optionalText(0) } == ["a", nil])
    }

    @Test func `a throw from a row leaves the statement ready`() throws {
        let database = try table()
        for key in 1...3 { try database.run("INSERT INTO t VALUES(?, 0)", .int(Int64(key))) }
        func walk(_ stop: Bool) throws(StoreError) -> Int {
            var rows = 0
            try database.query("SELECT k FROM t") { _ throws(StoreError) in
                rows += 1
                if stop { throw StoreError(call: "read", message: "unreadable row") }
            }
            return rows
        }
        #expect(throws: StoreError.self) { try walk(true) }
        #expect(try walk(false) == 3)
        // A statement left standing would hold the table.
        try database.run("DROP TABLE t")
    }

    @Test func `first stops at the first row and is nil without one`() throws {
        let database = try table()
        #expect(try database.first("SELECT k FROM t") { $0.int(0) } == nil)
        for key in 1...3 { try database.run("INSERT INTO t VALUES(?, 0)", .int(Int64(key))) }
        #expect(try database.first("SELECT k FROM t ORDER BY k DESC") { $0.int(0) } == 3)
    }

    @Test func `changes and the last key are those of the last statement`() throws {
        let database = try table()
        try database.run("INSERT INTO t VALUES(41, 0), (42, 0)")
        #expect(database.changes == 2 && database.lastInsertedRowID == 42)
        try database.run("DELETE FROM t WHERE k = 41")
        #expect(database.changes == 1)
    }

    @Test(arguments: [[], [1], [1, 2, 3]] as [[Value]])
    func `a wrong number of values is refused`(values: [Value]) throws {
        let database = try table()
        let failure = #expect(throws: StoreError.self) {
            try database.run("INSERT INTO t VALUES(?, ?)", values: values)
        }
        #expect(failure?.message == "\(values.count) values for 2 placeholders")
        #expect(try database.count() == 0)
    }

    @Test(arguments: ["", " ; ", "-- nothing", "SELECT 1; SELECT 2", "DELETE FROM t; x"])
    func `a text must hold exactly one statement`(text: String) throws {
        let database = try table()
        #expect(throws: StoreError.self) { try database.run(SQL(text)) }
    }

    @Test func `a final semicolon is welcome`() throws {
        #expect(try Database(.memory).count("SELECT 1;\n") == 1)
    }

    @Test func `values may come in an array`() throws {
        let database = try table()
        let keys: [Value] = [1, 2, 3]
        let places = keys.map { _ in "(?, 'x')" }.joined(separator: ",")
        try database.run(SQL("INSERT INTO t VALUES \(places)"), values: keys)
        var sum: Int64 = 0
        try database.query("SELECT k FROM t WHERE k IN (?, ?)", values: [1, 3]) { sum += $0.int(0) }
        #expect(sum == 4)
    }
}
