/// Why a file or text does not hold the key that is wanted.
public enum KeyFault: Error, Equatable, Sendable {
    /// The file cannot be opened or read; holds `errno`.
    case unreadable(Int32)
    /// The path is a directory.
    case directory
    /// The path is a device, a pipe or a socket.
    case notAFile
    /// There is nothing in it.
    case empty
    /// It is larger than any key file; holds the limit in bytes.
    case tooLarge(bytesMax: Int)
    /// It holds no PEM block.
    case notPEM
    /// The private key is protected by a password.
    case encrypted
    /// It holds a certificate instead of a private key.
    case certificate
    /// It holds a public key instead of a private key.
    case publicKey
    /// It holds a private key where a public one is wanted.
    case privateKey
    /// It holds some other PEM block; holds its label.
    case otherPEM(String)
    /// The key is an RSA key where a P-256 key is wanted.
    case rsa
    /// The RSA key is too short to be trusted; holds its size in bits.
    case rsaTooShort(bits: Int)
    /// The key is on another curve than P-256; holds the curve's name.
    case wrongCurve(String)
    /// The key is of a kind that is not wanted; holds its name.
    case wrongAlgorithm(String)
    /// The block cannot be decoded, or its numbers do not form a key.
    case damaged
}

extension KeyFault: CustomStringConvertible {
    /// One clause that names the fault, without anything of the key.
    public var description: String {
        switch self {
        case .unreadable(let code): "cannot be read (\(SystemCall.message(code)))"
        case .directory: "is a directory"
        case .notAFile: "is not a regular file"
        case .empty: "is empty"
        case .tooLarge(let limit): "is larger than a key file can be (\(limit) bytes)"
        case .notPEM: "holds no PEM block"
        case .encrypted: "holds a key protected by a password; a key without one is needed"
        case .certificate: "holds a certificate; a private key is needed"
        case .publicKey: "holds a public key; a private key is needed"
        case .privateKey: "holds a private key; a public key is needed"
        case .otherPEM(let label): "holds a PEM block of another kind (\(label))"
        case .rsa: "holds an RSA key; an elliptic-curve key on P-256 is needed"
        case .rsaTooShort(let bits): "holds an RSA key of \(bits) bits; at least 2048 are needed"
        case .wrongCurve(let name): "holds a key on the curve \(name); P-256 is needed"
        case .wrongAlgorithm(let name): "holds a key of the kind \(name), which is not wanted here"
        case .damaged: "holds a damaged key"
        }
    }
}

/// A key file that was refused, with the reason.
public struct KeyFileError: Error, Equatable, Sendable, CustomStringConvertible {
    /// The path as it was given.
    public let file: String
    /// Why it was refused.
    public let fault: KeyFault

    /// One sentence fit for a log: the file and the fault.
    public var description: String { "key file \(file) \(fault)" }
}
