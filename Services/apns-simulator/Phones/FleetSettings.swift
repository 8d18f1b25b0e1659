/// How the modelled phones behave.
struct FleetSettings: Sendable {
    /// Starts that a phone shows in a short time, and after how long it shows one more.
    ///
    /// About ten, and the refill, were seen in practice; Apple names no number.
    var startBurst = 10
    var startRefillSeconds = 360
    /// Pushes of priority 10 that an activity shows in a short time, and after how long one more; 0 for no limit.
    var updateBurst = 0
    var updateRefillSeconds = 15
    /// Activities that one app may have at a time; vendors say about five.
    var activitiesMax = 5
    /// How far in the past the timestamp of an update may lie.
    var pastSeconds: Int64 = 30
    /// How far ahead any timestamp may lie.
    var aheadSeconds: Int64 = 28_800
    /// How long an activity takes updates (Apple, Displaying live data with Live Activities).
    var activeSeconds: Int64 = 28_800
    /// How long the token of an activity that is over is still answered with 200.
    var endedTokenSeconds: Int64 = 0
    /// How long a token is still taken after it was replaced.
    var formerTokenSeconds: Int64 = 0
    /// How long an activity that has left the Lock Screen can still be looked at.
    var keepSeconds: Int64 = 3600
    /// How long after a start the app has its update token, unless a phone has a delay of its own.
    var tokenDelayMilliseconds: Int64 = 0
    /// Requests for one token within a second before APNs answers `TooManyRequests`; 0 for no limit.
    var requestsPerSecondMax = 400
    /// The member of `attributes` in which the app finds its activity's id, unless Pushwoosh's library does.
    var activityIDMember = "activityId"
    /// The member of a content state whose integer is noted with each arrival.
    var markerMember = "n"
    /// Whether a registration that failed is made again, as apps with a retry of their own do.
    var retriesRegistrations = true
    /// Pushes shown in the history of one phone, and the bytes kept for all of them.
    var historyPerPhone = 50
    var historyBytesMax = 64 << 20
    /// Seed of the tokens: the same seed and order of creation give the same tokens.
    var seed: UInt64 = 0
    var tokenLengths = TokenMint.Lengths()
}
