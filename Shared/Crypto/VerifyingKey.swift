/// A public key that checks signatures over the SHA-256 of bytes.
public final class VerifyingKey {
    /// The two kinds of signature that JSON Web Tokens bring here (RFC 7518, section 3.1).
    public enum Algorithm: Equatable, Sendable {
        /// ECDSA on P-256, with which provider tokens for APNs are signed.
        case es256
        /// RSA with PKCS #1 v1.5 padding and at least 2,048 bits, with which Google's service accounts sign in.
        case rs256
    }

    /// How an ES256 signature may be written.
    public enum Form: Equatable, Sendable {
        /// R and S, 64 bytes, as JSON Web Signatures demand (RFC 7515).
        case raw
        /// That, or the ASN.1 structure that command-line tools make.
        case rawOrDER
    }

    /// What kind of signature it checks.
    public let algorithm: Algorithm
    private let key: KeyHandle

    init(key: consuming KeyHandle, algorithm: Algorithm) {
        self.key = key
        self.algorithm = algorithm
    }

    /// Reads the key from PEM text that holds a public key or a certificate.
    ///
    /// Of a certificate only the key is used; its dates and signature are not looked at.
    ///
    /// - Throws: `KeyFault`, one for each wrong kind of content.
    public convenience init(pem: [UInt8], algorithm: Algorithm = .es256) throws(KeyFault) {
        self.init(key: try Self.decode(pem, algorithm), algorithm: algorithm)
    }

    /// Reads the key from a file that holds a public key or a certificate.
    ///
    /// - Throws: `KeyFileError` with the file and one fault for each wrong kind of content.
    public static func load(
        file: String, algorithm: Algorithm = .es256
    ) throws(KeyFileError) -> VerifyingKey {
        do {
            let (bytes, _) = try PrivateFile.readKey(file, bytesMax: ProviderKey.fileBytesMax)
            return try VerifyingKey(pem: bytes, algorithm: algorithm)
        } catch {
            throw KeyFileError(file: file, fault: error)
        }
    }

    /// Writes the key as PEM.
    public func pem() throws(CryptoError) -> String { try key.publicPEM() }

    /// Tells whether the signature was made over these bytes by the private part of this key.
    ///
    /// - Parameters:
    ///   - signature: what came with the bytes; anything else than a signature is simply not valid.
    ///   - bytes: what was signed.
    ///   - form: how an ES256 signature may be written; without meaning for RS256.
    /// - Returns: false for anything else, and never an error.
    public func verify(_ signature: [UInt8], over bytes: [UInt8], form: Form = .raw) -> Bool {
        guard algorithm == .es256 else { return key.verifies(signature, over: bytes) }
        if signature.count == SignatureForm.rawCount, let der = SignatureForm.der(raw: signature),
            key.verifies(der, over: bytes)
        {
            return true
        }
        // A DER signature with short numbers can have 64 bytes too.
        return form == .rawOrDER && key.verifies(signature, over: bytes)
    }

    private static func decode(_ text: [UInt8], _ algorithm: Algorithm) throws(KeyFault) -> KeyHandle {
        defer { CryptoError.forgetErrors() }
        guard !text.isEmpty else { throw .empty }
        guard let block = PEM.blocks(in: text).first else { throw .notPEM }
        let key = try decodePublic(block)
        if let fault = key.kind.fault(for: algorithm) { throw fault }
        return key
    }

    private static func decodePublic(_ block: PEMBlock) throws(KeyFault) -> KeyHandle {
        switch block.label {
        case "PUBLIC KEY":
            guard let key = KeyHandle.publicKey(block.bytes) else { throw .damaged }
            return key
        case "CERTIFICATE":
            guard let key = KeyHandle.certificate(block.bytes) else { throw .damaged }
            return key
        case let label: throw label.hasSuffix("PRIVATE KEY") ? .privateKey : .otherPEM(label)
        }
    }
}
