/// The delivery of one message to one device, named the same by every service.
public struct PushID: Codable, Sendable, Hashable, Comparable {
    /// The journal's sequence of the message.
    public var message: Int64
    /// The registry's number of the device.
    public var device: Int64

    /// Joins the pair.
    public init(message: Int64, device: Int64) {
        self.message = message
        self.device = device
    }

    /// Orders by message, then by device.
    public static func < (left: PushID, right: PushID) -> Bool {
        (left.message, left.device) < (right.message, right.device)
    }
}

/// `apns-push-type` of a push.
public enum PushType: String, Codable, Sendable {
    case liveActivity = "liveactivity"
    /// The fallback for a phone that cannot be started.
    case alert = "alert"
}

/// Deliveries that are about to go, with the push they share.
///
/// From: token-registry. To: rate-limiter. Each target is kept until its `report`.
public struct Targets: Codable, Sendable, Equatable {
    /// The application's code.
    public var application: String
    /// The push.
    public var notification: Notification
    /// The participants' pushes, at least one.
    public var targets: [Target]
    /// The raw members, in the frames behind the body.
    public var payload: Payload

    enum CodingKeys: String, CodingKey {
        case application, notification, targets
    }

    /// Joins deliveries with their push.
    public init(application: String, notification: Notification, targets: [Target], payload: Payload) {
        self.application = application
        self.notification = notification
        self.targets = targets
        self.payload = payload
    }

    /// Reads the body; the payload follows in frames of its own.
    public init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        application = try values.decode(String.self, forKey: .application)
        notification = try values.decode(Notification.self, forKey: .notification)
        targets = try values.decode([Target].self, forKey: .targets)
        payload = Payload()
    }
}

/// One delivery handed to the limiter.
public struct Target: Codable, Sendable, Equatable {
    /// The delivery.
    public var id: PushID
    /// Which hand-over of the delivery this is, from 1; reports of earlier ones are told apart by it.
    public var attempt: Int
    /// The participant's number; what shares it shares a pace.
    ///
    /// 0 for an alert.
    public var participant: Int64
    /// How new the state is.
    public var order: Order
    /// Lower-case hex; empty for a broadcast.
    public var token: String
    /// The channel that it goes to in the place of a token.
    public var channel: Channel?
    /// The environment of the token.
    public var environment: APNsEnvironment
    /// A Live Activity push or the fallback alert.
    public var pushType: PushType
    /// A lower-case UUID, made with the ledger row.
    public var apnsID: String
    /// `apns-collapse-id`, at most 64 bytes of ASCII; on a start.
    public var collapseID: String?
    /// The highest priority of the states merged: 5 or 10.
    public var priority: Int
    /// What stands on the wire in a repeat within 30 s; nil while nothing has been sent.
    public var wireTimestampSeconds: Int64?
    /// What was last sent to the participant.
    public var pace: Pace
    /// How long the participant waits between pushes, in milliseconds.
    public var intervalMilliseconds: Int64
    /// How many pushes may go at once after a rest.
    public var burst: Int
    /// The earliest instant for other reasons than the pace (a start's budget, a retry), milliseconds since 1970.
    public var notBeforeMilliseconds: Int64
    /// When an unsent push is given back, milliseconds since 1970.
    public var sendBeforeMilliseconds: Int64
    /// Whether it is sent although its application is paused, as the one trial.
    public var trial: Bool

    /// Joins a target of what every one has.
    public init(
        id: PushID, attempt: Int, participant: Int64, order: Order, token: String,
        environment: APNsEnvironment, pushType: PushType = .liveActivity, apnsID: String,
        collapseID: String? = nil, priority: Int, wireTimestampSeconds: Int64? = nil, pace: Pace,
        intervalMilliseconds: Int64, burst: Int, notBeforeMilliseconds: Int64, sendBeforeMilliseconds: Int64,
        trial: Bool = false
    ) {
        self.id = id
        self.attempt = attempt
        self.participant = participant
        self.order = order
        self.token = token
        self.environment = environment
        self.pushType = pushType
        self.apnsID = apnsID
        self.collapseID = collapseID
        self.priority = priority
        self.wireTimestampSeconds = wireTimestampSeconds
        self.pace = pace
        self.intervalMilliseconds = intervalMilliseconds
        self.burst = burst
        self.notBeforeMilliseconds = notBeforeMilliseconds
        self.sendBeforeMilliseconds = sendBeforeMilliseconds
        self.trial = trial
    }
}

/// Says that a delivery that was handed over goes to another token.
///
/// From: token-registry. To: the limiter that has it. Kept until its `report`.
public struct Retarget: Codable, Sendable, Equatable {
    /// The delivery.
    public var id: PushID
    /// The hand-over.
    public var attempt: Int
    /// The new token, lower-case hex.
    public var token: String

    /// Joins the parts.
    public init(id: PushID, attempt: Int, token: String) {
        self.id = id
        self.attempt = attempt
        self.token = token
    }
}
