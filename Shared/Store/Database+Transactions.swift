extension Database {
    /// Runs the body in one transaction that takes the write lock at once, and commits.
    ///
    /// - Throws: what the body or the commit throws; nothing of it is then in the store.
    public func transaction<T>(_ body: () throws(StoreError) -> T) throws(StoreError) -> T {
        try begin()
        let result: T
        do {
            result = try body()
        } catch {
            try rollback()
            throw error
        }
        try commit()
        return result
    }

    /// Begins a transaction that takes the write lock at once.
    ///
    /// After a failure to write it first makes sure that the disk takes writes again: a transaction that writes nothing
    /// would commit on any.
    ///
    /// - Throws: `StoreError`, busy when another connection kept the lock for the whole busy timeout.
    public func begin() throws(StoreError) {
        if needsRoom { try makeRoom() }
        if commitsUntilLook <= 0 { try fitLog() }
        if needsProof { try proveWriting() }
        try run("BEGIN IMMEDIATE")
        isInTransaction = true
    }

    /// Writes the first page as it is.
    private func proveWriting() throws(StoreError) {
        try run("BEGIN IMMEDIATE")
        isInTransaction = true
        do {
            let version = try first("PRAGMA user_version") { $0.int(0) } ?? 0
            try connection.execute(script: "PRAGMA user_version = \(version)")
        } catch {
            try rollback()
            throw error
        }
        try commit()
        needsProof = false
    }

    /// Begins a transaction that only reads: from its first query on it sees the store as it was then.
    ///
    /// It takes no lock, but the write-ahead log grows until it ends. It ends by `rollback`.
    ///
    /// - Throws: `StoreError` when a transaction is open already.
    public func beginReading() throws(StoreError) {
        try run("BEGIN")
        isInTransaction = true
    }

    /// Commits the transaction; when it returns, the rows are on disk.
    ///
    /// A commit that fails leaves no transaction open and none of its rows in the store. Files that were removed or
    /// replaced are looked for before it too: SQLite may copy a log without a name back when the store is closed, and
    /// rows of which it was said that they are not there would appear.
    ///
    /// - Throws: `StoreError`, also the earlier one with which SQLite ended the transaction by itself, and one for
    ///   files that were removed or replaced meanwhile: what is committed there would be gone with the process.
    public func commit() throws(StoreError) {
        do {
            try place?.requireUnmoved()
            try run("COMMIT")
            isInTransaction = false
            commitsUntilLook -= 1
            try place?.findLog()
            try place?.requireUnmoved()
        } catch {
            try rollback()
            throw error
        }
    }

    /// Takes back the transaction; does nothing where SQLite already did, or where none is open.
    ///
    /// - Throws: `StoreError` when SQLite cannot even do that; the connection is then of no more use.
    public func rollback() throws(StoreError) {
        isInTransaction = false
        transactionFailure = nil
        guard !connection.isAutocommit else { return }
        try run("ROLLBACK")
    }
}
