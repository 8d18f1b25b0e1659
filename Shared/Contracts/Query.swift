/// A question of the door, whose asker waits at most 2 s.
///
/// From: ingest. To: segmenter (`tags`, `audience`), apns-gateway (`channel`, whose asker waits at most 10 s) or
/// token-registry (the others).
public struct Query: Codable, Sendable, Equatable {
    /// The asker's number.
    public var id: Int64
    /// The application's code; nothing of another is ever answered.
    public var application: String
    /// What is asked.
    public var kind: Kind

    /// What may be asked.
    public enum Kind: Codable, Sendable, Equatable {
        /// The tags of a device.
        case tags(device: String)
        /// How many devices match.
        case audience(filter: Filter)
        /// A message's deliveries with a device number above `after`, at most `limit`.
        case deliveries(message: Int64, after: Int64, limit: Int)
        /// The participants of a run with a number above `after`, at most `limit`.
        case participants(run: Int64, after: Int64, limit: Int)
        /// Something about the application's channels at APNs.
        case channel(question: ChannelQuestion)
        /// Which of these messages, at most 1,000, the ledger does not hold whole.
        case missing(messages: [Int64])
    }

    /// Joins the parts.
    public init(id: Int64, application: String, kind: Kind) {
        self.id = id
        self.application = application
        self.kind = kind
    }
}

/// The answer to a query.
public struct Answer: Codable, Sendable, Equatable {
    /// The asker's number.
    public var id: Int64
    /// What is answered.
    public var content: Content

    /// What may be answered.
    public enum Content: Codable, Sendable, Equatable {
        /// A device's tags.
        case tags(values: [String: TagValue])
        /// How many devices match.
        case count(devices: Int)
        /// Deliveries in the order of their device number.
        case deliveries(lines: [DeliveryLine])
        /// Participants in the order of their number, and the newest state of their run; an older sender tells none.
        case participants(lines: [ParticipantLine], newest: NewestState? = nil)
        /// What APNs said about channels.
        case channel(answer: ChannelAnswer)
        /// The messages that the ledger does not hold whole.
        case missing(messages: [Int64])
    }

    /// Joins the parts.
    public init(id: Int64, content: Content) {
        self.id = id
        self.content = content
    }
}

/// One delivery as an operator sees it.
public struct DeliveryLine: Codable, Sendable, Equatable {
    /// The registry's number of the device, for paging.
    public var deviceNumber: Int64
    /// The hardware id.
    public var device: String
    /// `waiting`, `handed-over` or an outcome.
    public var state: String
    /// APNs' reason, or the cause.
    public var reason: String?
    /// `apns-id`.
    public var apnsID: String
    /// When that was, milliseconds since 1970.
    public var atMilliseconds: Int64

    /// Joins the parts.
    public init(
        deviceNumber: Int64, device: String, state: String, reason: String?, apnsID: String,
        atMilliseconds: Int64
    ) {
        self.deviceNumber = deviceNumber
        self.device = device
        self.state = state
        self.reason = reason
        self.apnsID = apnsID
        self.atMilliseconds = atMilliseconds
    }
}

/// One participant as an operator sees it.
public struct ParticipantLine: Codable, Sendable, Equatable {
    /// The participant's number, for paging.
    public var number: Int64
    /// The hardware id.
    public var device: String
    /// `starting`, `active` or `ended`.
    public var state: String
    /// The first digits of its token.
    public var tokenStart: String?
    /// When something was last sent to it, milliseconds since 1970.
    public var lastSentAtMilliseconds: Int64?
    /// The last outcome.
    public var lastOutcome: String?
    /// Its reason.
    public var lastReason: String?
    /// Whether it listens on the activity's channel and needs no token.
    public var isOnChannel: Bool?

    /// Joins what every line has.
    public init(number: Int64, device: String, state: String) {
        self.number = number
        self.device = device
        self.state = state
    }
}

/// The newest state of a run that was delivered to somebody, or may still be.
public struct NewestState: Codable, Sendable, Equatable {
    /// The journal's sequence of the message that carries it.
    public var message: Int64
    /// What that message asks of the phone.
    public var event: ActivityEvent
    /// The seconds of its order, since 1970.
    public var orderSeconds: Int64
    /// The bytes of `content-state` as they came in.
    public var contentState: String

    /// Joins the parts.
    public init(message: Int64, event: ActivityEvent, orderSeconds: Int64, contentState: String) {
        self.message = message
        self.event = event
        self.orderSeconds = orderSeconds
        self.contentState = contentState
    }
}
