internal import COpenSSL

/// Whom a client trusts.
public struct HTTP2TLSOptions: Sendable, Equatable {
    /// A PEM file of authorities; with `caPEM` nil too, the system's are used.
    public var caFile: String?
    /// PEM text of authorities, in addition to `caFile`.
    public var caPEM: String?
    /// False takes any certificate; for experiments only.
    public var verifiesPeer = true

    /// Trusts the given authorities, or the system's when there is none.
    public init(caFile: String? = nil, caPEM: String? = nil) {
        self.caFile = caFile
        self.caPEM = caPEM
    }
}

/// TLS settings of a client: 1.2 or later, ALPN `h2` only; made once and shared by its connections.
///
/// Loading the system's authorities takes tens of milliseconds, which is why it is not done for each connection.
@safe public final class HTTP2ClientTLS {
    let context: TLSContext

    /// Loads the authorities.
    ///
    /// - Throws: `HTTP2Error` when a file or text holds no usable certificate.
    public init(_ options: HTTP2TLSOptions = HTTP2TLSOptions()) throws(HTTP2Error) {
        context = unsafe try TLSContext(tls_client_context(options.verifiesPeer ? 1 : 0))
        if let file = options.caFile, unsafe SSL_CTX_load_verify_file(context.raw, file) != 1 {
            throw HTTP2Error(call: "SSL_CTX_load_verify_file", context: "\(file): \(TLSContext.lastError())")
        }
        if let pem = options.caPEM, unsafe tls_trust_pem(context.raw, pem, Int32(pem.utf8.count)) == 0 {
            throw HTTP2Error(call: "caPEM", context: "no certificate in it")
        }
        if options.caFile == nil && options.caPEM == nil {
            unsafe SSL_CTX_set_default_verify_paths(context.raw)
        }
    }
}

/// TLS settings of a server: 1.2 or later, drops who does not offer `h2`.
@safe public final class HTTP2ServerTLS {
    let context: TLSContext

    /// Takes a certificate chain (leaf first) and its private key as PEM texts.
    ///
    /// - Throws: `HTTP2Error` when they cannot be read or do not belong together.
    public init(certificatePEM: String, keyPEM: String) throws(HTTP2Error) {
        context = unsafe try TLSContext(tls_server_context())
        let isGood = unsafe tls_identity_pem(
            context.raw, certificatePEM, Int32(certificatePEM.utf8.count), keyPEM, Int32(keyPEM.utf8.count))
        guard isGood == 1 else {
            throw HTTP2Error(call: "certificate and key", context: TLSContext.lastError())
        }
    }
}

/// An `SSL_CTX` and the BIO method of its sockets.
@safe final class TLSContext {
    let raw: OpaquePointer
    let method: OpaquePointer

    init(_ made: OpaquePointer?) throws(HTTP2Error) {
        guard let made = unsafe made, let method = unsafe tls_socket_method() else {
            throw HTTP2Error(call: "SSL_CTX_new", context: Self.lastError())
        }
        unsafe raw = unsafe made
        unsafe self.method = unsafe method
    }

    deinit {
        unsafe SSL_CTX_free(raw)
        unsafe BIO_meth_free(method)
    }

    /// The reason of the newest entry in OpenSSL's error queue, which is emptied.
    static func lastError() -> String {
        let code = ERR_peek_last_error()
        ERR_clear_error()
        guard code != 0, let reason = unsafe ERR_reason_error_string(code) else { return "no reason given" }
        return unsafe String(cString: reason)
    }
}
