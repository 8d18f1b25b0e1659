internal import Glibc

/// Why an instance cannot take its place on the bus.
public struct BusError: Error, Equatable, Sendable, CustomStringConvertible {
    /// The kinds of causes.
    public enum Reason: Sendable, Equatable {
        /// A socket's path has more bytes than a Unix socket may have.
        case pathTooLong
        /// The path holds something that is not a socket; it is left as it is.
        case notASocket
        /// A living process listens there.
        case inUse
        /// The operating system or libzmq refused.
        case system
    }

    /// The kind of cause.
    public let reason: Reason
    /// The call that failed.
    public let call: String
    /// The path that it was about.
    public let path: String
    /// The errno of the call, or 0.
    public let code: CInt

    init(_ reason: Reason, call: String, path: String, code: CInt = 0) {
        self.reason = reason
        self.call = call
        self.path = path
        self.code = code
    }

    /// One line for a log.
    public var description: String {
        let cause =
            switch reason {
            case .pathTooLong:
                "the path has \(path.utf8.count) bytes, a Unix socket's at most \(BusEndpoint.pathBytesMax)"
            case .notASocket: "something that is not a socket is at that path"
            case .inUse: "a living process listens at that path"
            case .system: unsafe String(cString: strerror(code))
            }
        return "\(call): \(cause): \(path)"
    }
}
