/// The reasons that APNs names in the body of a refusal.
///
/// Sources: Apple, Handling notification responses from APNs, and Handling error responses from APNs. The wire spelling is the case's name with a capital.
enum APNsReason: UInt8, CaseIterable, Sendable {
    case badCollapseId, badDeviceToken, badExpirationDate, badMessageId, badPriority, badTopic
    case deviceTokenNotForTopic, duplicateHeaders, idleTimeout, invalidPushType, missingDeviceToken
    case missingTopic, payloadEmpty, topicDisallowed
    case badCertificate, badCertificateEnvironment, expiredProviderToken, forbidden
    case invalidProviderToken, missingProviderToken, unrelatedKeyIdInToken, badEnvironmentKeyIdInToken
    case badPath, methodNotAllowed, expiredToken, unregistered, payloadTooLarge
    case tooManyProviderTokenUpdates, tooManyRequests, internalServerError, serviceUnavailable, shutdown
    // Of broadcasts and calls about channels.
    case badChannelId, badRequestParams, badRequestPayload, cannotCreateChannelConfig, channelNotRegistered
    case featureNotEnabled, missingChannelId, missingPushType, topicMismatch

    private static let spellings: [String] = allCases.map { reason in
        let name = String(describing: reason)
        return name.prefix(1).uppercased() + name.dropFirst()
    }

    private static let byName = [String: APNsReason](
        uniqueKeysWithValues: allCases.map { ($0.wireName, $0) })

    /// The spelling in the answer's JSON body.
    var wireName: String { Self.spellings[Int(rawValue)] }

    /// The reason with this spelling, if Apple lists it.
    init?(wireName: String) {
        guard let reason = Self.byName[wireName] else { return nil }
        self = reason
    }

    /// The HTTP status that carries the reason.
    var status: Int {
        switch self {
        case .badCollapseId, .badDeviceToken, .badExpirationDate, .badMessageId, .badPriority, .badTopic,
            .deviceTokenNotForTopic, .duplicateHeaders, .idleTimeout, .invalidPushType, .missingDeviceToken,
            .missingTopic, .payloadEmpty, .topicDisallowed, .badChannelId, .badRequestParams,
            .badRequestPayload, .cannotCreateChannelConfig, .channelNotRegistered, .featureNotEnabled,
            .missingChannelId, .missingPushType:
            400
        case .badCertificate, .badCertificateEnvironment, .expiredProviderToken, .forbidden,
            .invalidProviderToken, .missingProviderToken, .unrelatedKeyIdInToken, .badEnvironmentKeyIdInToken,
            .topicMismatch:
            403
        case .badPath: 404
        case .methodNotAllowed: 405
        case .expiredToken, .unregistered: 410
        case .payloadTooLarge: 413
        case .tooManyProviderTokenUpdates, .tooManyRequests: 429
        case .internalServerError: 500
        case .serviceUnavailable, .shutdown: 503
        }
    }
}
