internal import COpenSSL
internal import Glibc

/// How one step of TLS went.
enum TLSOutcome: Equatable {
    case done(Int)
    case wantsRead
    case wantsWrite
    case closed
    case failed(String)
}

/// A connected, non-blocking socket with TLS on it; closes both when it goes away.
@safe final class TLSSocket {
    let descriptor: CInt
    private let context: TLSContext
    private let ssl: OpaquePointer

    /// Takes the descriptor over; with a host it is a client, without one a server.
    init?(descriptor: CInt, context: TLSContext, host: String?) {
        guard let ssl = unsafe SSL_new(context.raw) else { return nil }
        guard unsafe tls_attach(ssl, context.method, descriptor) == 1 else {
            unsafe SSL_free(ssl)
            return nil
        }
        if let host {
            guard unsafe tls_expect_host(ssl, host) == 1 else {
                unsafe SSL_free(ssl)
                return nil
            }
            unsafe SSL_set_connect_state(ssl)
        } else {
            unsafe SSL_set_accept_state(ssl)
        }
        self.descriptor = descriptor
        self.context = context
        unsafe self.ssl = unsafe ssl
    }

    deinit {
        unsafe SSL_free(ssl)
        Glibc.close(descriptor)
    }

    /// Goes on with the handshake; `.done` when it is complete.
    func handshake() -> TLSOutcome {
        ERR_clear_error()
        return unsafe outcome(of: SSL_do_handshake(ssl))
    }

    /// True when ALPN agreed on `h2`.
    var isHTTP2: Bool { unsafe tls_is_h2(ssl) == 1 }

    /// Reads at most one record.
    func read(into buffer: UnsafeMutablePointer<UInt8>, capacity: Int) -> TLSOutcome {
        ERR_clear_error()
        return unsafe outcome(of: SSL_read(ssl, buffer, Int32(capacity)))
    }

    /// Writes one record of at most 16,384 bytes, whole or not at all.
    func write(_ bytes: UnsafePointer<UInt8>, count: Int) -> TLSOutcome {
        ERR_clear_error()
        return unsafe outcome(of: SSL_write(ssl, bytes, Int32(count)))
    }

    /// Sends close_notify if there is room for it, and ends our direction of TCP.
    func endWriting() {
        ERR_clear_error()
        unsafe SSL_shutdown(ssl)
        ERR_clear_error()
        Glibc.shutdown(descriptor, CInt(SHUT_WR))
    }

    /// Throws away what has come; false at the end of the stream.
    func discardInput(_ buffer: UnsafeMutablePointer<UInt8>, capacity: Int) -> Bool {
        let count = unsafe recv(descriptor, buffer, capacity, 0)
        return count > 0 || (count < 0 && (errno == EAGAIN || errno == EINTR))
    }

    private func outcome(of result: Int32) -> TLSOutcome {
        if result > 0 { return .done(Int(result)) }
        let systemError = errno
        switch unsafe SSL_get_error(ssl, result) {
        case SSL_ERROR_WANT_READ: return .wantsRead
        case SSL_ERROR_WANT_WRITE: return .wantsWrite
        case SSL_ERROR_ZERO_RETURN: return .closed
        case SSL_ERROR_SYSCALL:
            ERR_clear_error()
            return systemError == 0 ? .closed : .failed(Sockets.text(systemError))
        default: return failure()
        }
    }

    private func failure() -> TLSOutcome {
        let verdict = unsafe SSL_get_verify_result(ssl)
        let reason = TLSContext.lastError()
        if reason == "unexpected eof while reading" { return .closed }
        guard verdict != X509_V_OK, let text = unsafe X509_verify_cert_error_string(verdict) else {
            return .failed(reason)
        }
        return .failed(unsafe "\(reason): \(String(cString: text))")
    }
}
