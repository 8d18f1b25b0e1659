/// One rule of the script: which requests it is for, and what happens to them.
///
/// Rules are looked at in the order in which they were added, before any check; the first that fits decides. A rule
/// that counts counts every request that its `match` names and no earlier rule took.
struct ScriptedAnswer: Sendable, Equatable {
    /// The requests that a rule is for; what is nil fits every request.
    struct Match: Sendable, Equatable {
        /// A device token, in lower-case hex.
        var token: String?
        var hardwareID: String?
        var event: String?
        var environment: APNsEnvironment?
        /// The ordinal of a connection, from 1.
        var connection: Int?
        /// The channel of a broadcast.
        var channel: String?
    }

    /// What happens to the stream.
    enum Action: Sendable, Equatable {
        /// The answer that the checks give, after the delay.
        case pass
        case answer(status: Int, reason: String?, timestampMilliseconds: Int64?)
        /// Nothing at all: the stream stays open.
        case silence
        /// RST_STREAM with REFUSED_STREAM: APNs has not looked at the request.
        case refuse
        /// RST_STREAM with INTERNAL_ERROR.
        case reset
        /// GOAWAY that leaves this request and later ones unprocessed.
        case goAway(reason: String)
        /// The TCP connection ends without a word.
        case close
    }

    var match = Match()
    var action = Action.pass
    /// The first request that counts, from 1.
    var nth = 1
    /// From there on each request of this stride.
    var every = 1
    /// How often it applies; nil for ever.
    var count: Int?
    var delayMilliseconds: Int64 = 0
    /// Whether the phone gets the push nevertheless, if the checks let it through.
    var delivers = false
    /// A stream limit that the connection announces.
    var streamLimit: Int?
}

/// The rules in force and how often each was met.
struct Script: Sendable {
    struct Entry: Sendable {
        var rule: ScriptedAnswer
        var met = 0
        var applied = 0
    }

    private(set) var entries: [Entry] = []

    var isEmpty: Bool { entries.isEmpty }

    mutating func add(_ rules: [ScriptedAnswer]) { entries += rules.map { Entry(rule: $0) } }

    mutating func clear() { entries = [] }

    /// The rule for a request, counted as applied; `fits` says whether the request is one that a match names.
    mutating func next(where fits: (ScriptedAnswer.Match) -> Bool) -> ScriptedAnswer? {
        for place in entries.indices {
            let rule = entries[place].rule
            guard rule.count.map({ entries[place].applied < $0 }) ?? true, fits(rule.match) else { continue }
            entries[place].met += 1
            let past = entries[place].met - rule.nth
            guard past >= 0, past % rule.every == 0 else { continue }
            entries[place].applied += 1
            return rule
        }
        return nil
    }
}
