internal import Glibc

/// Files that hold secrets: written for their owner alone, read with care.
public enum PrivateFile {
    /// A system call that failed on such a file.
    public struct Failure: Error, Equatable, Sendable, CustomStringConvertible {
        /// The call that failed.
        public let call: String
        /// Its `errno`.
        public let code: Int32
        /// The file.
        public let file: String

        /// One line with call, reason and file, fit for a log.
        public var description: String { "\(call) \(file): \(SystemCall.message(code))" }
    }

    /// Writes the text to the file with mode 0600, in place of what was there.
    ///
    /// It is written under another name and renamed: a reader finds the old or the new, never a part.
    ///
    /// - Parameters:
    ///   - text: The content.
    ///   - path: The file.
    ///   - isLasting: Whether a power cut after the return leaves the new, for which the disk is waited for: that can take
    ///     seconds. Otherwise it may leave the old, the new or an empty file.
    /// - Throws: `Failure` with the call that failed; the old file is as it was, unless only its name is not on the disk.
    public static func write(_ text: String, to path: String, isLasting: Bool = true) throws(Failure) {
        let draft = path + ".new-" + String(randomUInt64(), radix: 16)
        let file = unsafe open(draft, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard file >= 0 else { throw Failure(call: "create", code: errno, file: path) }
        do throws(Failure) {
            defer { close(file) }
            try writeAll([UInt8](text.utf8), file, path)
            guard !isLasting || fsync(file) == 0 else {
                throw Failure(call: "fsync", code: errno, file: path)
            }
            guard unsafe rename(draft, path) == 0 else {
                throw Failure(call: "rename", code: errno, file: path)
            }
        } catch {
            unsafe unlink(draft)
            throw error
        }
        if isLasting { try syncDirectory(of: path) }
    }

    /// Brings the name of a file to disk; the file's own `fsync` leaves that out (fsync(2)).
    private static func syncDirectory(of path: String) throws(Failure) {
        let parent = path.lastIndex(of: "/").map { String(path[...$0]) } ?? "."
        let directory = unsafe open(parent, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard directory >= 0 else { throw Failure(call: "open", code: errno, file: parent) }
        defer { close(directory) }
        guard fsync(directory) == 0 else { throw Failure(call: "fsync", code: errno, file: parent) }
    }

    private static func writeAll(_ bytes: [UInt8], _ file: Int32, _ path: String) throws(Failure) {
        var done = 0
        while done < bytes.count {
            let count = unsafe bytes[done...].withUnsafeBytes {
                unsafe Glibc.write(file, $0.baseAddress, $0.count)
            }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw Failure(call: "write", code: errno, file: path) }
            done += count
        }
    }

    /// Tells whether users other than a file's owner and group can read or write it; false if it cannot be looked at.
    public static func isOpenToOthers(_ path: String) -> Bool {
        var status = stat()
        return unsafe stat(path, &status) == 0 && isOpenToOthers(status)
    }

    private static func isOpenToOthers(_ status: stat) -> Bool { status.st_mode & 0o006 != 0 }

    /// Reads a key file of at most `bytesMax` bytes, and tells whether others than owner and group can reach it.
    static func readKey(_ path: String, bytesMax: Int) throws(KeyFault) -> (
        bytes: [UInt8], isOpenToOthers: Bool
    ) {
        // O_NONBLOCK, since opening a pipe would wait for its writer.
        let file = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard file >= 0 else { throw .unreadable(errno) }
        defer { close(file) }
        var status = stat()
        guard unsafe fstat(file, &status) == 0 else { throw .unreadable(errno) }
        switch status.st_mode & S_IFMT {
        case S_IFREG: break
        case S_IFDIR: throw .directory
        default: throw .notAFile
        }
        guard status.st_size <= bytesMax else { throw .tooLarge(bytesMax: bytesMax) }
        let bytes = try readAll(file, count: Int(status.st_size))
        return (bytes, isOpenToOthers(status))
    }

    private static func readAll(_ file: Int32, count: Int) throws(KeyFault) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        var done = 0
        while done < count {
            let got = unsafe bytes[done...].withUnsafeMutableBytes {
                unsafe read(file, $0.baseAddress, $0.count)
            }
            if got < 0, errno == EINTR { continue }
            guard got >= 0 else { throw .unreadable(errno) }
            if got == 0 { break }
            done += got
        }
        return [UInt8](bytes[..<done])
    }
}
