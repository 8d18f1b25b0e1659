/// What APNs remembers of one connection.
///
/// A connection serves one team, starts with one kind of key, and may change its provider token rarely (Apple,
/// Establishing a token-based connection to APNs).
struct ConnectionRecord: Sendable {
    /// The environment of the listener that accepted it.
    let environment: APNsEnvironment
    /// Its place among all connections since the start or the last reset, from 1.
    let ordinal: Int
    /// The key behind the first valid provider token.
    var firstKey: ProviderKeyEntry?
    /// The `authorization` field of the provider token in use, and what its verification gave.
    private(set) var token: String?
    var verified: Result<ProviderToken, ProviderTokenFault>?
    private var changesAtSeconds: [Int64] = []
    /// Refusals weighed as APNs is said to: `BadDeviceToken` twice, 410 not at all.
    var faults = 0
    /// Whether a request with a valid token has succeeded.
    var isTrusted = false

    init(environment: APNsEnvironment, ordinal: Int) {
        self.environment = environment
        self.ordinal = ordinal
    }

    /// Makes `newToken`, an `authorization` field, the one in use unless the token has changed too often.
    ///
    /// - Returns: false when the change is refused; the former token then stays the one in use.
    mutating func take(
        _ newToken: String, nowSeconds: Int64, changesAllowed: Int, windowSeconds: Int64
    ) -> Bool {
        guard token != newToken else { return true }
        if token != nil {
            changesAtSeconds.removeAll { $0 <= nowSeconds - windowSeconds }
            guard changesAtSeconds.count < changesAllowed else { return false }
            changesAtSeconds.append(nowSeconds)
        }
        token = newToken
        verified = nil
        return true
    }
}
