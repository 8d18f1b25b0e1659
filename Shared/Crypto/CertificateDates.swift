internal import COpenSSL

/// From when until when a certificate holds, in seconds since 1970.
public struct CertificateDates: Equatable, Sendable {
    /// The first second.
    public let notBeforeSeconds: Int64
    /// The last second.
    public let notAfterSeconds: Int64

    /// Reads those of all certificates of a PEM text, in its order; what cannot be read is left out.
    public static func all(pem: [UInt8]) -> [CertificateDates] {
        defer { CryptoError.forgetErrors() }
        return PEM.blocks(in: pem).filter { $0.label == "CERTIFICATE" }.compactMap { dates($0.bytes) }
    }

    private static func dates(_ bytes: [UInt8]) -> CertificateDates? {
        let certificate = unsafe bytes.withUnsafeBufferPointer { buffer in
            var position = buffer.baseAddress
            return unsafe d2i_X509(nil, &position, buffer.count)
        }
        guard let certificate = unsafe certificate else { return nil }
        defer { unsafe X509_free(certificate) }
        var (begin, end): (Int64, Int64) = (0, 0)
        guard unsafe liveline_asn1_seconds(X509_get0_notBefore(certificate), &begin) == 1,
            unsafe liveline_asn1_seconds(X509_get0_notAfter(certificate), &end) == 1
        else { return nil }
        return CertificateDates(notBeforeSeconds: begin, notAfterSeconds: end)
    }
}
