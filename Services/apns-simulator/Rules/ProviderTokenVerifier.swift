import Crypto
import JSON

/// Verifies each provider token once and remembers the verdict.
///
/// A signature is taken in the raw form that RFC 7518 demands (64 bytes) and in DER, which APNs is known to accept.
struct ProviderTokenVerifier {
    /// Tells whether `signature` over `signed` was made with the private half of `key`.
    typealias SignatureCheck = (_ key: ProviderKeyEntry, _ signed: [UInt8], _ signature: [UInt8]) -> Bool

    /// Verdicts kept before all are forgotten.
    static let verdictsMax = 4096

    private let keys: [String: ProviderKeyEntry]
    private let acceptsAnyKey: Bool
    private let check: SignatureCheck
    private var verdicts: [String: Result<ProviderToken, ProviderTokenFault>] = [:]
    /// How many different tokens were looked at.
    private(set) var distinctTokens = 0

    /// Makes a verifier; one that accepts any key takes every well-formed ES256 token without checking it.
    init(keys: [ProviderKeyEntry], acceptsAnyKey: Bool, check: @escaping SignatureCheck) {
        self.keys = Dictionary(keys.map { ($0.keyID, $0) }) { first, _ in first }
        self.acceptsAnyKey = acceptsAnyKey
        self.check = check
    }

    /// The verdict on `token`, time aside.
    mutating func verify(_ token: String) -> Result<ProviderToken, ProviderTokenFault> {
        if let known = verdicts[token] { return known }
        if verdicts.count >= Self.verdictsMax { verdicts.removeAll() }
        let verdict = judge(token)
        verdicts[token] = verdict
        distinctTokens += 1
        return verdict
    }

    /// Forgets what was counted, not the keys.
    mutating func resetCount() {
        verdicts.removeAll()
        distinctTokens = 0
    }

    private func judge(_ token: String) -> Result<ProviderToken, ProviderTokenFault> {
        let parts = token.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3,
            let header = Self.object(parts[0]), let claims = Self.object(parts[1]),
            let keyID = header["kid"]?.string, let teamID = claims["iss"]?.string,
            let issuedAtSeconds = claims["iat"]?.int64,
            let signature = Base64URL.decode(parts[2]), Self.isSignatureShaped(signature)
        else { return .failure(.malformed) }
        guard header["alg"]?.string == "ES256" else { return .failure(.wrongAlgorithm) }
        if acceptsAnyKey {
            let key = keys[keyID] ?? ProviderKeyEntry(teamID: teamID, keyID: keyID)
            return .success(ProviderToken(key: key, issuedAtSeconds: issuedAtSeconds))
        }
        guard let key = keys[keyID] else { return .failure(.unknownKey) }
        guard key.teamID == teamID else { return .failure(.foreignTeam) }
        let signed = Array(token.utf8.dropLast(parts[2].utf8.count + 1))
        guard check(key, signed, signature) else { return .failure(.wrongSignature) }
        return .success(ProviderToken(key: key, issuedAtSeconds: issuedAtSeconds))
    }

    /// Raw R and S, or an ASN.1 sequence of at most 72 bytes.
    private static func isSignatureShaped(_ signature: [UInt8]) -> Bool {
        signature.count == 64 || (signature.first == 0x30 && (8...72).contains(signature.count))
    }

    private static func object(_ part: Substring) -> JSONValue? {
        guard let bytes = Base64URL.decode(part), let document = try? JSONDocument(bytes) else { return nil }
        return document.root
    }
}
