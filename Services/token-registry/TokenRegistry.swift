import Contracts
import Service
import Store

/// Keeps each phone's tokens and one row for each delivery until it has an outcome; addresses, paces and hands over.
///
/// Takes `registration`, `noted` and `query` from ingest, `batch` from segmenters, `report` from limiters and
/// gateways. Emits `taken`, `settled`, `fact` and `answer` to ingest, `taken` and `busy` to segmenters, `targets` and
/// `retarget` to limiters, `noted` to whoever reported. A run that is bound to a broadcast channel has one participant
/// more, the channel, which stands for all phones that listen (`Step+Channels.swift`).
///
/// All it knows is in the ledger; its memory is read from there. What comes twice changes nothing the second time.
/// What names something it does not know is counted and dropped. Of each participant one state waits and one is
/// handed over; of each device one start. Limits: `Limits`, and `delivery` in the configuration.
///
/// Known weaknesses: a participant that an unregistered device leaves while it is still starting counts as there
/// until its start ends. A limiter that is gone delays what it had by 50 s, so that nothing goes twice; broadcasts to a
/// phone whose start it had wait as long. A start that APNs does not answer delays its channel's broadcast by up to 50 s.
/// That a phone which was just started hears the next broadcast is up to APNs: Apple promises nothing.
struct TokenRegistry: Core, Reloadable {
    /// `token-registry`.
    static let service = ServiceName.tokenRegistry
    /// How much unanswered work each sender may have here.
    let windows = Windows()
    private let memory: Memory

    /// Makes a registry that has not started; all it knows is in the ledger that its steps are given.
    init(configuration: Configuration, limits: Limits = Limits()) {
        memory = Memory(configuration: configuration, limits: limits)
    }

    /// What limiters and gateways hold back.
    var paused: [Pause] { memory.gates.values.filter(\.isPaused).map(\.pause).sorted() }

    /// Why it is: the fault, or that a person has said so.
    var pauseReasons: [Pause: String] {
        let gates = memory.gates.values.filter(\.isPaused)
        return Dictionary(uniqueKeysWithValues: gates.map { ($0.pause, $0.fault ?? "by-call") })
    }

    /// How many queues there are of rows that wait for their time.
    var queueCount: Int { memory.rounds.queues.count }

    /// How many messages that are still gone through for their activities are at hand.
    var expandingCount: Int { memory.expanding.count + memory.expandingFanOuts.count }

    /// How many rows have no outcome yet.
    var waiting: Int { memory.totalLoad.rows }

    /// Takes one input and says what follows from it.
    ///
    /// - Throws: `StoreError` if the ledger fails; the core is then made anew.
    mutating func step(_ input: Input<Never>, at now: Moment, in store: inout Ledger)
        throws(StoreError) -> [Effect<Never>]
    {
        let step = Step(ledger: store, memory: memory, now: now)
        try step.take(input)
        try step.flush()
        memory.trim()
        return step.effects
    }

    /// Goes by the new configuration; with its next turn whatever a fault has paused is tried at once.
    mutating func reload(_ configuration: Configuration) {
        memory.configuration = configuration
        memory.isReloaded = true
    }

    /// In how many milliseconds something is due although nothing arrives.
    func nextTurnMilliseconds(after now: Moment) -> Int64? { memory.nextTurnMilliseconds(after: now) }
}
