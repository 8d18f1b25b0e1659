internal import Glibc

extension PrivateFile {
    /// A lock that processes of one host take while they replace a file; given back when the value is released.
    public final class Lock {
        private let file: Int32

        /// Takes the lock if nobody has it, and never waits.
        ///
        /// Nil means that another process, or another value in this one, has the lock. It is taken on a file of its own: the one that is replaced is another file after each rename.
        ///
        /// - Parameter path: the lock's file, made if it is not there.
        /// - Throws: `Failure` if the file cannot be made or locked.
        public init?(_ path: String) throws(Failure) {
            file = unsafe open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
            guard file >= 0 else { throw Failure(call: "open", code: errno, file: path) }
            while flock(file, LOCK_EX | LOCK_NB) != 0 {
                guard errno != EINTR else { continue }
                guard errno == EWOULDBLOCK else { throw Failure(call: "flock", code: errno, file: path) }
                return nil
            }
        }

        deinit { close(file) }
    }

    /// Reads a small file whole.
    ///
    /// - Returns: nil if there is none.
    /// - Throws: `Failure` if it cannot be read, is no plain file, or is larger than `bytesMax`.
    public static func contents(_ path: String, bytesMax: Int) throws(Failure) -> [UInt8]? {
        do {
            return try readKey(path, bytesMax: bytesMax).bytes
        } catch .unreadable(ENOENT) {
            return nil
        } catch .unreadable(let code) {
            throw Failure(call: "read", code: code, file: path)
        } catch .tooLarge {
            throw Failure(call: "read", code: EFBIG, file: path)
        } catch {
            throw Failure(call: "read", code: EINVAL, file: path)
        }
    }
}
