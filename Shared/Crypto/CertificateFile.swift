internal import COpenSSL

/// What a certificate file says about itself.
public enum CertificateFile {
    /// Tells until when the first certificate of a PEM text is valid, UNIX seconds.
    ///
    /// - Throws: `CryptoError` when there is no certificate in it.
    public static func validUntilSeconds(pem: [UInt8]) throws(CryptoError) -> Int64 {
        defer { CryptoError.forgetErrors() }
        let certificate = unsafe pem.withUnsafeBytes { bytes -> OpaquePointer? in
            guard let source = unsafe BIO_new_mem_buf(bytes.baseAddress, Int32(bytes.count)) else {
                return nil
            }
            defer { unsafe BIO_free(source) }
            return unsafe PEM_read_bio_X509(source, nil, nil, nil)
        }
        guard let certificate = unsafe certificate else { throw .last("PEM_read_bio_X509") }
        defer { unsafe X509_free(certificate) }
        guard let epoch = unsafe ASN1_TIME_set(nil, 0) else { throw .last("ASN1_TIME_set") }
        defer { unsafe ASN1_STRING_free(epoch) }
        var (days, seconds): (Int32, Int32) = (0, 0)
        guard unsafe ASN1_TIME_diff(&days, &seconds, epoch, X509_get0_notAfter(certificate)) == 1 else {
            throw .last("ASN1_TIME_diff")
        }
        return Int64(days) * 86_400 + Int64(seconds)
    }
}
