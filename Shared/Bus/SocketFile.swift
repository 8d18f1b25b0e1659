internal import Glibc

/// A Unix socket's file: whose it is, and what is at a path before one is bound there.
struct SocketFile: Equatable {
    private let device: dev_t
    private let inode: ino_t

    /// The socket file at a path; nil if there is none.
    init?(at path: String) {
        var status = stat()
        guard unsafe lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFSOCK else { return nil }
        device = status.st_dev
        inode = status.st_ino
    }

    /// Makes sure that a socket may be bound at a path: nothing is there, or a dead process left it.
    ///
    /// libzmq removes whatever is at the path before it binds, a plain file or another's socket too.
    ///
    /// - Throws: `BusError` for anything else.
    static func requireVacant(_ path: String) throws(BusError) {
        var status = stat()
        guard unsafe lstat(path, &status) == 0 else {
            guard errno == ENOENT else { throw BusError(.system, call: "lstat", path: path, code: errno) }
            return
        }
        guard status.st_mode & S_IFMT == S_IFSOCK else { throw BusError(.notASocket, call: "bind", path: path) }
        guard try !isListening(path) else { throw BusError(.inUse, call: "bind", path: path) }
    }

    /// Whether a living process accepts connections at a path; one with a full queue lives too.
    private static func isListening(_ path: String) throws(BusError) -> Bool {
        let kind = CInt(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue)
        let descriptor = socket(AF_UNIX, kind, 0)
        guard descriptor >= 0 else { throw BusError(.system, call: "socket", path: path, code: errno) }
        defer { close(descriptor) }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: path.utf8) }
        let size = socklen_t(MemoryLayout<sockaddr_un>.size)
        let result = unsafe withUnsafePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { unsafe connect(descriptor, $0, size) }
        }
        return result == 0 || (errno != ECONNREFUSED && errno != ENOENT)
    }

    /// Lets owner and group connect, and nobody else.
    static func restrict(_ path: String) throws(BusError) {
        guard unsafe chmod(path, 0o660) == 0 else {
            throw BusError(.system, call: "chmod", path: path, code: errno)
        }
    }
}
