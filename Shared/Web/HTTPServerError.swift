internal import Glibc

/// Why a server cannot listen.
public struct HTTPServerError: Error, Equatable, CustomStringConvertible {
    /// The kinds of causes.
    public enum Reason: Sendable, Equatable {
        /// The address is not of a form that `HTTPAddress` knows.
        case malformedAddress
        /// A living process listens there.
        case inUse
        /// The path holds something that is not a socket; it is left as it is.
        case notASocket
        /// The operating system refused.
        case system
        /// libmicrohttpd refused; usually the certificate or its key.
        case library
    }

    /// The kind of cause.
    public let reason: Reason
    /// The call that failed.
    public let call: String
    /// The errno of the call, or 0.
    public let code: CInt
    /// The address, or what the library said.
    public let context: String

    /// One line for a log.
    public var description: String {
        let cause =
            switch reason {
            case .malformedAddress: "not an address"
            case .inUse: "in use by a living process"
            case .notASocket: "not a socket"
            case .system: unsafe String(cString: strerror(code))
            case .library: "refused by libmicrohttpd"
            }
        return "\(call): \(cause): \(context)"
    }
}
