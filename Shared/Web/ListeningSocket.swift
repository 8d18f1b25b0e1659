internal import Glibc

/// A socket that accepts connections, non-blocking; a Unix socket's file goes with it.
struct ListeningSocket: ~Copyable {
    private struct FileIdentity: Equatable {
        let device: dev_t
        let inode: ino_t
    }

    let descriptor: CInt
    private let address: HTTPAddress
    private let file: FileIdentity?

    /// Listens at an address.
    ///
    /// The file of a Unix socket whose process is gone is taken over; access is for owner and group (0660).
    ///
    /// - Throws: `HTTPServerError`, with `.inUse` if a living process listens there.
    init(_ address: HTTPAddress) throws(HTTPServerError) {
        let target = try SocketAddress(address)
        if case .unix(let path) = address { try ListeningSocket.clear(path, target, address) }
        let descriptor = try ListeningSocket.open(target, address)
        do throws(HTTPServerError) {
            try ListeningSocket.listen(descriptor, at: target, address)
        } catch {
            close(descriptor)
            throw error
        }
        self.descriptor = descriptor
        self.address = address
        if case .unix(let path) = address {
            file = ListeningSocket.identity(path)
        } else {
            file = nil
        }
    }

    deinit {
        if case .unix(let path) = address, let file, file == ListeningSocket.identity(path) {
            unsafe unlink(path)
        }
        close(descriptor)
    }

    var port: UInt16? {
        guard case .tcp = address else { return nil }
        return SocketAddress.port(of: descriptor)
    }

    private static func open(_ target: SocketAddress, _ address: HTTPAddress) throws(HTTPServerError) -> CInt
    {
        let kind = CInt(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue)
        let descriptor = socket(target.family, kind, 0)
        guard descriptor >= 0 else { throw failure("socket", address) }
        return descriptor
    }

    private static func listen(
        _ descriptor: CInt, at target: SocketAddress, _ address: HTTPAddress
    ) throws(HTTPServerError) {
        if case .unix = address {
            // Linux gives the file the mode of the socket's own inode, so that it is never open to others.
            guard fchmod(descriptor, 0o660) == 0 else { throw failure("fchmod", address) }
        } else {
            var yes: CInt = 1
            let size = socklen_t(MemoryLayout<CInt>.size)
            let isSet = unsafe setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &yes, size) == 0
            guard isSet else { throw failure("setsockopt", address) }
        }
        guard target.bind(descriptor) == 0 else { throw failure("bind", address) }
        if case .unix(let path) = address {
            // The umask has taken from it; the group must be able to connect.
            guard unsafe chmod(path, 0o660) == 0 else { throw failure("chmod", address) }
        }
        guard Glibc.listen(descriptor, 4_096) == 0 else { throw failure("listen", address) }
    }

    /// Removes the socket of a dead process, and nothing else.
    private static func clear(
        _ path: String, _ target: SocketAddress, _ address: HTTPAddress
    ) throws(HTTPServerError) {
        var status = stat()
        guard unsafe lstat(path, &status) == 0 else { return }
        guard status.st_mode & S_IFMT == S_IFSOCK else {
            throw HTTPServerError(
                reason: .notASocket, call: "bind", code: EEXIST, context: address.description)
        }
        let probe = try open(target, address)
        defer { close(probe) }
        // A full listen queue answers EAGAIN: that one lives too.
        guard target.connect(probe) != 0, errno == ECONNREFUSED else {
            throw HTTPServerError(
                reason: .inUse, call: "bind", code: EADDRINUSE, context: address.description)
        }
        guard unsafe unlink(path) == 0 || errno == ENOENT else { throw failure("unlink", address) }
    }

    private static func identity(_ path: String) -> FileIdentity? {
        var status = stat()
        guard unsafe lstat(path, &status) == 0 else { return nil }
        return FileIdentity(device: status.st_dev, inode: status.st_ino)
    }

    private static func failure(_ call: String, _ address: HTTPAddress) -> HTTPServerError {
        let code = errno
        let reason: HTTPServerError.Reason = code == EADDRINUSE ? .inUse : .system
        return HTTPServerError(reason: reason, call: call, code: code, context: address.description)
    }
}
