public import Contracts
public import Service

/// Opens slots: holds each target until it may go, then hands it to the gateway that its device belongs to.
///
/// Takes `targets`, `retarget` and `hello` from the registry and `report` from gateways. Emits `pushes` to
/// gateways, and `report` to the registry for what it gives back: `expired`, `retry` (its send-before has passed, its
/// application is paused, its gateway is lost) and, when it runs alone, `superseded`.
///
/// Keeps nothing: the registry has every target until its report, and sends it again to a new life. In the pipeline
/// the registry hands over one state of each participant at a time; alone, the limiter merges states itself: the
/// newest wins. Limits: what `windows.targets` lets the registry have unanswered. A target that comes twice is held
/// once, and one that comes again soon after it was delivered is answered as before; one of an older hand-over than it
/// has is ignored.
///
/// Known weakness: alone, it remembers a participant's pace only until the participant's next slot has passed.
public struct RateLimiter: Core {
    /// `rate-limiter`.
    public static let service = ServiceName.rateLimiter
    /// How many targets the registry may have unanswered here.
    public let windows = Windows()

    var waitingTargets = WaitingTargets()
    var underway: [PushID: Underway] = [:]
    var ready = ReadyQueues()
    var paces: RecentPaces
    var held: Set<Pause> = []
    var givenBack = GivenBack()
    var lastGateways: [InstanceName] = []
    var clockStep = ClockStep()

    /// How long after its send-before a push may still be answered, in milliseconds.
    let answerDeadlineMilliseconds: Int64
    /// The most pushes one turn hands over; together they take a few milliseconds.
    static let pushesPerTurnMax = 2_000

    /// A push that a gateway has.
    struct Underway {
        var target: Target
        var content: Content
        var gateway: InstanceName
        /// `timestamp` on its wire, seconds since 1970.
        var wireSeconds: Int64
    }

    /// Makes a limiter that holds nothing.
    public init(configuration: Configuration) {
        paces = RecentPaces(countMax: windows.targets)
        answerDeadlineMilliseconds = configuration.delivery.answerDeadlineSeconds * 1000
    }

    /// Takes one input and says what follows from it.
    public mutating func step(_ input: Input<Never>, at now: Moment, in store: inout NoStore) -> [Effect<
        Never
    >] {
        let effects = followClock(now)
        switch input {
        case .started: return effects
        case .message(let message, let sender): return effects + take(message, from: sender, at: now)
        case .lost(let keys, _, let reason): return effects + giveBack(lost: keys, reason, at: now)
        case .turn(let room): return effects + turn(room, at: now)
        }
    }

    private mutating func take(_ message: Message, from sender: Sender, at now: Moment) -> [Effect<Never>] {
        switch message {
        case .targets(let targets): return hold(targets, at: now)
        case .retarget(let retarget):
            waitingTargets.retarget(retarget)
            return []
        case .report(let report):
            answered(report, at: now)
            return []
        case .hello(let hello) where sender.instance.service == .tokenRegistry:
            held = Set(hello.paused)
            return giveBackPaused(at: now)
        case .hello, .noted: return []
        default: return [.count(Count("ignored", [("type", message.type.rawValue)]))]
        }
    }

    private mutating func answered(_ report: Report, at now: Moment) {
        guard let target = takeAnswered(report) else { return }
        guard report.result == .delivered, let sentAt = report.sentAtMilliseconds else { return }
        paces.sent(target, report, atMilliseconds: min(sentAt, now.wall))
    }

    /// Lets go of what a report is about: a push, or a target that a former life has sent and that waits here again.
    private mutating func takeAnswered(_ report: Report) -> Target? {
        if let push = underway[report.id] {
            guard push.target.attempt <= report.attempt else { return nil }
            underway[report.id] = nil
            return push.target
        }
        guard let known = waitingTargets[report.id], known.target.attempt <= report.attempt else {
            return nil
        }
        waitingTargets.remove(report.id)
        return known.target
    }

    /// In how many milliseconds the next slot opens or the next send-before passes.
    public func nextTurnMilliseconds(after now: Moment) -> Int64? {
        guard let next = waitingTargets.nextMilliseconds else { return nil }
        return max(0, next - now.wall)
    }

    /// How many targets wait for their slot or for room, for the metrics.
    public var waiting: Int { waitingTargets.count }
}
