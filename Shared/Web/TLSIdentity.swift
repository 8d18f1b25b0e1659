/// The certificate chain and private key that a server shows its clients.
///
/// It has no description, so that a key never reaches a log.
public struct TLSIdentity: Sendable, CustomStringConvertible {
    let certificatePEM: String
    let keyPEM: String

    /// Makes an identity of the texts of two PEM files; they are looked at when the server starts.
    public init(certificatePEM: String, keyPEM: String) {
        self.certificatePEM = certificatePEM
        self.keyPEM = keyPEM
    }

    /// A fixed text.
    public var description: String { "TLSIdentity" }

    /// GnuTLS priorities: nothing before TLS 1.2.
    static let priorities = "SECURE128:-VERS-ALL:+VERS-TLS1.3:+VERS-TLS1.2"
}
