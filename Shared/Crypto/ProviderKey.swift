/// The private key with which provider tokens for APNs are signed: elliptic curve, P-256, without a password.
///
/// Apple hands it out as a `.p8` file, a PKCS#8 key in PEM (Apple, Establishing a token-based connection to APNs). The
/// older EC form (`BEGIN EC PRIVATE KEY`) is taken as well. Nothing here ever asks for a password.
public final class ProviderKey {
    /// What is wrong with a key file that works nevertheless.
    public enum Warning: Equatable, Sendable {
        /// Users other than its owner and group can read or write it.
        case openToOthers
    }

    /// The largest key file that is read, in bytes.
    public static let fileBytesMax = 65_536

    /// What the operator should put right.
    public let warnings: [Warning]
    private let key: KeyHandle

    private init(key: consuming KeyHandle, warnings: [Warning]) {
        self.key = key
        self.warnings = warnings
    }

    /// Reads the key from PEM text.
    ///
    /// - Throws: `KeyFault`, one for each wrong kind of content.
    public convenience init(pem: [UInt8]) throws(KeyFault) {
        self.init(key: try Self.decode(pem), warnings: [])
    }

    /// Reads the key from a file of at most `fileBytesMax` bytes.
    ///
    /// - Throws: `KeyFileError` with the file and one fault for each wrong kind of content.
    public static func load(file: String) throws(KeyFileError) -> ProviderKey {
        do {
            let (bytes, isOpenToOthers) = try PrivateFile.readKey(file, bytesMax: fileBytesMax)
            return ProviderKey(key: try decode(bytes), warnings: isOpenToOthers ? [.openToOthers] : [])
        } catch {
            throw KeyFileError(file: file, fault: error)
        }
    }

    /// Makes a new key, for simulators and demonstrations: APNs knows only keys that Apple has made.
    public static func generate() throws(CryptoError) -> ProviderKey {
        guard let key = KeyHandle.generateP256() else { throw .last("EVP_EC_gen") }
        return ProviderKey(key: key, warnings: [])
    }

    /// The key that verifies what this one signs.
    public func verifyingKey() throws(CryptoError) -> VerifyingKey {
        guard let shared = key.share() else { throw .last("EVP_PKEY_up_ref") }
        return VerifyingKey(key: shared, algorithm: .es256)
    }

    /// Writes the private key as PKCS#8 PEM; the text is a secret.
    public func privatePEM() throws(CryptoError) -> String { try key.privatePEM() }

    /// Writes the public part as PEM.
    public func publicPEM() throws(CryptoError) -> String { try key.publicPEM() }

    /// Signs bytes with ES256: R and S of the ECDSA signature over their SHA-256, 64 bytes.
    ///
    /// Two signatures over the same bytes differ.
    public func sign(_ bytes: [UInt8]) throws(CryptoError) -> [UInt8] {
        guard let raw = SignatureForm.raw(der: try key.sign(bytes)) else { throw .last("d2i_ECDSA_SIG") }
        return raw
    }
}

extension ProviderKey {
    private static func decode(_ text: [UInt8]) throws(KeyFault) -> KeyHandle {
        defer { CryptoError.forgetErrors() }
        let key = try decodePrivate(try privateBlock(in: text))
        if let fault = key.kind.fault(for: .es256) { throw fault }
        guard key.isConsistent else { throw .damaged }
        return key
    }

    /// Finds the private key; a file may hold other blocks before it, as curve parameters are.
    private static func privateBlock(in text: [UInt8]) throws(KeyFault) -> PEMBlock {
        guard !text.isEmpty else { throw .empty }
        let blocks = PEM.blocks(in: text)
        if let block = blocks.first(where: { $0.label.hasSuffix("PRIVATE KEY") }) { return block }
        switch blocks.first?.label {
        case nil: throw .notPEM
        case "CERTIFICATE", "TRUSTED CERTIFICATE", "X509 CERTIFICATE": throw .certificate
        case "PUBLIC KEY", "RSA PUBLIC KEY", "EC PUBLIC KEY": throw .publicKey
        case let label?: throw .otherPEM(label)
        }
    }

    private static func decodePrivate(_ block: PEMBlock) throws(KeyFault) -> KeyHandle {
        guard !block.isEncrypted, block.label != "ENCRYPTED PRIVATE KEY" else { throw .encrypted }
        switch block.label {
        case "PRIVATE KEY":
            guard let key = KeyHandle.pkcs8(block.bytes) else { throw .damaged }
            return key
        case "EC PRIVATE KEY":
            guard let key = KeyHandle.olderEC(block.bytes) else { throw .damaged }
            return key
        case "RSA PRIVATE KEY": throw .rsa
        case let label: throw .otherPEM(label)
        }
    }
}
