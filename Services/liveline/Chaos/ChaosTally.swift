/// What a chaos run has counted.
struct ChaosTally: Equatable, Sendable {
    /// Why a push may come again.
    enum Excuse: Equatable, Sendable {
        /// The gateway ended so long after the answer.
        case gateway(ageMilliseconds: Int64)
        /// APNs gave no answer, or it was lost with its connection.
        case lostAnswer
    }

    var sent = 0
    var accepted = 0
    var refused = 0
    /// Messages that are settled, and their deliveries.
    var settled = 0
    var unsettled = 0
    /// Messages whose state in the end does not fit.
    var condemned = 0
    var delivered = 0
    var superseded = 0
    var errors = 0
    /// All that came to APNs.
    var arrivals = 0
    /// What reached a phone.
    var pushes = 0
    /// What APNs refused for the moment.
    var notTaken = 0
    /// Answers of 410, and those to tokens of which that had been told.
    var gone = 0
    var goneAgain = 0
    /// Pushes that reached a phone again, and why.
    var repeated = 0
    var repeatedAfterEnd = 0
    var repeatedAfterLostAnswer = 0
    /// Pushes that were in flight when a gateway ended, as far as anyone knows: so many may come again.
    var inFlightAtEnds = 0
    /// The oldest answer that was lost with a gateway, ms.
    var oldestLostMilliseconds: Int64 = 0
    /// Updates that reached a phone whose last one was known to have, and the shortest time between two, ms.
    var paced = 0
    var shortestMilliseconds = Int64.max
    /// Answers of 403.
    var forbidden = 0
    /// Phones that were looked at in the end.
    var phones = 0

    /// Counts a repeat.
    mutating func count(_ excuse: Excuse) {
        switch excuse {
        case .gateway(let age):
            repeatedAfterEnd += 1
            oldestLostMilliseconds = max(oldestLostMilliseconds, age)
        case .lostAnswer: repeatedAfterLostAnswer += 1
        }
    }
}
