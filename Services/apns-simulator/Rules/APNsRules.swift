import Crypto

/// The checks that APNs makes of a request, in the order in which it is known or assumed to make them.
///
/// Apple documents each reason but hardly any order: that the method and the credential come before the token, topic
/// and payload was seen on the real hosts; the rest of the order is an assumption. Client certificates are
/// never asked for.
struct APNsRules {
    var settings: Settings
    private var verifier: ProviderTokenVerifier
    /// Topics that were found good, without regard to the key.
    var knownTopics: [String: PushTopic] = [:]

    /// What APNs would let through, and how strictly the uncertain parts are read.
    struct Settings: Sendable {
        /// Bundle ids that pushes may go to; empty for any.
        var bundleIDs: Set<String> = []
        /// Provider-token changes that one connection may make within `tokenChangeWindowSeconds`.
        var tokenChangesAllowed = 1
        var tokenChangeWindowSeconds: Int64 = 1200
        /// Age at which a provider token has expired, and how far ahead its issue time may lie.
        var tokenLifetimeSeconds: Int64 = 3600
        /// Takes a push type that does not fit the topic, where Apple speaks of "an error, delay or drop".
        var toleratesPushTypeMismatch = false
        /// Refuses priority 1 on a Live Activity push, which Apple only advises against.
        var refusesLowPriority = false
        /// Largest body of a device push (Apple, Sending notification requests to APNs).
        var payloadBytesMax = 4096
        /// Largest body of a broadcast (Apple, Sending broadcast push notification requests to APNs).
        var broadcastBytesMax = 5120
        /// Answers as for an app whose broadcast capability is off.
        var refusesBroadcasts = false
    }

    /// What all checks but those of the device token say.
    enum Verdict: Equatable {
        case passed(PushTopic)
        case refused(APNsReason)
    }

    init(settings: Settings = Settings(), verifier: ProviderTokenVerifier) {
        self.settings = settings
        self.verifier = verifier
    }

    /// How many different provider tokens were seen.
    var distinctProviderTokens: Int { verifier.distinctTokens }

    /// Forgets what was counted.
    mutating func resetCount() { verifier.resetCount() }

    /// Judges everything about a request but its device token.
    mutating func judge(
        _ request: APNsRequest, on connection: inout ConnectionRecord, nowMilliseconds: Int64
    ) -> Verdict {
        if let reason = routeFault(request) ?? headerFault(request.headers) { return .refused(reason) }
        let token: ProviderToken
        switch authenticate(request.headers, on: &connection, nowSeconds: nowMilliseconds / 1000) {
        case .success(let verified): token = verified
        case .failure(let refusal): return .refused(refusal.reason)
        }
        if request.deviceToken.isEmpty { return .refused(.missingDeviceToken) }
        switch topic(of: request.headers, key: token.key) {
        case .failure(let refusal): return .refused(refusal.reason)
        case .success(let topic):
            let fault = valueFault(request.headers, topic) ?? bodyFault(request.body, topic)
            return fault.map(Verdict.refused) ?? .passed(topic)
        }
    }
}

/// A reason on its way out of a check.
struct Refusal: Error {
    let reason: APNsReason
}

/// What APNs knows of a device token, seen from one listener and topic: the last of its checks.
enum TokenStanding: Equatable {
    case good(TokenReference)
    /// Not hex, odd, or never given out.
    case unknown
    case otherEnvironment
    case otherTopic
    /// Gone for good since the moment given, in UNIX milliseconds.
    case unregistered(sinceMilliseconds: Int64)
    case expired(sinceMilliseconds: Int64)
    /// Too many requests for this token in a short time.
    case crowded

    /// What the request is refused with, and since when the token is gone.
    var refusal: (reason: APNsReason, timestampMilliseconds: Int64?)? {
        switch self {
        case .good: nil
        case .unknown, .otherEnvironment: (.badDeviceToken, nil)
        case .otherTopic: (.deviceTokenNotForTopic, nil)
        case .unregistered(let since): (.unregistered, since)
        case .expired(let since): (.expiredToken, since)
        case .crowded: (.tooManyRequests, nil)
        }
    }
}

// MARK: - Route, headers, credential

extension APNsRules {
    private func routeFault(_ request: APNsRequest) -> APNsReason? {
        guard request.method == "POST" else { return .methodNotAllowed }
        guard request.path.hasPrefix(APNsRequest.prefix) else { return .badPath }
        let rest = request.path.utf8.dropFirst(APNsRequest.prefix.utf8.count)
        return rest.isEmpty || rest.first == UInt8(ascii: "/") ? nil : .badPath
    }

    private func headerFault(_ headers: APNsHeaders) -> APNsReason? {
        if headers.hasDuplicate { return .duplicateHeaders }
        if let id = headers.id, !UUIDText.isCanonicalUUID(id) { return .badMessageId }
        return nil
    }

    mutating func authenticate(
        _ headers: APNsHeaders, on connection: inout ConnectionRecord, nowSeconds: Int64
    ) -> Result<ProviderToken, Refusal> {
        guard let bearer = headers.authorization, Self.isBearer(bearer) else {
            return .failure(Refusal(reason: .missingProviderToken))
        }
        guard
            connection.take(
                bearer, nowSeconds: nowSeconds, changesAllowed: settings.tokenChangesAllowed,
                windowSeconds: settings.tokenChangeWindowSeconds)
        else { return .failure(Refusal(reason: .tooManyProviderTokenUpdates)) }
        let verified =
            connection.verified ?? verifier.verify(String(bearer.dropFirst(Self.scheme.utf8.count)))
        connection.verified = verified
        guard case .success(let token) = verified else {
            return .failure(Refusal(reason: .invalidProviderToken))
        }
        if let reason = timeFault(token, nowSeconds) ?? keyFault(token.key, on: connection) {
            return .failure(Refusal(reason: reason))
        }
        if connection.firstKey == nil { connection.firstKey = token.key }
        return .success(token)
    }

    private static let scheme = "bearer "

    /// Whether a token follows `bearer` and its space; the scheme's case does not matter (RFC 9110, 11.1).
    private static func isBearer(_ field: String) -> Bool {
        field.utf8.count > scheme.utf8.count
            && zip(field.utf8, scheme.utf8).allSatisfy { $0 | 0x20 == $1 }
    }

    private func timeFault(_ token: ProviderToken, _ nowSeconds: Int64) -> APNsReason? {
        let age = nowSeconds.subtractingReportingOverflow(token.issuedAtSeconds)
        if age.overflow { return .invalidProviderToken }
        if age.partialValue > settings.tokenLifetimeSeconds { return .expiredProviderToken }
        // Apple asks for an issue time within an hour of now; which reason a later one gets is not documented.
        return age.partialValue < -settings.tokenLifetimeSeconds ? .invalidProviderToken : nil
    }

    private func keyFault(_ key: ProviderKeyEntry, on connection: ConnectionRecord) -> APNsReason? {
        if let bound = key.environment, bound != connection.environment { return .badEnvironmentKeyIdInToken }
        guard let first = connection.firstKey else { return nil }
        if key.teamID != first.teamID { return .forbidden }
        return key.mayFollow(first) ? nil : .unrelatedKeyIdInToken
    }
}
