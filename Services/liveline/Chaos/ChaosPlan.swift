import Contracts

/// What is to break, and when: all of it follows from a seed.
struct ChaosPlan {
    /// One thing that happens.
    enum Action: Equatable, Sendable {
        /// Kill a service (SIGKILL).
        case kill(ServiceName)
        /// Hold a service for so many milliseconds (SIGSTOP, SIGCONT).
        case hold(ServiceName, milliseconds: Int64)
        /// Ask a service to stop (SIGTERM); it is started again.
        case restart(ServiceName)
        case fault(ChaosFault)
        /// Change the token of an activity, or dismiss it.
        case token(pick: Int, TokenChange)
    }

    /// A kind of action that comes again and again.
    private struct Track {
        let interval: Int64
        var random: ChaosRandom
        var round: [ServiceName] = []
        var count: Int64 = 0
        var due: Int64

        init(interval: Int64, seed: UInt64, purpose: UInt64) {
            self.interval = interval
            random = ChaosRandom(seed: seed, purpose: purpose)
            due = 0
            plan()
        }

        /// Once in each interval, somewhere in it.
        mutating func plan() {
            due = count * interval + Int64.random(in: 0..<max(1, interval), using: &random)
            count += 1
        }

        /// Every service once in each round, in an order of its own.
        mutating func service() -> ServiceName {
            if round.isEmpty { round = Deployment.goingDown.shuffled(using: &random) }
            return round.removeLast()
        }
    }

    private var tracks: [Track]

    /// The longest time for which a service is held, ms: longer than its silence takes to be noticed.
    static let holdMillisecondsMax: Int64 = 8_000

    init(_ parameters: ChaosParameters) {
        let intervals = [
            parameters.killMilliseconds, parameters.holdMilliseconds, parameters.restartMilliseconds,
            parameters.faultMilliseconds, parameters.tokenMilliseconds,
        ]
        tracks = intervals.enumerated().map {
            Track(interval: $1, seed: parameters.seed, purpose: UInt64($0))
        }
    }

    /// When the next action is due, milliseconds since the beginning.
    var nextMilliseconds: Int64 { tracks.map(\.due).min() ?? .max }

    /// The actions that are due by now, in order.
    mutating func due(_ now: Int64) -> [Action] {
        var actions: [Action] = []
        while let track = tracks.indices.min(by: { tracks[$0].due < tracks[$1].due }),
            tracks[track].due <= now
        {
            actions.append(action(track))
            tracks[track].plan()
        }
        return actions
    }

    private mutating func action(_ track: Int) -> Action {
        switch track {
        case 0: return .kill(tracks[track].service())
        case 1:
            let time = Int64.random(in: 100...Self.holdMillisecondsMax, using: &tracks[track].random)
            return .hold(tracks[track].service(), milliseconds: time)
        case 2: return .restart(tracks[track].service())
        case 3: return .fault(ChaosFault.random(using: &tracks[track].random))
        default:
            let pick = Int.random(in: 0..<1 << 30, using: &tracks[track].random)
            return .token(pick: pick, TokenChange.random(using: &tracks[track].random))
        }
    }
}

/// What becomes of the token of an activity.
enum TokenChange: Sendable {
    /// The phone has a new one, and registers it at once.
    case rotated
    /// It registers the new one when pushes have met the old one.
    case rotatedUnnoticed
    /// The person dismisses the activity.
    case dismissed

    static func random(using random: inout ChaosRandom) -> TokenChange {
        if random.happens(onceIn: 6) { return .dismissed }
        return random.happens(onceIn: 3) ? .rotatedUnnoticed : .rotated
    }
}

/// A fault of APNs or of the way to it.
enum ChaosFault: String, CaseIterable, Sendable {
    /// 503 `ServiceUnavailable`.
    case unavailable
    /// 500 `InternalServerError`.
    case internalError
    /// 429 `TooManyRequests`.
    case crowded
    /// The phone gets the push, the gateway no answer.
    case lostAnswer
    /// The stream stays open and nothing happens.
    case silence
    /// RST_STREAM with INTERNAL_ERROR; the phone gets the push.
    case reset
    /// RST_STREAM with REFUSED_STREAM.
    case refuse
    case goAway
    /// The TCP connection ends in the middle of a request.
    case close
    /// Every connection ends.
    case closeAll
    /// Answers take 0.2 to 2 s.
    case slow
    /// One stream at a time for a moment.
    case narrow
    /// 403 `ExpiredProviderToken`.
    case expiredKey
    /// 403 `InvalidProviderToken`, until the next fault: the application is paused.
    case invalidKey

    /// Every so many faults one refuses the provider token: a pause holds everything back for 30 s at least.
    static let pauseStride = 60

    static func random(using random: inout ChaosRandom) -> ChaosFault {
        if random.happens(onceIn: pauseStride) { return .invalidKey }
        return allCases.filter { $0 != .invalidKey }.randomElement(using: &random) ?? .slow
    }

    /// The rule that the simulator is to follow: JSON text; nil for what is no matter of single requests.
    var rule: String? {
        switch self {
        case .unavailable: #"{"count":20,"every":2,"status":503,"reason":"ServiceUnavailable"}"#
        case .internalError: #"{"count":10,"status":500,"reason":"InternalServerError"}"#
        case .crowded: #"{"count":10,"every":3,"status":429,"reason":"TooManyRequests"}"#
        case .lostAnswer: #"{"count":5,"every":5,"action":"never","deliver":true}"#
        case .silence: #"{"count":5,"every":7,"action":"never"}"#
        case .reset: #"{"count":5,"every":3,"action":"reset","deliver":true}"#
        case .refuse: #"{"count":20,"every":2,"action":"refuse"}"#
        case .goAway: #"{"count":2,"every":10,"action":"goaway","reason":"Shutdown"}"#
        case .close: #"{"count":1,"nth":4,"action":"close"}"#
        case .slow: #"{"count":50,"action":"pass","delayMilliseconds":700}"#
        case .narrow: #"{"count":1,"action":"pass","streamLimit":1}"#
        case .expiredKey: #"{"count":10,"every":2,"status":403,"reason":"ExpiredProviderToken"}"#
        case .invalidKey: #"{"status":403,"reason":"InvalidProviderToken"}"#
        case .closeAll: nil
        }
    }

    /// Whether connections end by it, and answers that were on their way are lost.
    var closes: Bool { self == .closeAll || self == .close || self == .goAway }
}
