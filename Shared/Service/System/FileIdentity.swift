internal import Glibc

/// Which file is at a path: the same name may come to mean another one.
struct FileIdentity: Equatable {
    private let device: dev_t
    private let inode: ino_t

    /// The file at a path, a link itself and not its target; nil if nothing is there.
    init?(at path: String) {
        var status = stat()
        guard unsafe lstat(path, &status) == 0 else { return nil }
        self.init(status)
    }

    /// The file that a descriptor is open for.
    init(of descriptor: CInt) throws(SystemError) {
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0 else { throw SystemError(call: "fstat", code: errno) }
        self.init(status)
    }

    private init(_ status: stat) {
        device = status.st_dev
        inode = status.st_ino
    }
}

extension ServiceFailure {
    /// The socket or lock at a path is this process's no more: nobody heeds it there, and it has to go.
    static func placeLost(_ path: String) -> ServiceFailure {
        let fate = FileIdentity(at: path) == nil ? "is gone" : "is another process's"
        return ServiceFailure(.temporary, "place-lost", "\(path) \(fate)")
    }
}

/// The permissions of a directory that lets others in, in octal digits; nil if it keeps them out.
func permissionsOpenToOthers(_ path: String) throws(SystemError) -> String? {
    var status = stat()
    guard unsafe stat(path, &status) == 0 else { throw SystemError(call: "stat", code: errno) }
    guard status.st_mode & 0o007 != 0 else { return nil }
    return String(status.st_mode & 0o7777, radix: 8)
}
