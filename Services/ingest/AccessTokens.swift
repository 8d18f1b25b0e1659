import Crypto

/// The tokens that service accounts get when they sign in.
///
/// A token says whose it is and until when, under a code that only who has the journal's secret can make. So none is
/// stored, all survive a restart and a take-over by a standby, and one ends at once when its account or the account's
/// key is taken out of the configuration.
struct AccessTokens: Sendable {
    /// How long a token holds, in seconds; as long as Google's.
    static let lifeSeconds: Int64 = 3_600

    private static let prefix = "llat_"
    private static let expiryBytes = 8
    private static let codeBytes = 32

    /// The journal's.
    let secret: [UInt8]

    /// Makes a token.
    func issue(to account: SignInAccounts.Account, nowSeconds: Int64) -> String {
        let expiry = AccessTokens.bytes(nowSeconds + AccessTokens.lifeSeconds)
        return AccessTokens.prefix
            + Base64URL.encode(expiry + code(expiry, account) + Array(account.email.utf8))
    }

    /// Whose token it is; nil for one that is over, or none of ours.
    func account(of token: String, in accounts: SignInAccounts, nowSeconds: Int64) -> SignInAccounts.Account?
    {
        guard token.hasPrefix(AccessTokens.prefix),
            let bytes = Base64URL.decode(token.dropFirst(AccessTokens.prefix.count)),
            bytes.count > AccessTokens.expiryBytes + AccessTokens.codeBytes
        else { return nil }
        let expiry = Array(bytes.prefix(AccessTokens.expiryBytes))
        let rest = bytes.dropFirst(AccessTokens.expiryBytes)
        let given = Array(rest.prefix(AccessTokens.codeBytes))
        let email = String(decoding: rest.dropFirst(AccessTokens.codeBytes), as: UTF8.self)
        let account = accounts.accounts.first {
            $0.email == email && constantTimeEquals(code(expiry, $0), given)
        }
        let expirySeconds = expiry.reduce(Int64(0)) { $0 << 8 | Int64($1) }
        return nowSeconds < expirySeconds ? account : nil
    }

    private func code(_ expiry: [UInt8], _ account: SignInAccounts.Account) -> [UInt8] {
        SHA256.authenticationCode(expiry + account.keyDigest + Array(account.email.utf8), key: secret)
    }

    private static func bytes(_ value: Int64) -> [UInt8] {
        stride(from: 56, through: 0, by: -8).map { UInt8(truncatingIfNeeded: value >> $0) }
    }
}
