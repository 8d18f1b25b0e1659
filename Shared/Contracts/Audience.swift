/// Whom a message is for.
public enum Audience: Sendable, Equatable {
    /// The devices that match an expression at the moment the segmenter reads it.
    case filter(Filter)
    /// Hardware ids or ordinary push tokens.
    case devices([String])
    /// The devices of users.
    case users([String])
    /// Every participant of the activity's run.
    case activity
    /// The holder of one Live Activity token, lower-case hex.
    case token(String)
}

extension Audience: Codable {
    enum CodingKeys: String, CodingKey { case filter, devices, users, activity, token }

    /// Reads an object with one member that names the kind of audience.
    public init(from decoder: any Decoder) throws {
        let (values, key) = try decoder.onlyMember(CodingKeys.self)
        switch key {
        case .filter: self = .filter(try values.decode(Filter.self, forKey: key))
        case .devices: self = .devices(try values.decode([String].self, forKey: key))
        case .users: self = .users(try values.decode([String].self, forKey: key))
        case .activity: self = .activity
        case .token: self = .token(try values.decode(String.self, forKey: key))
        }
    }

    /// Writes the form that is read.
    public func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: CodingKeys.self)
        switch self {
        case .filter(let filter): try values.encode(filter, forKey: .filter)
        case .devices(let devices): try values.encode(devices, forKey: .devices)
        case .users(let users): try values.encode(users, forKey: .users)
        case .activity: try values.encode(true, forKey: .activity)
        case .token(let token): try values.encode(token, forKey: .token)
        }
    }
}
