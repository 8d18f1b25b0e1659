import Contracts

/// The channel that a run is bound to, and how many starts stand before its next broadcast.
struct ChannelBinding: Equatable {
    let id: String
    /// Whether APNs keeps the newest message.
    let isStored: Bool
    /// The participant that stands for the channel.
    let participant: Int64
    /// How many phones listen, or will: starting or active.
    var members = 0
    /// How many starts are handed over that carry an older state than the newest.
    var olderOut = 0
    /// How many are handed over with the newest.
    var newestOut = 0
    /// Until when a start of a lost instance may still be on its way, milliseconds since 1970.
    var heldUntil: Int64 = 0

    /// A control character, which no hardware id may hold, keeps channels and phones apart.
    private static let mark = "\u{1F}"

    /// The name of the device that stands for a channel.
    static func hwid(_ channel: String) -> String { "\(mark)channel:\(channel)" }

    /// The name as an operator sees it.
    static func shown(_ hwid: String) -> String {
        hwid.hasPrefix(mark) ? String(hwid.dropFirst(mark.count)) : hwid
    }
}

extension TokenPlace {
    /// No token holds a colon: nobody can name a channel as one.
    private static let channelHead = "channel:"

    /// The place of a channel, which needs no token.
    init(channel: String, at now: Int64) {
        self.init(token: Self.channelHead + channel, acceptedAt: now, firstAt: now)
    }

    /// Whether pushes go to a channel.
    var isChannel: Bool { token?.hasPrefix(Self.channelHead) ?? false }
}

extension DeviceFields {
    /// Whether activities on it can listen to a channel: from iOS 18 on (Apple, Starting and updating Live Activities
    /// with ActivityKit push notifications); nil if it has not said its version.
    var canListen: Bool? {
        guard let major = osVersion?.split(separator: ".").first.flatMap({ Int($0) }) else { return nil }
        return major >= 18
    }
}
