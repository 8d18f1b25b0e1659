/// The write-ahead log is kept to what the disk has room for.
extension Database {
    /// How many commits go by between two looks at the disk.
    static let commitsPerLook = 64
    /// The least that the log may grow to, in bytes: a few commits.
    static let logBytesMin: Int64 = 64 << 10

    /// How large the log may grow where so much is free: an eighth of it, as a power of two.
    static func logBytes(freeBytes: Int64, target: Int64) -> Int64 {
        var bytes = logBytesMin
        while bytes * 2 <= min(target, freeBytes / 8) { bytes *= 2 }
        return bytes
    }

    /// Fits the log to what is free now.
    ///
    /// - Throws: `StoreError` if the file is gone, or SQLite refuses.
    func fitLog() throws(StoreError) {
        commitsUntilLook = Database.commitsPerLook
        guard let path else { return }
        let free = try DiskSpace(at: path).freeBytes
        let bytes = Database.logBytes(freeBytes: free, target: Int64(options.logBytesTarget))
        guard bytes != logBytes else { return }
        logBytes = bytes
        let pageSize = try first("PRAGMA page_size") { $0.int(0) } ?? 4_096
        try connection.execute(
            script: """
                PRAGMA wal_autocheckpoint = \(max(1, bytes / max(1, pageSize)));
                PRAGMA journal_size_limit = \(bytes);
                """)
    }

    /// Makes room after the disk was full, by copying the log back and cutting it off.
    ///
    /// - Throws: `StoreError` for whatever is not a full disk again: what is written next meets that by itself.
    func makeRoom() throws(StoreError) {
        needsRoom = false
        do {
            try run("PRAGMA wal_checkpoint(TRUNCATE)")
            try fitLog()
        } catch {
            guard error.isFull || error.isBusy else { throw error }
            needsRoom = true
        }
    }
}
