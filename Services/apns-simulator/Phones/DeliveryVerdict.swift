/// What kind of push a payload asks for.
enum PushEvent: UInt8, CaseIterable, Sendable {
    case start, update, end
    /// An ordinary notification.
    case alert
    /// Anything a phone makes nothing of.
    case none
}

/// What a phone made of a push that APNs had already answered with 200.
enum DeliveryVerdict: UInt8, CaseIterable, Sendable {
    case started, updated, ended, shown
    /// Kept by APNs for a phone that is offline.
    case stored
    /// Of a broadcast as a whole: somebody shows it, or nobody does.
    case broadcast, broadcastToNobody
    // What follows leaves no trace on the phone.
    case lostOffline, replacedOffline, expiredOffline
    case notJSON, noEvent, unknownEvent, noContentState, undecodable
    case startOnUpdateToken, updateOnStartToken
    case noAlert, noAttributes, noAttributesType, unknownAttributesType, channelNeedsNewerSystem
    case startBudgetUsedUp, tooManyActivities
    case noTimestamp, olderThanShown, inThePast, tooFarAhead
    case alreadyEnded, dismissed, overLifetime, updateBudgetUsedUp, tokenGone

    /// `started`, `updated`, `ended`, `shown`, `stored`, or `ignored` for all the rest.
    var name: String { isVisible || self == .stored ? reason : "ignored" }

    /// The verdict in one word.
    var reason: String { Self.reasons[Int(rawValue)] }

    /// Whether the person can see that the push arrived.
    var isVisible: Bool { rawValue <= DeliveryVerdict.shown.rawValue }

    private static let reasons = allCases.map { String(describing: $0) }
}
