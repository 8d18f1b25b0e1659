typealias RunRecord = Record<RunFields>

/// One life of an activity.
struct RunFields: Equatable {
    /// The journal's sequence of what began it.
    let number: Int64
    let application: String
    let activity: String
    /// When it began, milliseconds since 1970.
    let startedAt: Int64
    /// When it is forgotten, milliseconds since 1970.
    var removesAt: Int64
    /// The message that starts it.
    var start: Int64?
    var isStartComplete = false
    /// The message that ends it for all.
    var end: Int64?
    /// How many participants it ever had.
    var participants = 0
    /// How many of them are starting or active.
    var open = 0
    /// How many of them have a row that waits.
    var waiting = 0
    /// Whether ingest was told that nobody is left.
    var isEmptySaid = false
    /// The journal's sequence of the last registration of a token.
    var registration: Int64 = 0
    /// The broadcast channel, if it has one.
    var channel: ChannelBinding?

    /// How many rows an update for all would have, if none waited.
    var receivers: Int { open + (channel.map { 1 - $0.members } ?? 0) }

    /// Whether nobody is left, and nobody can come any more by its start.
    var isEmpty: Bool { open == 0 && (start == nil ? participants > 0 : isStartComplete) }
}
