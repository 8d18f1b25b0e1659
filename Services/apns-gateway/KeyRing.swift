import Contracts
import Crypto
import Service

/// The signing key of one (team, key) with what names it.
struct SigningKey {
    /// The team, 10 characters.
    let teamID: String
    /// The key, 10 characters.
    let keyID: String
    /// Signs.
    let key: ProviderKey
    /// Tells whether a token was signed with this key: the SHA-256 of its public part.
    let digest: String

    /// Makes a provider token.
    ///
    /// - Throws: `CryptoError` if OpenSSL fails.
    func token(issuedAtSeconds: Int64) throws(CryptoError) -> String {
        try key.providerToken(keyID: keyID, teamID: teamID, issuedAtSeconds: issuedAtSeconds)
    }
}

/// The keys of all applications, loaded.
struct KeyRing {
    /// A team and a key.
    struct Name: Hashable, Sendable {
        var teamID: String
        var keyID: String
    }

    private(set) var keys: [Name: SigningKey] = [:]
    /// What an operator should put right although it works, one sentence each.
    private(set) var warnings: [String] = []

    /// Loads every key that the applications name, each once.
    ///
    /// - Throws: `ServiceFailure` (78) with the reason of each file that is refused.
    init(_ configuration: Configuration) throws(ServiceFailure) {
        var problems: [String] = []
        for application in configuration.applications {
            for key in application.keys where keys[Name(teamID: key.teamID, keyID: key.keyID)] == nil {
                do throws(KeyProblem) {
                    try load(key)
                } catch {
                    problems.append("\(application.code): \(error.text)")
                }
            }
        }
        guard problems.isEmpty else {
            throw ServiceFailure(.configuration, "keys-not-loaded", problems.joined(separator: "; "))
        }
    }

    private struct KeyProblem: Error { var text: String }

    private mutating func load(_ key: Configuration.Key) throws(KeyProblem) {
        for (what, value) in [("teamId", key.teamID), ("keyId", key.keyID)] where !Self.isIdentifier(value) {
            throw KeyProblem(text: "\(what) of \(key.file) is not 10 letters and digits")
        }
        let loaded: ProviderKey
        do throws(KeyFileError) {
            loaded = try ProviderKey.load(file: key.file)
        } catch {
            throw KeyProblem(text: error.description)
        }
        try take(loaded, key)
    }

    private mutating func take(_ loaded: ProviderKey, _ key: Configuration.Key) throws(KeyProblem) {
        do throws(CryptoError) {
            keys[Name(teamID: key.teamID, keyID: key.keyID)] = SigningKey(
                teamID: key.teamID, keyID: key.keyID, key: loaded, digest: SHA256.hex(try loaded.publicPEM()))
        } catch {
            throw KeyProblem(text: "\(key.file): \(error.description)")
        }
        if !loaded.warnings.isEmpty { warnings.append("\(key.file) can be read by every user") }
    }

    /// Ten characters (Apple, Establishing a token-based connection to APNs), seen as letters and digits only.
    private static func isIdentifier(_ text: String) -> Bool {
        text.utf8.count == 10 && text.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber) }
    }
}
