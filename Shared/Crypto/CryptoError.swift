internal import COpenSSL

/// A failure inside OpenSSL or of what was handed to it, with the call that met it.
public struct CryptoError: Error, Equatable, Sendable, CustomStringConvertible {
    /// The call that failed.
    public let call: String
    /// OpenSSL's packed error code; 0 where it left none.
    public let code: UInt
    /// What OpenSSL says about it; never a key or its parts.
    public let message: String

    /// One line with call, code and message, fit for a log.
    public var description: String { "crypto: \(call): \(message) (code \(code))" }

    init(call: String, code: UInt = 0, message: String) {
        self.call = call
        self.code = code
        self.message = message
    }

    /// Takes the oldest error of this thread's queue and empties the queue.
    static func last(_ call: String) -> CryptoError {
        let code = ERR_get_error()
        forgetErrors()
        guard code != 0 else { return CryptoError(call: call, message: "failed") }
        var text = [CChar](repeating: 0, count: 256)
        unsafe ERR_error_string_n(code, &text, text.count)
        let bytes = text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }
        return CryptoError(call: call, code: code, message: String(decoding: bytes, as: UTF8.self))
    }

    /// Empties this thread's error queue: what stays in it would be taken for a failure of the next TLS call.
    static func forgetErrors() { ERR_clear_error() }
}
