internal import COpenSSL

/// A certificate for a TLS server that nobody but its maker vouches for, with its private key.
///
/// It is its own authority: a client that is given `certificatePEM` as trusted accepts the server.
public struct SelfSignedCertificate: Equatable, Sendable {
    /// How long a certificate is valid, in days: ten years.
    public static let lifetimeDays = 3_653

    /// The certificate as PEM.
    public let certificatePEM: String
    /// Its private key as PKCS#8 PEM; a secret.
    public let keyPEM: String

    /// Makes a certificate for these hosts with a new P-256 key, valid from an hour ago.
    ///
    /// - Parameter hosts: names and IP addresses, at least one.
    /// - Returns: certificate and key, both as text.
    /// - Throws: `CryptoError` when there is no host, or one that cannot stand in a certificate.
    public static func make(hosts: [String]) throws(CryptoError) -> SelfSignedCertificate {
        let names = try alternativeNames(hosts)
        guard let key = KeyHandle.generateP256() else { throw .last("EVP_EC_gen") }
        guard let certificate = unsafe X509_new() else { throw .last("X509_new") }
        defer { unsafe X509_free(certificate) }
        guard unsafe describe(certificate, key), unsafe extend(certificate, names),
            unsafe X509_sign(certificate, key.pointer, EVP_sha256()) > 0
        else { throw .last("X509_sign") }
        let text = unsafe PEM.text { unsafe PEM_write_bio_X509($0, certificate) }
        guard let text else { throw .last("PEM_write_bio_X509") }
        return SelfSignedCertificate(certificatePEM: text, keyPEM: try key.privatePEM())
    }

    /// Writes OpenSSL's configuration line for the hosts, in which commas and such would have a meaning.
    private static func alternativeNames(_ hosts: [String]) throws(CryptoError) -> String {
        var names: [String] = []
        for host in hosts {
            let isAddress = isAddress(host)
            guard isAddress || (!host.isEmpty && host.utf8.allSatisfy(isNameCharacter)) else {
                throw CryptoError(call: "SelfSignedCertificate.make", message: "not a host: \(host)")
            }
            names.append((isAddress ? "IP:" : "DNS:") + host)
        }
        guard !names.isEmpty else {
            throw CryptoError(call: "SelfSignedCertificate.make", message: "no host")
        }
        return names.joined(separator: ",")
    }

    private static func isNameCharacter(_ character: UInt8) -> Bool {
        switch character {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "z"),
            UInt8(ascii: "A")...UInt8(ascii: "Z"):
            true
        default: "-.*_".utf8.contains(character)
        }
    }

    private static func isAddress(_ host: String) -> Bool {
        guard let address = unsafe a2i_IPADDRESS(host) else {
            CryptoError.forgetErrors()
            return false
        }
        unsafe ASN1_OCTET_STRING_free(address)
        return true
    }

    /// Fills in version, serial number, dates, names and public key.
    private static func describe(_ certificate: OpaquePointer, _ key: borrowing KeyHandle) -> Bool {
        let commonName = "Liveline self-signed"
        guard let name = unsafe X509_get_subject_name(certificate) else { return false }
        return unsafe X509_set_version(certificate, Int(X509_VERSION_3)) == 1
            && ASN1_INTEGER_set_uint64(X509_get_serialNumber(certificate), randomUInt64() >> 1 | 1) == 1
            && X509_gmtime_adj(X509_getm_notBefore(certificate), -3_600) != nil
            && X509_time_adj_ex(X509_getm_notAfter(certificate), Int32(lifetimeDays), 0, nil) != nil
            && X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_UTF8, commonName, -1, -1, 0) == 1
            && X509_set_issuer_name(certificate, name) == 1
            && X509_set_pubkey(certificate, key.pointer) == 1
    }

    private static func extend(_ certificate: OpaquePointer, _ names: String) -> Bool {
        unsafe liveline_add_extension(certificate, NID_basic_constraints, "critical,CA:TRUE") == 1
            && liveline_add_extension(
                certificate, NID_key_usage, "critical,digitalSignature,keyCertSign") == 1
            && liveline_add_extension(certificate, NID_ext_key_usage, "serverAuth") == 1
            && liveline_add_extension(certificate, NID_subject_key_identifier, "hash") == 1
            && liveline_add_extension(certificate, NID_subject_alt_name, names) == 1
    }
}
