internal import CSQLite
internal import Glibc

/// The files of an open store: whoever removes or replaces them while it is open takes every later commit with them.
///
/// SQLite goes on writing to files that have no name any more, and what it commits there is gone with the process.
struct StorePlace {
    /// Which file is at a path.
    private struct Identity: Equatable {
        let device: dev_t
        let inode: ino_t
    }

    private let path: String
    private let store: Identity
    /// The write-ahead log, which is there from the first transaction on.
    private var log: Identity?

    /// Remembers the files of a store that has just been opened.
    ///
    /// - Throws: `StoreError` if it is gone already.
    init(_ path: String) throws(StoreError) {
        self.path = path
        store = try StorePlace.identity(path)
    }

    /// Makes sure that what is committed can be found again.
    ///
    /// - Throws: `StoreError` if a file was removed or replaced.
    func requireUnmoved() throws(StoreError) {
        guard try StorePlace.identity(path) == store else { throw StorePlace.gone(path, 0) }
        guard let log else { return }
        guard try StorePlace.identity(path + "-wal") == log else { throw StorePlace.gone(path + "-wal", 0) }
    }

    /// Remembers the write-ahead log, once something is committed.
    ///
    /// - Throws: `StoreError` if it is not there.
    mutating func findLog() throws(StoreError) {
        if log == nil { log = try StorePlace.identity(path + "-wal") }
    }

    private static func identity(_ path: String) throws(StoreError) -> Identity {
        var status = stat()
        guard unsafe stat(path, &status) == 0 else { throw gone(path, errno) }
        return Identity(device: status.st_dev, inode: status.st_ino)
    }

    private static func gone(_ path: String, _ code: Int32) -> StoreError {
        StoreError(
            call: "commit", extendedCode: SQLITE_IOERR, systemError: code,
            message: "the file was removed or replaced while the store is open: \(path)")
    }
}
