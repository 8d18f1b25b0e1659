internal import CSQLite

/// The tables of a store, as the scripts that lead to them.
///
/// Step n takes a store from version n to n + 1. A step that has been released is never edited; a change is a new one.
public struct Schema: Equatable, Sendable {
    /// The scripts in order, each of any number of statements without BEGIN or COMMIT.
    public let steps: [String]

    /// Takes the scripts in order.
    public init(steps: [String]) { self.steps = steps }
}

extension Database {
    /// Brings the store to the newest version of its schema, in one transaction.
    ///
    /// Several processes may do so at once: one upgrades, the others find it done.
    ///
    /// - Throws: `StoreError` when a step fails, or when a newer program has upgraded the store; it is then unchanged.
    public func migrate(to schema: Schema) throws(StoreError) {
        guard try version(known: schema) < schema.steps.count else { return }
        try transaction { () throws(StoreError) in
            let version = try version(known: schema)
            for step in schema.steps.dropFirst(version) { try connection.execute(script: step) }
            try connection.execute(script: "PRAGMA user_version = \(schema.steps.count)")
        }
    }

    /// Looks for damage in the whole file; an empty list means that it is sound.
    ///
    /// It reads every page, which takes about a second for each 100 MB.
    ///
    /// - Throws: `StoreError` when it could not look, for example because the file is locked.
    public func integrityCheck() throws(StoreError) -> [String] { try damage("PRAGMA integrity_check") }

    /// What one of SQLite's checks finds; an empty list means that the store is sound.
    func damage(_ check: SQL) throws(StoreError) -> [String] {
        do {
            let found = try all(check) { $0.text(0) }
            return found == ["ok"] ? [] : found
        } catch {
            // Some damage does not let the check begin; that is its finding.
            guard error.isCorrupt else { throw error }
            return [error.message]
        }
    }

    private func version(known schema: Schema) throws(StoreError) -> Int {
        let version = try first("PRAGMA user_version") { Int($0.int(0)) } ?? 0
        guard (0...schema.steps.count).contains(version) else {
            throw StoreError(
                call: "migrate", extendedCode: SQLITE_SCHEMA,
                message: "the store has schema version \(version) and this program knows versions up to "
                    + "\(schema.steps.count); a newer program wrote it")
        }
        return version
    }
}
