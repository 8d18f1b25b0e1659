internal import COpenSSL

/// One OpenSSL key, private or public, released when the value goes away.
@safe struct KeyHandle: ~Copyable {
    /// What a key is good for here.
    enum Kind: Equatable {
        case p256
        case otherCurve(String)
        case rsa(bits: Int)
        case other(String)

        /// Why such a key cannot be used with the algorithm; nil where it can.
        func fault(for algorithm: VerifyingKey.Algorithm) -> KeyFault? {
            switch (algorithm, self) {
            case (.es256, .p256): nil
            case (.rs256, .rsa(let bits)): bits < 2_048 ? .rsaTooShort(bits: bits) : nil
            case (.es256, .rsa): .rsa
            case (.es256, .otherCurve(let name)): .wrongCurve(name)
            case (.rs256, .p256), (.rs256, .otherCurve): .wrongAlgorithm("EC")
            case (_, .other(let name)): .wrongAlgorithm(name)
            }
        }
    }

    let pointer: OpaquePointer

    init?(unsafe pointer: OpaquePointer?) {
        guard let pointer = unsafe pointer else { return nil }
        unsafe self.pointer = pointer
    }

    deinit { unsafe EVP_PKEY_free(pointer) }

    /// A second handle of the same key.
    func share() -> KeyHandle? {
        unsafe EVP_PKEY_up_ref(pointer) == 1 ? KeyHandle(unsafe: pointer) : nil
    }

    var kind: Kind {
        switch unsafe EVP_PKEY_get_base_id(pointer) {
        case EVP_PKEY_EC:
            let name = curveName
            return name == SN_X9_62_prime256v1 ? .p256 : .otherCurve(name)
        case EVP_PKEY_RSA, EVP_PKEY_RSA_PSS:
            return unsafe .rsa(bits: Int(EVP_PKEY_get_bits(pointer)))
        default:
            let name = unsafe EVP_PKEY_get0_type_name(pointer)
            return unsafe .other(name.map { unsafe String(cString: $0) } ?? "unknown")
        }
    }

    /// The private number lies in range and belongs to the public point.
    var isConsistent: Bool {
        guard let context = unsafe EVP_PKEY_CTX_new(pointer, nil) else { return false }
        defer { unsafe EVP_PKEY_CTX_free(context) }
        return unsafe EVP_PKEY_check(context) == 1
    }

    private var curveName: String {
        var name = [CChar](repeating: 0, count: 80)
        guard unsafe EVP_PKEY_get_group_name(pointer, &name, name.count, nil) == 1 else { return "unnamed" }
        return String(decoding: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}

extension KeyHandle {
    static func generateP256() -> KeyHandle? { unsafe KeyHandle(unsafe: liveline_generate_p256()) }

    /// Decodes a PKCS#8 private key without a password.
    static func pkcs8(_ bytes: [UInt8]) -> KeyHandle? {
        let information = unsafe decode(bytes) { unsafe d2i_PKCS8_PRIV_KEY_INFO(nil, $0, $1) }
        guard let information = unsafe information else { return nil }
        defer { unsafe PKCS8_PRIV_KEY_INFO_free(information) }
        return unsafe KeyHandle(unsafe: EVP_PKCS82PKEY(information))
    }

    /// Decodes a private key in the older EC form (RFC 5915).
    static func olderEC(_ bytes: [UInt8]) -> KeyHandle? {
        unsafe KeyHandle(unsafe: decode(bytes) { unsafe d2i_PrivateKey(EVP_PKEY_EC, nil, $0, $1) })
    }

    static func publicKey(_ bytes: [UInt8]) -> KeyHandle? {
        unsafe KeyHandle(unsafe: decode(bytes) { unsafe d2i_PUBKEY(nil, $0, $1) })
    }

    /// Takes the public key out of a certificate, whose signature and dates are not looked at.
    static func certificate(_ bytes: [UInt8]) -> KeyHandle? {
        let certificate = unsafe decode(bytes) { unsafe d2i_X509(nil, $0, $1) }
        guard let certificate = unsafe certificate else { return nil }
        defer { unsafe X509_free(certificate) }
        return unsafe KeyHandle(unsafe: X509_get_pubkey(certificate))
    }

    private static func decode(
        _ bytes: [UInt8],
        _ read: (UnsafeMutablePointer<UnsafePointer<UInt8>?>, Int) -> OpaquePointer?
    ) -> OpaquePointer? {
        unsafe bytes.withUnsafeBufferPointer { buffer in
            var position = buffer.baseAddress
            return unsafe read(&position, buffer.count)
        }
    }
}

extension KeyHandle {
    func privatePEM() throws(CryptoError) -> String {
        let text = unsafe PEM.text { sink in
            unsafe PEM_write_bio_PKCS8PrivateKey(sink, pointer, nil, nil, 0, nil, nil)
        }
        guard let text else { throw .last("PEM_write_bio_PKCS8PrivateKey") }
        return text
    }

    func publicPEM() throws(CryptoError) -> String {
        let text = unsafe PEM.text { unsafe PEM_write_bio_PUBKEY($0, pointer) }
        guard let text else { throw .last("PEM_write_bio_PUBKEY") }
        return text
    }
}
