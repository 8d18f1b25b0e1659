/// Pushes whose slot has opened, with what they share.
///
/// From: rate-limiter. To: apns-gateway. Each is kept until its `report`.
public struct Pushes: Codable, Sendable, Equatable {
    /// The application's code; bundle id and keys follow from it.
    public var application: String
    /// The push.
    public var notification: Notification
    /// At least one.
    public var pushes: [Push]
    /// The raw members, in the frames behind the body.
    public var payload: Payload

    enum CodingKeys: String, CodingKey {
        case application, notification, pushes
    }

    /// Joins pushes with what they share.
    public init(application: String, notification: Notification, pushes: [Push], payload: Payload) {
        self.application = application
        self.notification = notification
        self.pushes = pushes
        self.payload = payload
    }

    /// Reads the body; the payload follows in frames of its own.
    public init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        application = try values.decode(String.self, forKey: .application)
        notification = try values.decode(Notification.self, forKey: .notification)
        pushes = try values.decode([Push].self, forKey: .pushes)
        payload = Payload()
    }
}

/// One HTTP/2 request to APNs for one target.
public struct Push: Codable, Sendable, Equatable {
    /// The delivery.
    public var id: PushID
    /// The hand-over.
    public var attempt: Int
    /// Lower-case hex; empty for a broadcast.
    public var token: String
    /// The channel that it goes to in the place of a token.
    public var channel: Channel?
    /// The environment of the token.
    public var environment: APNsEnvironment
    /// A Live Activity push or the fallback alert.
    public var pushType: PushType
    /// A lower-case UUID.
    public var apnsID: String
    /// `apns-collapse-id`, at most 64 bytes of ASCII.
    public var collapseID: String?
    /// 5 or 10.
    public var priority: Int
    /// `timestamp` on the wire, seconds since 1970.
    public var timestampSeconds: Int64
    /// When an unsent push is given back, milliseconds since 1970.
    public var sendBeforeMilliseconds: Int64
    /// Whether it is sent although its application is paused, as the one trial.
    public var trial: Bool

    /// Opens a target's slot.
    public init(_ target: Target, timestampSeconds: Int64) {
        id = target.id
        attempt = target.attempt
        token = target.token
        channel = target.channel
        environment = target.environment
        pushType = target.pushType
        apnsID = target.apnsID
        collapseID = target.collapseID
        priority = target.priority
        self.timestampSeconds = timestampSeconds
        sendBeforeMilliseconds = target.sendBeforeMilliseconds
        trial = target.trial
    }
}

/// What became of a hand-over.
///
/// Every one ends the limiter's part: the registry alone hands over again.
///
/// From: apns-gateway, to token-registry (kept until `noted`) and to the limiter that sent the push; from
/// rate-limiter, to token-registry (kept until `noted`).
public struct Report: Codable, Sendable, Equatable {
    /// The delivery.
    public var id: PushID
    /// The hand-over.
    public var attempt: Int
    /// The application's code.
    public var application: String
    /// The environment of the token.
    public var environment: APNsEnvironment
    /// What became of it.
    public var result: Result
    /// APNs' status; nil if there was no answer.
    public var status: Int?
    /// APNs' reason, or ours: `no-answer`, `not-sent`, `send-before`, `instance-lost`, `paused`.
    public var reason: String?
    /// The `timestamp` of a 410, milliseconds since 1970.
    public var apnsTimestampMilliseconds: Int64?
    /// For `retry`, the earliest instant, milliseconds since 1970.
    public var retryAtMilliseconds: Int64?
    /// The token pushed to, lower-case hex; nil if nothing was sent.
    public var token: String?
    /// When the push was written to APNs, milliseconds since 1970; nil if nothing was sent.
    public var sentAtMilliseconds: Int64?
    /// The `timestamp` that stood on the wire, seconds since 1970.
    public var wireTimestampSeconds: Int64?
    /// The priority it went out with.
    public var priority: Int?
    /// For `superseded`, the newer delivery.
    public var supersededBy: PushID?

    /// What may become of a hand-over.
    public enum Result: String, Codable, Sendable, CaseIterable {
        /// APNs answered 200.
        case delivered = "delivered"
        /// APNs refused it for good.
        case failed = "failed"
        /// Not sent, or the answer asks to come again.
        case retry = "retry"
        /// Its expiration has passed.
        case expired = "expired"
        /// A limiter that runs alone merged it into a newer one.
        case superseded = "superseded"
    }

    /// Joins what every report has.
    public init(
        id: PushID, attempt: Int, application: String, environment: APNsEnvironment, result: Result,
        status: Int? = nil, reason: String? = nil
    ) {
        self.id = id
        self.attempt = attempt
        self.application = application
        self.environment = environment
        self.result = result
        self.status = status
        self.reason = reason
    }
}
