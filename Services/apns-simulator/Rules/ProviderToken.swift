/// One signing key that the simulated APNs knows.
struct ProviderKeyEntry: Sendable, Equatable {
    var teamID: String
    var keyID: String
    /// The environment it is bound to; nil for an older key that serves both.
    var environment: APNsEnvironment?
    /// The topics of a topic-specific key; nil for a team key.
    var topics: Set<String>?

    /// Whether a connection that began with `first` may go on with this key.
    ///
    /// Team keys of one team may share a connection; a topic-specific key shares it with no other (Apple,
    /// Establishing a token-based connection to APNs; related keys are not modelled).
    func mayFollow(_ first: ProviderKeyEntry) -> Bool {
        if keyID == first.keyID { return true }
        return topics == nil && first.topics == nil
    }
}

/// A verified provider token.
struct ProviderToken: Sendable, Equatable {
    var key: ProviderKeyEntry
    var issuedAtSeconds: Int64
}

/// Why a provider token is not accepted, whatever the time.
enum ProviderTokenFault: Error, Equatable {
    case malformed, wrongAlgorithm, unknownKey, foreignTeam, wrongSignature
}
