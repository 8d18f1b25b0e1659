/// A broadcast channel: one push to it reaches every phone that listens, on iOS 18 and later.
///
/// Apple, Sending channel management requests to APNs.
public struct Channel: Codable, Sendable, Hashable {
    /// The name that APNs gave it, in base64.
    public var id: String
    /// The environment that it was made in; it is unknown in the other one.
    public var environment: APNsEnvironment
    /// Whether APNs keeps the newest message for phones that are away; if not, a push must not outlive its one
    /// attempt.
    public var isStored: Bool

    /// Names a channel.
    public init(id: String, environment: APNsEnvironment, isStored: Bool) {
        self.id = id
        self.environment = environment
        self.isStored = isStored
    }

    /// The longest id that is taken, in bytes: Apple names no length.
    public static let idBytesMax = 256

    /// Whether a text can be a channel's id: base64, and so fit for a header.
    public static func isID(_ text: String) -> Bool {
        let body = text.utf8.prefix { $0 != UInt8(ascii: "=") }
        let padding = text.utf8.count - body.count
        return (1...idBytesMax).contains(text.utf8.count) && !body.isEmpty && padding <= 2
            && text.utf8.count % 4 == 0 && body.allSatisfy(\.isBase64)
            && text.utf8.suffix(padding).allSatisfy { $0 == UInt8(ascii: "=") }
    }
}

extension UInt8 {
    /// Whether it is a letter of base64 (RFC 4648, section 4).
    fileprivate var isBase64: Bool {
        switch self {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "+"), UInt8(ascii: "/"):
            true
        default: false
        }
    }
}

/// What the door asks APNs about an application's channels.
public enum ChannelQuestion: Codable, Sendable, Equatable {
    /// Make one; asking twice makes two.
    case create(environment: APNsEnvironment, isStored: Bool)
    /// What is known of one.
    case read(environment: APNsEnvironment, id: String)
    /// Remove one for good.
    case delete(environment: APNsEnvironment, id: String)
    /// The ids of all.
    case list(environment: APNsEnvironment)

    /// The environment that it is about.
    public var environment: APNsEnvironment {
        switch self {
        case .create(let environment, _), .read(let environment, _), .delete(let environment, _),
            .list(let environment):
            environment
        }
    }
}

/// What APNs said about channels.
public enum ChannelAnswer: Codable, Sendable, Equatable {
    /// The channel was made; with the application, so that it is noted although nobody waits for it any more.
    case created(application: String, channel: Channel)
    /// The channel is there.
    case read(channel: Channel)
    /// The channel is gone.
    case deleted(id: String)
    /// These are all.
    case listed(ids: [String])
    /// APNs refused.
    case refused(status: Int, reason: String?)
    /// APNs was not asked, or has not answered: `no-application`, `no-key`, `not-sent` or `no-answer`.
    case unanswered(reason: String)
}
