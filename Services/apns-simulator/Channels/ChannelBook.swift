import FoundationEssentials

/// What APNs knows of broadcast channels.
///
/// Apple, Sending channel management requests to APNs: ids are random and of one environment, a channel persists without
/// anybody listening, and its storage policy is fixed when it is made.
struct ChannelBook: Sendable {
    /// One channel.
    struct Channel: Sendable {
        let id: String
        let environment: APNsEnvironment
        let bundleID: String
        /// Whether the newest message is kept for phones that are away (`message-storage-policy` 1).
        let isStored: Bool
        /// How many broadcasts were accepted.
        var broadcasts = 0
        /// The newest message, while it is kept.
        var kept: KeptBroadcast?
    }

    /// Channels that an app may have in one environment.
    var channelsMax = 10_000
    /// How long a message is kept at most.
    static let keepSeconds: Int64 = 28_800

    private(set) var channels: [String: Channel] = [:]
    private var counts: [Owner: Int] = [:]

    private struct Owner: Hashable {
        var environment: APNsEnvironment
        var bundleID: String
    }

    /// How many there are.
    var count: Int { channels.count }

    /// A channel of an app in an environment; it is unknown everywhere else.
    func channel(_ id: String, _ environment: APNsEnvironment, _ bundleID: String) -> Channel? {
        guard let channel = channels[id], channel.environment == environment, channel.bundleID == bundleID
        else {
            return nil
        }
        return channel
    }

    /// The ids of an app's channels, sorted.
    func ids(_ environment: APNsEnvironment, _ bundleID: String) -> [String] {
        channels.values.filter { $0.environment == environment && $0.bundleID == bundleID }.map(\.id).sorted()
    }

    /// Makes a channel of a random name.
    ///
    /// - Returns: nil if the app has as many as it may.
    mutating func create(
        _ name: PushID, _ environment: APNsEnvironment, _ bundleID: String, isStored: Bool
    ) -> Channel? {
        let owner = Owner(environment: environment, bundleID: bundleID)
        guard counts[owner, default: 0] < channelsMax else { return nil }
        var bytes: [UInt8] = []
        for word in [name.high, name.low] {
            for shift in stride(from: UInt64(56), through: 0, by: -8) {
                bytes.append(UInt8(truncatingIfNeeded: word >> shift))
            }
        }
        let channel = Channel(
            id: Data(bytes).base64EncodedString(), environment: environment, bundleID: bundleID,
            isStored: isStored)
        channels[channel.id] = channel
        counts[owner, default: 0] += 1
        return channel
    }

    /// Removes a channel for good.
    mutating func delete(_ id: String) {
        guard let channel = channels.removeValue(forKey: id) else { return }
        counts[Owner(environment: channel.environment, bundleID: channel.bundleID), default: 0] -= 1
    }

    /// Notes a broadcast that was accepted, and keeps it if the channel does so.
    mutating func accept(_ push: AcceptedPush, on id: String, nowSeconds: Int64) {
        guard let channel = channels[id] else { return }
        channels[id]?.broadcasts += 1
        let expiry = min(push.expiresAtSeconds ?? .max, nowSeconds + Self.keepSeconds)
        if channel.isStored, expiry > nowSeconds {
            channels[id]?.kept = KeptBroadcast(push: push, untilSeconds: expiry)
        }
    }

    /// The message that a phone gets which comes back; nil if there is none any more.
    func kept(_ id: String, nowSeconds: Int64) -> AcceptedPush? {
        guard let kept = channels[id]?.kept, kept.untilSeconds > nowSeconds else { return nil }
        return kept.push
    }
}

/// A message that is kept for phones that are away.
struct KeptBroadcast: Sendable {
    var push: AcceptedPush
    var untilSeconds: Int64
}
