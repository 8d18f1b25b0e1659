import Foundation
import Testing

/// A small disk in memory, mounted for a test.
final class Disk {
    static let canBeMade = geteuid() == 0

    let path = "/tmp/ld-\(UInt32.random(in: 0 ... .max))"
    private var filler: String { path + "/filler" }

    init(mebibytes: Int) throws {
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        try #require(mount("tmpfs", path, "tmpfs", 0, "size=\(mebibytes)m") == 0, "mount: errno \(errno)")
    }

    deinit {
        umount2(path, Int32(MNT_DETACH))
        rmdir(path)
    }

    /// Takes no more writes, or takes them again; the kernel refuses as long as a file is open for writing.
    func remount(isReadOnly: Bool) throws {
        let flags = UInt(MS_REMOUNT) | (isReadOnly ? UInt(MS_RDONLY) : 0)
        try #require(mount("tmpfs", path, "tmpfs", flags, nil) == 0, "mount: errno \(errno)")
    }

    func fill(leavingKibibytes room: Int) throws {
        let free = try #require(
            try FileManager.default.attributesOfFileSystem(forPath: path)[.systemFreeSize] as? Int)
        try Data(count: max(0, free - room << 10)).write(to: URL(filePath: filler))
    }

    func free() { unlink(filler) }
}
