import JSON

/// What happens to a request.
struct Reaction: Sendable, Equatable {
    enum Outcome: Sendable, Equatable {
        case answer(Answer)
        case silence
        case reset(isRefusal: Bool)
        /// GOAWAY that names this request and later ones as not processed.
        case goAway(reason: String)
        case close
    }

    var outcome: Outcome
    var delayMilliseconds: Int64 = 0
    /// A stream limit to announce before the answer.
    var streamLimit: Int?
    /// The reason for which the connection is told to go away after the answer.
    var goesAwayBecause: String?
}

/// One answer of APNs.
///
/// `apns-id` always, `apns-unique-id` only in the sandbox, a body and its type only with a refusal (Apple, Handling
/// notification responses from APNs).
struct Answer: Sendable, Equatable {
    var status: Int
    var apnsID: String
    var uniqueID: String?
    /// The channel that was made.
    var channelID: String?
    /// The field that carries the id: another one with broadcasts and calls about channels.
    var idField = "apns-id"
    var body: [UInt8]
}

/// The JSON bodies of refusals and GOAWAY frames.
enum AnswerBody {
    /// `reason` alone, and `timestamp` with a 410.
    static func refusal(reason: String?, timestampMilliseconds: Int64?) -> [UInt8] {
        guard let reason else { return [] }
        return JSONWriter.object {
            $0.member("reason", reason)
            if let timestampMilliseconds { $0.member("timestamp", timestampMilliseconds) }
        }
    }
}
