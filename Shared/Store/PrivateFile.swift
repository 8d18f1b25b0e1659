internal import CSQLite
internal import Glibc

/// Makes the file of a store readable for its owner alone, and its name durable.
enum PrivateFile {
    /// Makes an empty file with mode 0600 where there is none.
    ///
    /// It is made under another name and linked: were it made in place, closing it here would drop the locks that
    /// another connection of this process may have taken on it meanwhile (POSIX locks belong to process and inode).
    static func createIfMissing(_ path: String) throws(StoreError) {
        guard unsafe access(path, F_OK) != 0, errno == ENOENT else { return }
        let draft = path + ".new-" + String(UInt64.random(in: .min ... .max), radix: 16)
        let file = unsafe open(draft, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard file >= 0 else { throw failure("create", errno, path) }
        close(file)
        let linked = unsafe link(draft, path)
        let linkError = errno
        unsafe unlink(draft)
        guard linked == 0 || linkError == EEXIST else { throw failure("create", linkError, path) }
        try syncDirectory(of: path)
    }

    private static func syncDirectory(of path: String) throws(StoreError) {
        let slash = path.lastIndex(of: "/")
        let parent = slash.map { String(path[...$0]) } ?? "."
        let directory = unsafe open(parent, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard directory >= 0 else { throw failure("sync directory", errno, parent) }
        defer { close(directory) }
        guard fsync(directory) == 0 else { throw failure("sync directory", errno, parent) }
    }

    private static func failure(_ call: String, _ code: Int32, _ path: String) -> StoreError {
        StoreError(
            call: call, extendedCode: SQLITE_CANTOPEN, systemError: code,
            message: unsafe String(cString: strerror(code)) + ": " + path)
    }
}
