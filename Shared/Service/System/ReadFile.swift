internal import Glibc

/// A call of the operating system that failed.
public struct SystemError: Error, Equatable, CustomStringConvertible {
    let call: String
    let code: CInt

    /// The call and what the system says about it.
    public var description: String { "\(call): \(unsafe String(cString: strerror(code)))" }
}

/// Reads a whole file.
///
/// - Throws: `SystemError` if it cannot be read, or is no plain file, or is larger than the limit.
func readFile(_ path: String, bytesMax: Int) throws(SystemError) -> [UInt8] {
    let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard descriptor >= 0 else { throw SystemError(call: "open", code: errno) }
    defer { close(descriptor) }
    var status = stat()
    guard unsafe fstat(descriptor, &status) == 0 else { throw SystemError(call: "fstat", code: errno) }
    guard status.st_mode & S_IFMT != S_IFDIR else { throw SystemError(call: "open", code: EISDIR) }
    var bytes: [UInt8] = []
    while let part = try readSome(descriptor, bytesMax: 64 << 10), !part.isEmpty {
        bytes += part
        guard bytes.count <= bytesMax else { throw SystemError(call: "read", code: EFBIG) }
    }
    return bytes
}

/// Reads what a descriptor has, at most so many bytes.
///
/// - Returns: an empty array at the end, nil if there is nothing now.
/// - Throws: `SystemError` if reading fails.
func readSome(_ descriptor: CInt, bytesMax: Int) throws(SystemError) -> [UInt8]? {
    var failure: CInt = 0
    let bytes = unsafe [UInt8](unsafeUninitializedCapacity: bytesMax) { buffer, count in
        var result: Int
        repeat {
            result = unsafe read(descriptor, buffer.baseAddress, bytesMax)
        } while result < 0 && errno == EINTR
        failure = result < 0 ? errno : 0
        count = max(0, result)
    }
    guard failure != EAGAIN else { return nil }
    guard failure == 0 else { throw SystemError(call: "read", code: failure) }
    return bytes
}
