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

/// A disk in a file, whose file system can be told that it has met an error and then takes no more writes.
final class ErringDisk {
    private static let maker = "/usr/sbin/mkfs.ext4"
    static let canBeMade =
        geteuid() == 0
        && [maker, "/dev/loop-control", "/sys/fs/ext4/features"].allSatisfy {
            FileManager.default.fileExists(atPath: $0)
        }

    let path = "/tmp/ld-\(UInt32.random(in: 0 ... .max))"
    private var image: String { path + ".image" }

    init(mebibytes: Int) throws {
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        _ = FileManager.default.createFile(atPath: image, contents: nil)
        try #require(truncate(image, mebibytes << 20) == 0)
        try run(ErringDisk.maker, ["-q", image])
        try mount()
    }

    deinit {
        umount2(path, Int32(MNT_DETACH))
        rmdir(path)
        unlink(image)
    }

    private func mount() throws {
        try run("/usr/bin/mount", ["-o", "loop,errors=remount-ro", image, path])
    }

    /// Has the file system take no more writes, whatever is open on it.
    func err() throws {
        let mounts = try String(contentsOfFile: "/proc/mounts", encoding: .utf8)
        let line = try #require(mounts.split(separator: "\n").first { $0.contains(" \(path) ") })
        let device = try #require(line.split(separator: " ").first?.split(separator: "/").last)
        try Data("1".utf8).write(to: URL(filePath: "/sys/fs/ext4/\(device)/trigger_fs_error"))
    }

    /// Repairs the file system, which nobody may have open, and mounts it again.
    func repair() throws {
        try #require(umount2(path, 0) == 0, "umount: errno \(errno)")
        // 1: errors were corrected.
        try run("/usr/sbin/fsck.ext4", ["-p", image], codes: [0, 1])
        try mount()
    }

    private func run(_ program: String, _ arguments: [String], codes: Set<Int32> = [0]) throws {
        let process = Foundation.Process()
        process.executableURL = URL(filePath: program)
        process.arguments = arguments
        process.standardOutput = FileHandle.nullDevice
        try process.run()
        process.waitUntilExit()
        try #require(codes.contains(process.terminationStatus), "\(program): \(process.terminationStatus)")
    }
}
