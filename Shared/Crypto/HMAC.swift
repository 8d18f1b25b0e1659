internal import COpenSSL

extension SHA256 {
    /// Computes the HMAC of bytes under a secret key (RFC 2104), 32 bytes.
    ///
    /// Who does not know the key can neither make nor lengthen it; compare it with `constantTimeEquals`.
    public static func authenticationCode(_ bytes: [UInt8], key: [UInt8]) -> [UInt8] {
        var code = [UInt8](repeating: 0, count: 32)
        unsafe liveline_hmac_sha256(key, key.count, bytes, bytes.count, &code)
        return code
    }
}
