/// An accepted order to start, update or end an activity, or to hold something back.
///
/// From: ingest. To: segmenter. Kept until the registry has `taken` the whole message.
public struct Command: Codable, Sendable, Equatable {
    /// The journal's sequence: the message's number everywhere.
    public var sequence: Int64
    /// The application's code.
    public var application: String
    /// What is asked.
    public var kind: Kind
    /// The journal's sequence of what began the activity's run; for a start its own.
    public var run: Int64
    /// The `live_activity_id`; for the Firebase door the token given.
    public var activity: String
    /// How new the state is.
    public var order: Order
    /// When the door accepted it, in milliseconds since 1970.
    public var acceptedAtMilliseconds: Int64
    /// Whom it is for.
    public var audience: Audience
    /// The push; nil for cancel, pause and resume.
    public var notification: Notification?
    /// The message that a cancel is for.
    public var cancelledMessage: Int64?
    /// The environment that a pause or resume is for; nil is both.
    public var environment: APNsEnvironment?
    /// The broadcast channel that the activity is bound to.
    public var channel: Channel?
    /// The raw members, in the frames behind the body.
    public var payload: Payload

    enum CodingKeys: String, CodingKey {
        case sequence, application, kind, run, activity, order, acceptedAtMilliseconds, audience
        case notification, cancelledMessage, environment, channel
    }

    /// What a command asks.
    public enum Kind: String, Codable, Sendable, CaseIterable {
        case start = "start"
        case update = "update"
        case end = "end"
        case cancel = "cancel"
        case pause = "pause"
        case resume = "resume"
    }

    /// Joins a command.
    public init(
        sequence: Int64, application: String, kind: Kind, run: Int64, activity: String, order: Order,
        acceptedAtMilliseconds: Int64, audience: Audience, notification: Notification? = nil,
        payload: Payload = Payload()
    ) {
        self.sequence = sequence
        self.application = application
        self.kind = kind
        self.run = run
        self.activity = activity
        self.order = order
        self.acceptedAtMilliseconds = acceptedAtMilliseconds
        self.audience = audience
        self.notification = notification
        self.payload = payload
    }

    /// Reads the body; the payload follows in frames of its own.
    public init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        sequence = try values.decode(Int64.self, forKey: .sequence)
        application = try values.decode(String.self, forKey: .application)
        kind = try values.decode(Kind.self, forKey: .kind)
        run = try values.decode(Int64.self, forKey: .run)
        activity = try values.decode(String.self, forKey: .activity)
        order = try values.decode(Order.self, forKey: .order)
        acceptedAtMilliseconds = try values.decode(Int64.self, forKey: .acceptedAtMilliseconds)
        audience = try values.decode(Audience.self, forKey: .audience)
        notification = try values.decodeIfPresent(Notification.self, forKey: .notification)
        cancelledMessage = try values.decodeIfPresent(Int64.self, forKey: .cancelledMessage)
        environment = try values.decodeIfPresent(APNsEnvironment.self, forKey: .environment)
        channel = try values.decodeIfPresent(Channel.self, forKey: .channel)
        payload = Payload()
    }
}
