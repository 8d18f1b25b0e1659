/// How many answers in a row, over all connections of a lane, have been `BadDeviceToken`.
///
/// So many of them mean that the configuration is wrong, and the registry pauses the application; until it has heard of
/// the last one and said so, a full connection would burn hundreds of pushes. So while they come, no more are under way
/// than it takes to be sure, and then one. What was written before the first of them was answered cannot be called back.
///
/// Where applications share a key, the good answers of one end the run of another: nobody is slowed down for his
/// neighbour's mistake.
struct BadTokenRun {
    private var length = 0

    /// Notes an answer.
    mutating func note(_ answer: APNsAnswer) {
        if answer.reason == "BadDeviceToken" {
            length += 1
        } else if answer.status == 200 || answer.status == 410 {
            // 410 is about a token that was good in this environment.
            length = 0
        }
    }

    /// Whether one more push may be under way beside so many.
    func allows(_ flights: @autoclosure () -> Int, _ limits: ConnectionLimits) -> Bool {
        length == 0 || flights() < max(1, limits.badTokensMax - length)
    }
}
