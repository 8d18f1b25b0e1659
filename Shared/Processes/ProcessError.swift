internal import Glibc

/// Why a program could not be started.
public struct ProcessError: Error, Equatable, Sendable, CustomStringConvertible {
    /// What was being done.
    public let call: String
    /// The system's error number.
    public let code: Int32
    /// The program.
    public let path: String

    /// Takes over the error number of the call that has just failed.
    init(_ call: String, _ path: String) {
        self.call = call
        code = errno
        self.path = path
    }

    /// One line, such as `start /opt/ingest: No such file or directory`.
    public var description: String { "\(call) \(path): \(unsafe String(cString: strerror(code)))" }
}
