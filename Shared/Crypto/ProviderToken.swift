extension ProviderKey {
    /// Makes a provider token for APNs, a JSON Web Token signed with ES256.
    ///
    /// It has `alg` and `kid` in its header and `iss` and `iat` as claims (Apple, Establishing a token-based connection
    /// to APNs). APNs takes it for an hour from the second of issue, and wants a new one at most every 20 minutes.
    ///
    /// - Parameters:
    ///   - keyID: the key's identifier at Apple, 10 letters and digits.
    ///   - teamID: the team's identifier at Apple, 10 letters and digits.
    ///   - issuedAtSeconds: the second of issue since 1970.
    /// - Returns: the token in its compact form, as it follows `bearer` in the header.
    /// - Throws: `CryptoError` when an identifier is empty or holds anything but letters and digits.
    public func providerToken(
        keyID: String, teamID: String, issuedAtSeconds: Int64
    ) throws(CryptoError) -> String {
        guard Self.isPlain(keyID), Self.isPlain(teamID) else {
            throw CryptoError(
                call: "providerToken", message: "an identifier is not made of letters and digits")
        }
        let header = Base64URL.encode([UInt8](#"{"alg":"ES256","kid":"\#(keyID)"}"#.utf8))
        let claims = Base64URL.encode([UInt8](#"{"iss":"\#(teamID)","iat":\#(issuedAtSeconds)}"#.utf8))
        let signed = header + "." + claims
        return signed + "." + Base64URL.encode(try sign([UInt8](signed.utf8)))
    }

    private static func isPlain(_ identifier: String) -> Bool {
        !identifier.isEmpty && identifier.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber) }
    }
}
