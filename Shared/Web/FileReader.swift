internal import Glibc

/// Reads a file from its beginning, piece by piece; a pipe too.
public final class FileReader {
    private let descriptor: CInt
    private let isOwned: Bool

    /// Opens a file, or standard input for `-`; nil if it cannot be opened.
    public init?(_ path: String) {
        isOwned = path != "-"
        unsafe descriptor = isOwned ? open(path, O_RDONLY | O_CLOEXEC) : STDIN_FILENO
        guard descriptor >= 0 else { return nil }
    }

    deinit {
        if isOwned { close(descriptor) }
    }

    /// The next bytes, at most so many; none at the end, nil if reading fails.
    public func read(_ countMax: Int) -> [UInt8]? {
        var result = 0
        let bytes = unsafe [UInt8](unsafeUninitializedCapacity: countMax) { buffer, count in
            repeat {
                result = unsafe Glibc.read(descriptor, buffer.baseAddress, countMax)
            } while result < 0 && errno == EINTR
            count = max(0, result)
        }
        return result < 0 ? nil : bytes
    }
}
