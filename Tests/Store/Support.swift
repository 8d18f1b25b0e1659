import Foundation
import Store

/// A fresh short directory, removed with everything in it when the test lets go of it.
final class Folder {
    let path: String

    init() throws {
        path = "/tmp/ls-" + String(UInt64.random(in: .min ... .max), radix: 36)
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    func file(_ name: String) -> String { path + "/" + name }

    func size(_ name: String) throws -> Int {
        let attributes = try FileManager.default.attributesOfItem(atPath: file(name))
        return (attributes[.size] as? NSNumber)?.intValue ?? -1
    }

    func mode(_ name: String) throws -> Int {
        let attributes = try FileManager.default.attributesOfItem(atPath: file(name))
        return (attributes[.posixPermissions] as? NSNumber)?.intValue ?? -1
    }
}

/// A database in memory with one table `t(k INTEGER PRIMARY KEY, v)`.
func table() throws -> Database {
    let database = try Database(.memory)
    try database.run("CREATE TABLE t(k INTEGER PRIMARY KEY, v)")
    return database
}

extension Database {
    func count(_ sql: SQL = "SELECT count(*) FROM t") throws(StoreError) -> Int64? {
        try first(sql) { $0.int(0) }
    }
}
