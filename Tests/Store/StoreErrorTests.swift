import Foundation
import Store
import Testing

@Suite struct StoreErrorTests {
    @Test func `a constraint error carries codes and SQL but no value`() throws {
        let database = try Database(.memory)
        try database.run("CREATE TABLE u(a TEXT UNIQUE, b TEXT NOT NULL, c INTEGER CHECK (c > 0)) STRICT")
        try database.run("INSERT INTO u VALUES('leak-4242', 'b', 1)")
        let failure = try #require(
            #expect(throws: StoreError.self) {
                try database.run("INSERT INTO u VALUES(?, ?, ?)", "leak-4242", "b", 1)
            })
        #expect(failure.code == 19 && failure.extendedCode == 2067 && failure.isConstraint)
        #expect(failure.sql == "INSERT INTO u VALUES(?, ?, ?)")
        #expect(failure.description.contains("UNIQUE") && failure.description.contains("2067"))
        #expect(!failure.description.contains("leak-4242"))
    }

    @Test(
        arguments: [
            ([nil, nil, 1], 1299), (["x", "b", 0], 275), (["y", "b", "no"], 3091),
        ] as [([Value], Int32)])
    func `each constraint has its extended code`(values: [Value], code: Int32) throws {
        let database = try Database(.memory)
        try database.run("CREATE TABLE u(a TEXT UNIQUE, b TEXT NOT NULL, c INTEGER CHECK (c > 0)) STRICT")
        let failure = #expect(throws: StoreError.self) {
            try database.run("INSERT INTO u VALUES(?, ?, ?)", values: values)
        }
        #expect(failure?.extendedCode == code)
    }

    @Test func `a mistake in the SQL names it`() throws {
        let failure = #expect(throws: StoreError.self) { try Database(.memory).run("SELEC 1") }
        #expect(failure?.call == "prepare" && failure?.code == 1 && failure?.sql == "SELEC 1")
    }

    @Test func `a connection that may not write says so`() throws {
        let database = try table()
        try database.run("PRAGMA query_only = ON")
        let failure = #expect(throws: StoreError.self) { try database.run("INSERT INTO t VALUES(1, 1)") }
        #expect(failure?.isReadOnly == true && failure?.isFull == false)
    }

    @Test func `a full disk under a file operation counts as full`() {
        #expect(StoreError(call: "step", extendedCode: 4874, systemError: ENOSPC, message: "").isFull)
        #expect(StoreError(call: "open", extendedCode: 14, systemError: EDQUOT, message: "").isFull)
        #expect(!StoreError(call: "step", extendedCode: 19, systemError: ENOSPC, message: "").isFull)
        #expect(StoreError(call: "open", extendedCode: 14, systemError: EROFS, message: "").isReadOnly)
    }

    @Test func `a file that is no database is refused and left alone`() throws {
        let folder = try Folder()
        let text = String(repeating: "this is not a database\n", count: 500)
        try text.write(toFile: folder.file("a"), atomically: true, encoding: .utf8)
        let failure = #expect(throws: StoreError.self) { try Database(.file(folder.file("a"))) }
        #expect(failure?.isCorrupt == true)
        #expect(try String(contentsOfFile: folder.file("a"), encoding: .utf8) == text)
    }

    @Test func `damage inside a file is found`() throws {
        let folder = try Folder()
        do {
            let database = try Database(.file(folder.file("a")))
            try database.run("CREATE TABLE t(k INTEGER PRIMARY KEY, v TEXT)")
            try database.transaction { () throws(StoreError) in
                for key in 1...2_000 {
                    try database.run("INSERT INTO t VALUES(?, 'some text')", .int(Int64(key)))
                }
            }
            #expect(try database.integrityCheck() == [])
        }
        var bytes = try Data(contentsOf: URL(fileURLWithPath: folder.file("a")))
        bytes.replaceSubrange(4_096..<12_288, with: Data(repeating: 0x5A, count: 8_192))
        try bytes.write(to: URL(fileURLWithPath: folder.file("a")))
        let database = try Database(.file(folder.file("a")))
        let failure = #expect(throws: StoreError.self) { try database.query("SELECT v FROM t") { _ in } }
        #expect(failure?.isCorrupt == true)
        #expect(try !database.integrityCheck().isEmpty)
    }

    @Test(arguments: ["", "no/such/folder/a", "a\0b"])
    func `a path that cannot be used is refused`(path: String) throws {
        let folder = try Folder()
        let failure = #expect(throws: StoreError.self) {
            try Database(.file(path.isEmpty ? "" : folder.file(path)))
        }
        #expect(failure?.code == 14)
    }

    @Test func `a directory is refused`() throws {
        let folder = try Folder()
        let failure = #expect(throws: StoreError.self) { try Database(.file(folder.path)) }
        #expect(failure?.code == 14 && failure?.description.contains(folder.path) == true)
    }
}
