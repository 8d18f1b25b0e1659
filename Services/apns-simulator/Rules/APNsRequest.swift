/// One request as APNs looks at it.
struct APNsRequest: Sendable {
    var method: String
    var path: String
    var headers: APNsHeaders
    var body: [UInt8]

    static let prefix = "/3/device"

    /// The device token in the path, in hex; empty when there is none.
    var deviceToken: Substring.UTF8View { path.utf8.dropFirst(Self.prefix.utf8.count + 1) }
}

/// The header fields that APNs knows, each at most once.
///
/// Names are expected in lower case, as HTTP/2 demands (RFC 9113, 8.2).
struct APNsHeaders: Sendable {
    var authorization: String?
    var topic: String?
    var pushType: String?
    var priority: String?
    var expiration: String?
    var id: String?
    var collapseID: String?
    var channelID: String?
    var requestID: String?
    /// Whether any field came twice.
    private(set) var hasDuplicate = false
    private var others: [String] = []

    init() {}

    /// Adds one field; a second one of the same name is noted, and the first value stays.
    mutating func add(_ name: String, _ value: String) {
        switch name {
        case "authorization": Self.set(&authorization, value, &hasDuplicate)
        case "apns-topic": Self.set(&topic, value, &hasDuplicate)
        case "apns-push-type": Self.set(&pushType, value, &hasDuplicate)
        case "apns-priority": Self.set(&priority, value, &hasDuplicate)
        case "apns-expiration": Self.set(&expiration, value, &hasDuplicate)
        case "apns-id": Self.set(&id, value, &hasDuplicate)
        case "apns-channel-id": Self.set(&channelID, value, &hasDuplicate)
        case "apns-request-id": Self.set(&requestID, value, &hasDuplicate)
        case "apns-collapse-id": Self.set(&collapseID, value, &hasDuplicate)
        default: addOther(name)
        }
    }

    private static func set(_ field: inout String?, _ value: String, _ isDuplicate: inout Bool) {
        if field == nil { field = value } else { isDuplicate = true }
    }

    private mutating func addOther(_ name: String) {
        guard !name.hasPrefix(":") else { return }
        if others.contains(name) { hasDuplicate = true } else { others.append(name) }
    }
}
