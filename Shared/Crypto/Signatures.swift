internal import COpenSSL

/// The forms of an ECDSA signature over P-256: raw R and S, 32 bytes each, as JSON Web Signatures have it, and DER.
enum SignatureForm {
    static let rawCount = 64
    static let derCountMax = 72

    static func raw(der: [UInt8]) -> [UInt8]? {
        unsafe der.withUnsafeBufferPointer { buffer in
            var position = buffer.baseAddress
            guard let signature = unsafe d2i_ECDSA_SIG(nil, &position, buffer.count) else { return nil }
            defer { unsafe ECDSA_SIG_free(signature) }
            var raw = [UInt8](repeating: 0, count: rawCount)
            let isWritten = unsafe raw.withUnsafeMutableBufferPointer { out in
                guard let start = out.baseAddress else { return false }
                return unsafe BN_bn2binpad(ECDSA_SIG_get0_r(signature), start, 32) == 32
                    && BN_bn2binpad(ECDSA_SIG_get0_s(signature), start + 32, 32) == 32
            }
            return isWritten ? raw : nil
        }
    }

    static func der(raw: [UInt8]) -> [UInt8]? {
        guard raw.count == rawCount, let signature = unsafe ECDSA_SIG_new() else { return nil }
        defer { unsafe ECDSA_SIG_free(signature) }
        let r = unsafe BN_bin2bn([UInt8](raw[..<32]), 32, nil)
        let s = unsafe BN_bin2bn([UInt8](raw[32...]), 32, nil)
        guard unsafe ECDSA_SIG_set0(signature, r, s) == 1 else {
            unsafe BN_free(r)
            unsafe BN_free(s)
            return nil
        }
        var der = [UInt8](repeating: 0, count: derCountMax)
        let count = unsafe der.withUnsafeMutableBufferPointer { buffer in
            var position = buffer.baseAddress
            return unsafe i2d_ECDSA_SIG(signature, &position)
        }
        return count > 0 ? [UInt8](der.prefix(Int(count))) : nil
    }
}

extension KeyHandle {
    /// Signs the SHA-256 of the bytes; the signature is in the key's own form, DER for a curve.
    func sign(_ bytes: [UInt8]) throws(CryptoError) -> [UInt8] {
        guard let context = unsafe EVP_MD_CTX_new() else { throw .last("EVP_MD_CTX_new") }
        defer { unsafe EVP_MD_CTX_free(context) }
        guard unsafe EVP_DigestSignInit(context, nil, EVP_sha256(), nil, pointer) == 1 else {
            throw .last("EVP_DigestSignInit")
        }
        var count = unsafe Int(EVP_PKEY_get_size(pointer))
        var signature = [UInt8](repeating: 0, count: count)
        guard unsafe EVP_DigestSign(context, &signature, &count, bytes, bytes.count) == 1 else {
            throw .last("EVP_DigestSign")
        }
        return [UInt8](signature[..<count])
    }

    /// Checks a signature in the key's own form over the SHA-256 of the bytes.
    func verifies(_ signature: [UInt8], over bytes: [UInt8]) -> Bool {
        defer { CryptoError.forgetErrors() }
        guard let context = unsafe EVP_MD_CTX_new() else { return false }
        defer { unsafe EVP_MD_CTX_free(context) }
        guard unsafe EVP_DigestVerifyInit(context, nil, EVP_sha256(), nil, pointer) == 1 else { return false }
        return unsafe EVP_DigestVerify(context, signature, signature.count, bytes, bytes.count) == 1
    }
}
