/// One fact about a device that an app or server told the door.
///
/// From: ingest. To: segmenter (profiles, tags, users), token-registry (tokens, environment). Kept until `taken`.
/// The sequence orders facts about the same thing: a store ignores, as done, what is not greater.
public struct Registration: Codable, Sendable, Equatable {
    /// The journal's sequence.
    public var sequence: Int64
    /// The application's code.
    public var application: String
    /// The device's hardware id.
    public var device: String
    /// What is told.
    public var change: Change
    /// When the door accepted it, in milliseconds since 1970.
    public var acceptedAtMilliseconds: Int64

    /// Joins a registration.
    public init(
        sequence: Int64, application: String, device: String, change: Change, acceptedAtMilliseconds: Int64
    ) {
        self.sequence = sequence
        self.application = application
        self.device = device
        self.change = change
        self.acceptedAtMilliseconds = acceptedAtMilliseconds
    }

    /// What a registration may tell.
    public enum Change: Sendable, Equatable {
        /// The device's profile: both services.
        case profile(Profile)
        /// Tags to set, raise or remove: segmenter.
        case tags([String: TagChange])
        /// The user the device belongs to: segmenter.
        case user(String)
        /// The device wants no pushes any more: both services.
        case unregister
        /// A push-to-start token: token-registry.
        case startToken(StartToken)
        /// An activity's update token: token-registry.
        case activityToken(ActivityToken)
    }

    /// The services that have to take it.
    public var receivers: [ServiceName] { change.receivers }
}

extension Registration.Change {
    /// The services that have to take it.
    public var receivers: [ServiceName] {
        switch self {
        case .profile, .unregister: [.segmenter, .tokenRegistry]
        case .tags, .user: [.segmenter]
        case .startToken, .activityToken: [.tokenRegistry]
        }
    }
}

extension Registration.Change: Codable {
    enum CodingKeys: String, CodingKey { case profile, tags, user, unregister, startToken, activityToken }

    /// Reads an object with one member that names the change.
    public init(from decoder: any Decoder) throws {
        let (values, key) = try decoder.onlyMember(CodingKeys.self)
        switch key {
        case .profile: self = .profile(try values.decode(Profile.self, forKey: key))
        case .tags: self = .tags(try values.decode([String: TagChange].self, forKey: key))
        case .user: self = .user(try values.decode(String.self, forKey: key))
        case .unregister: self = .unregister
        case .startToken: self = .startToken(try values.decode(StartToken.self, forKey: key))
        case .activityToken: self = .activityToken(try values.decode(ActivityToken.self, forKey: key))
        }
    }

    /// Writes the form that is read.
    public func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: CodingKeys.self)
        switch self {
        case .profile(let profile): try values.encode(profile, forKey: .profile)
        case .tags(let tags): try values.encode(tags, forKey: .tags)
        case .user(let user): try values.encode(user, forKey: .user)
        case .unregister: try values.encode(true, forKey: .unregister)
        case .startToken(let token): try values.encode(token, forKey: .startToken)
        case .activityToken(let token): try values.encode(token, forKey: .activityToken)
        }
    }
}

/// What `registerDevice` says of a device; an absent member leaves what was known.
public struct Profile: Codable, Sendable, Equatable {
    /// The ordinary push token, lower-case hex.
    public var pushToken: String?
    /// Pushwoosh's device type; 1 is iOS.
    public var deviceType: Int?
    /// `gateway`: which environment the device's tokens belong to.
    public var environment: APNsEnvironment?
    /// Such as `17.2`.
    public var osVersion: String?
    /// Such as `fr`.
    public var language: String?
    /// The app's version.
    public var appVersion: String?
    /// Such as `iPhone15,2`.
    public var deviceModel: String?
    /// Seconds east of UTC.
    public var timezoneSeconds: Int?
    /// The user the device belongs to.
    public var user: String?
    /// Tags to set with it.
    public var tags: [String: TagChange]?
    /// Whether the person allows frequent pushes (`frequentPushesEnabled`).
    public var frequentPushes: Bool?

    /// An empty profile.
    public init() {}
}

/// A push-to-start token.
public struct StartToken: Codable, Sendable, Equatable {
    /// Lower-case hex; empty takes the token back.
    public var token: String
    /// The attributes type it was issued for; nil serves every type.
    public var attributesType: String?
    /// When the app got it, in seconds since 1970, if it says so.
    public var registeredAtSeconds: Int64?

    /// Joins a push-to-start token.
    public init(token: String, attributesType: String? = nil, registeredAtSeconds: Int64? = nil) {
        self.token = token
        self.attributesType = attributesType
        self.registeredAtSeconds = registeredAtSeconds
    }
}

/// An activity's update token on one device.
public struct ActivityToken: Codable, Sendable, Equatable {
    /// Lower-case hex; empty means that the person dismissed the activity.
    public var token: String
    /// The `live_activity_id`.
    public var activity: String
    /// The run that the token belongs to, as the door decided.
    public var run: Int64
    /// When the app got it, in seconds since 1970, if it says so.
    public var registeredAtSeconds: Int64?

    /// Joins an update token.
    public init(token: String, activity: String, run: Int64, registeredAtSeconds: Int64? = nil) {
        self.token = token
        self.activity = activity
        self.run = run
        self.registeredAtSeconds = registeredAtSeconds
    }
}
