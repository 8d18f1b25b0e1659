/// The first frame of every message between services.
public struct Envelope: Codable, Sendable, Equatable {
    /// The version of the contracts the bodies are written in.
    public var v: Int
    /// What the bodies are.
    public var type: MessageType
    /// A number of the sender's own, one more for each message it sends.
    public var id: Int64
    /// The writer; answers go there.
    public var from: Sender
    /// The epoch of the one life of the receiver that it is meant for.
    ///
    /// Another life drops it, as the sender keeps it and sends it again. Nil for what any life may take, such as an
    /// answer.
    public var to: Int64?
    /// When it was sent, in milliseconds since 1970.
    public var sentAtMilliseconds: Int64

    /// The version this build writes.
    public static let version = 1
    /// The versions this build reads.
    public static let versionsRead = [1]

    /// Makes an envelope of the current version.
    public init(
        type: MessageType, id: Int64, from: Sender, to epoch: Int64? = nil, sentAtMilliseconds: Int64
    ) {
        self.v = Envelope.version
        self.type = type
        self.id = id
        self.from = from
        self.to = epoch
        self.sentAtMilliseconds = sentAtMilliseconds
    }
}

/// The kinds of messages; a retired name is never used again.
public enum MessageType: String, Codable, Sendable, CaseIterable {
    case hello = "hello"
    case registration = "registration"
    case registrations = "registrations"
    case command = "command"
    case batch = "batch"
    case targets = "targets"
    case retarget = "retarget"
    case pushes = "pushes"
    case report = "report"
    case taken = "taken"
    case busy = "busy"
    case settled = "settled"
    case fact = "fact"
    case noted = "noted"
    case query = "query"
    case answer = "answer"

    /// Whether each body is followed by the three raw frames of a payload.
    public var carriesPayload: Bool {
        switch self {
        case .command, .batch, .targets, .pushes: true
        default: false
        }
    }
}

/// What the caller sent, as the bytes that came in: cut once at the door, spliced once into the APNs body.
///
/// An absent member is an empty array: no JSON value has no bytes.
public struct Payload: Sendable, Hashable {
    /// The `content-state` object.
    public var contentState: [UInt8]
    /// The `attributes` object of a start.
    public var attributes: [UInt8]
    /// The `alert` object or string.
    public var alert: [UInt8]

    /// Joins the three members.
    public init(contentState: [UInt8] = [], attributes: [UInt8] = [], alert: [UInt8] = []) {
        self.contentState = contentState
        self.attributes = attributes
        self.alert = alert
    }

    /// Together, how many bytes the members have.
    public var byteCount: Int { contentState.count + attributes.count + alert.count }
}

/// Several messages of one type on their way from one instance to another.
public struct Parcel: Sendable, Equatable {
    /// Who sends, and what.
    public var envelope: Envelope
    /// At least one message, all of the envelope's type.
    public var messages: [Message]

    /// Joins an envelope with its messages.
    public init(envelope: Envelope, messages: [Message]) {
        self.envelope = envelope
        self.messages = messages
    }
}
