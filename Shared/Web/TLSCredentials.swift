internal import CMicrohttpd

/// A certificate and key as GnuTLS holds them, for the connections that begin while they are shown.
///
/// libmicrohttpd takes its own once and for all; a session whose handshake has not begun can be given others.
@safe final class TLSCredentials {
    private let handle: gnutls_certificate_credentials_t

    /// Reads the two texts.
    ///
    /// - Throws: `HTTPServerError` with what GnuTLS said if they cannot be read or do not go together.
    init(_ identity: TLSIdentity) throws(HTTPServerError) {
        var made: gnutls_certificate_credentials_t?
        let result = unsafe identity.certificatePEM.withCString { certificate in
            unsafe identity.keyPEM.withCString { key in unsafe liveline_tls_make(certificate, key, &made) }
        }
        guard result >= 0, let handle = unsafe made else {
            throw HTTPServerError(
                reason: .library, call: "gnutls_certificate_set_x509_key_mem", code: 0,
                context: unsafe String(cString: gnutls_strerror(result)))
        }
        unsafe self.handle = handle
    }

    deinit { unsafe gnutls_certificate_free_credentials(handle) }

    /// Has a new connection use them; its owner keeps this object for as long as the connection lasts.
    ///
    /// - Returns: whether it does.
    func show(on connection: OpaquePointer) -> Bool {
        unsafe liveline_tls_show(connection, handle) >= 0
    }
}
