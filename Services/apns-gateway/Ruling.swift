import Contracts

/// What an answer of APNs leads to: one row for every reason, for the report as well as for the connection.
///
/// Reasons and statuses: Apple, Handling notification responses from APNs, and for channels Handling error responses
/// from APNs. A reason that is not listed is treated by
/// its status.
struct Ruling: Equatable, Sendable {
    /// How long the next attempt waits.
    enum Delay: Equatable, Sendable {
        /// It may come at once.
        case none
        /// So many milliseconds.
        case after(Int64)
        /// So many milliseconds after the first time, and twice as many after each further one in a row.
        case doubling(from: Int64)
    }

    /// What becomes of the connection that the answer came on.
    enum Connection: Equatable, Sendable {
        case keep
        /// Several of these in a row, and it is replaced.
        case suspect
        /// It takes no more requests; a fresh one is opened for them.
        case replace
    }

    /// What becomes of the provider token that the push was sent with.
    enum ProviderToken: Equatable, Sendable {
        case keep
        /// A new one is made, unless the token is itself such a replacement and younger than 20 minutes.
        case replace
    }

    var result: Report.Result
    var delay = Delay.none
    var connection = Connection.keep
    var providerToken = ProviderToken.keep
    /// The request was wrong in a way that no caller can be the cause of.
    var isOurFault = false

    /// The longest of the doubling delays, in milliseconds: Apple asks for 15 minutes after a 5xx.
    static let delayMaxMilliseconds: Int64 = 900_000
    /// What a 5xx waits first, in milliseconds.
    ///
    /// Sooner than Apple's 15 minutes, because a Live Activity's state is of use for seconds; the doubling reaches
    /// those 15 minutes at the ninth time in a row.
    static let serverDelayMilliseconds: Int64 = 5_000

    /// Apple's reasons for pushes to devices and channels, and for calls about channels.
    static let reasons: [String: (status: Int, ruling: Ruling)] = [
        "BadChannelId": (400, .refused),
        "BadCollapseId": (400, .refused),
        "BadDeviceToken": (400, .refused),
        "BadExpirationDate": (400, .ourFault),
        "BadMessageId": (400, .ourFault),
        "BadPriority": (400, .ourFault),
        "BadRequestParams": (400, .ourFault),
        "BadRequestPayload": (400, .ourFault),
        "BadTopic": (400, .refused),
        "CannotCreateChannelConfig": (400, .refused),
        // Permanent for that channel: it was deleted, or is of the other environment.
        "ChannelNotRegistered": (400, .refused),
        "DeviceTokenNotForTopic": (400, .refused),
        "DuplicateHeaders": (400, .ourFault),
        // Broadcast is switched on for each app; its pushes to devices go on without.
        "FeatureNotEnabled": (400, .refused),
        "IdleTimeout": (400, Ruling(result: .retry, delay: .doubling(from: 500), connection: .replace)),
        "InvalidPushType": (400, .ourFault),
        "MissingChannelId": (400, .ourFault),
        "MissingDeviceToken": (400, .ourFault),
        "MissingPushType": (400, .ourFault),
        "MissingTopic": (400, .ourFault),
        "PayloadEmpty": (400, .ourFault),
        "TopicDisallowed": (400, .paused),
        "BadCertificate": (403, .paused),
        "BadCertificateEnvironment": (403, .paused),
        "BadEnvironmentKeyIdInToken": (403, .paused),
        // The spelling seen on the wire; the page has the one above.
        "BadEnvironmentKeyInToken": (403, .paused),
        "ExpiredProviderToken": (
            403, Ruling(result: .retry, delay: .doubling(from: 1_000), providerToken: .replace)
        ),
        "Forbidden": (403, .paused),
        "InvalidProviderToken": (403, .paused),
        "MissingProviderToken": (403, .paused),
        // Said of channels alone: no reason to hold back what goes to devices.
        "TopicMismatch": (403, .refused),
        "UnrelatedKeyIdInToken": (
            403, Ruling(result: .retry, delay: .after(1_000), connection: .replace)
        ),
        "BadPath": (404, .ourFault),
        "MethodNotAllowed": (405, .ourFault),
        "ExpiredToken": (410, .refused),
        "Unregistered": (410, .refused),
        "PayloadTooLarge": (413, .refused),
        // Apple: the token in use stays good for its hour; only a further change would prolong this.
        "TooManyProviderTokenUpdates": (429, .tooMany),
        "TooManyRequests": (429, .tooMany),
        "InternalServerError": (500, .serverTrouble),
        "ServiceUnavailable": (503, .serverTrouble),
        "Shutdown": (503, Ruling(result: .retry, delay: .doubling(from: 1_000), connection: .replace)),
    ]

    /// APNs accepted the push.
    static let delivered = Ruling(result: .delivered)
    /// For good, and no fault of the connection.
    static let refused = Ruling(result: .failed)
    /// For good, and by our own mistake.
    static let ourFault = Ruling(result: .failed, isOurFault: true)
    /// The registry pauses the application; a second keeps the first ones from coming back at once.
    static let paused = Ruling(result: .retry, delay: .after(1_000))
    /// APNs wants it slower.
    static let tooMany = Ruling(result: .retry, delay: .doubling(from: 10_000))
    /// Something at APNs is out of order.
    static let serverTrouble = Ruling(
        result: .retry, delay: .doubling(from: serverDelayMilliseconds), connection: .suspect)
    /// Written, and no answer came.
    static let noAnswer = Ruling(result: .retry, delay: .doubling(from: 1_000), connection: .suspect)
    /// Surely not processed.
    static let notSent = Ruling(result: .retry)

    /// The row for an answer.
    static func of(status: Int, reason: String?) -> Ruling {
        if status == 200 { return delivered }
        if let reason, let row = reasons[reason], row.status == status { return row.ruling }
        return switch status {
        case 201..<300: delivered
        case 403: paused
        case 429: tooMany
        case 500...: serverTrouble
        default: refused
        }
    }

    /// The earliest instant of the next attempt.
    ///
    /// - Parameters:
    ///   - time: how often in a row the push has met this, from 1.
    ///   - wall: now, milliseconds since 1970.
    ///   - retryAfterSeconds: what APNs asked for itself, which Apple does not document; at most an hour is believed.
    /// - Returns: milliseconds since 1970; nil for a result that has no next attempt.
    func retryAtMilliseconds(time: Int, wall: Int64, retryAfterSeconds: Int64? = nil) -> Int64? {
        guard result == .retry else { return nil }
        let asked = min(max(retryAfterSeconds ?? 0, 0), 3_600) * 1_000
        return wall + max(asked, delayMilliseconds(time: time))
    }

    private func delayMilliseconds(time: Int) -> Int64 {
        switch delay {
        case .none: 0
        case .after(let milliseconds): milliseconds
        case .doubling(let first):
            min(first << Int64(min(max(time, 1) - 1, 20)), Self.delayMaxMilliseconds)
        }
    }
}
