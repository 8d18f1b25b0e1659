internal import Glibc

/// A file that one process has locked for its life; the kernel gives the lock back however the process ends.
public final class InstanceLock {
    private let descriptor: CInt
    private let file: FileIdentity
    /// The file's path.
    public let path: String

    /// Takes the lock; nil if another process has it.
    ///
    /// - Throws: `SystemError` if the file cannot be made or locked.
    public init?(_ path: String) throws(SystemError) {
        self.path = path
        descriptor = try InstanceLock.open(path)
        file = try FileIdentity(of: descriptor)
        while flock(descriptor, LOCK_EX | LOCK_NB) != 0 {
            guard errno != EINTR else { continue }
            guard errno == EWOULDBLOCK else { throw SystemError(call: "flock", code: errno) }
            return nil
        }
        // Who reads the file wants to know whose it is; nothing rests on its content.
        let text = "\(getpid())\n"
        _ = ftruncate(descriptor, 0)
        _ = unsafe pwrite(descriptor, text, text.utf8.count, 0)
    }

    /// Whether it keeps others off: a file that was removed or replaced does not, since they lock the new one.
    var isHeld: Bool { FileIdentity(at: path) == file }

    deinit { close(descriptor) }

    private static func open(_ path: String) throws(SystemError) -> CInt {
        let descriptor = unsafe Glibc.open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o660)
        guard descriptor >= 0 else { throw SystemError(call: "open", code: errno) }
        return descriptor
    }
}

/// Makes a directory, and those above it, unless it is there; what is made outlives a power cut.
///
/// - Parameters:
///   - path: the directory.
///   - mode: the permissions of the last one, whatever the umask is.
/// - Throws: `SystemError` if it cannot be made or something else is at the path.
func makeDirectory(_ path: String, mode: mode_t) throws(SystemError) {
    var status = stat()
    if unsafe stat(path, &status) == 0 {
        guard status.st_mode & S_IFMT == S_IFDIR else { throw SystemError(call: "mkdir", code: ENOTDIR) }
        return
    }
    if let slash = path.lastIndex(of: "/"), slash != path.startIndex {
        try makeDirectory(String(path[..<slash]), mode: 0o755)
    }
    guard unsafe mkdir(path, mode) == 0 else {
        // Another service that starts at the same time may have been faster.
        guard errno == EEXIST else { throw SystemError(call: "mkdir", code: errno) }
        return
    }
    guard unsafe chmod(path, mode) == 0 else { throw SystemError(call: "chmod", code: errno) }
    try syncDirectory(of: path)
}

/// Brings the name of a file or directory to disk: until then a power cut may take it with all that is in it.
private func syncDirectory(of path: String) throws(SystemError) {
    let parent = path.lastIndex(of: "/").map { String(path[...$0]) } ?? "."
    let directory = unsafe open(parent, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard directory >= 0 else { throw SystemError(call: "open", code: errno) }
    defer { close(directory) }
    guard fsync(directory) == 0 else { throw SystemError(call: "fsync", code: errno) }
}
