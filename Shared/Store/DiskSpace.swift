internal import Glibc

/// How much room there is on the disk of a file or directory.
public struct DiskSpace: Equatable, Sendable {
    /// What this user may still write, in bytes.
    public let freeBytes: Int64
    /// The whole, in bytes.
    public let sizeBytes: Int64

    /// Looks at it now.
    ///
    /// - Parameter path: any file or directory on the disk.
    /// - Throws: `StoreError` if it is not there or may not be looked at.
    public init(at path: String) throws(StoreError) {
        var disk = statvfs()
        guard unsafe statvfs(path, &disk) == 0 else {
            throw StoreError(call: "statvfs", extendedCode: 10, systemError: errno, message: path)
        }
        let unit = Int64(clamping: disk.f_frsize)
        freeBytes = Int64(clamping: disk.f_bavail) * unit
        sizeBytes = Int64(clamping: disk.f_blocks) * unit
    }
}
