import Processes
import Service

/// Which children run, which wait to be started again, and which one is stopping: the decisions of `liveline up`.
///
/// **Takes** what happens to children and the time; **gives** orders to start and signal them. Children are named by
/// their place in the list, which is the order in which they go down, one after the other. Those that come first are
/// started and ready before the others are started. It does no input or output and reads no clock: times are
/// milliseconds of the monotonic one.
struct Supervision {
    /// What is to be done to a child.
    enum Order: Equatable {
        case start(Int)
        case terminate(Int)
        case kill(Int)
    }

    /// What a child is doing.
    private enum Phase: Equatable {
        /// Not running; started at that moment, or when those that come first are ready.
        case waiting(until: Int64)
        case running(since: Int64, isReady: Bool)
        case over
    }

    private struct Child {
        let comesFirst: Bool
        var phase = Phase.waiting(until: 0)
        var delayMilliseconds: Int64
        var wasReady = false
        /// Whether it stays down when it ends.
        var isHeldDown = false

        var isRunning: Bool { if case .running = phase { true } else { false } }
        var isReady: Bool { if case .running(_, true) = phase { true } else { false } }
    }

    private enum Stopping: Equatable {
        case no
        /// One after the other.
        case drains(until: Int64)
        /// All together.
        case hurries(until: Int64)
        case kills
    }

    private let settings: SupervisionSettings
    private var children: [Child]
    private var stopping = Stopping.no
    /// Why it stopped by itself: a child ended with this code and will never be ready.
    private(set) var hopeless: (child: Int, code: Int32)?

    /// Plans to start all of them.
    ///
    /// - Parameters:
    ///   - comesFirst: for each child, whether it must be ready before the others are started.
    ///   - settings: how they are started again and stopped.
    init(comesFirst: [Bool], settings: SupervisionSettings = SupervisionSettings()) {
        self.settings = settings
        children = comesFirst.map {
            Child(comesFirst: $0, delayMilliseconds: settings.restartMilliseconds)
        }
    }

    /// Whether every child is ready.
    var isReady: Bool { children.allSatisfy(\.isReady) }

    /// Whether a child is ready.
    func isReady(_ place: Int) -> Bool { children[place].isReady }

    /// Whether it has been told to stop, or found that it must.
    var isStopping: Bool { stopping != .no }

    /// Whether it was told to stop and every child has ended.
    var isOver: Bool { isStopping && !children.contains(where: \.isRunning) }

    /// When `tick` has something to do; nil if never.
    var nextDeadlineMilliseconds: Int64? {
        switch stopping {
        case .drains(let until), .hurries(let until): return until
        case .kills: return nil
        case .no:
            return startable.compactMap { place -> Int64? in
                guard case .waiting(let until) = children[place].phase, until < .max else { return nil }
                return until
            }.min()
        }
    }

    /// The places of the children that may run by now.
    private var startable: [Int] {
        let mayAll = children.allSatisfy { !$0.comesFirst || $0.wasReady }
        return children.indices.filter { mayAll || children[$0].comesFirst }
    }

    /// Lets time pass.
    mutating func tick(_ now: Int64) -> [Order] {
        switch stopping {
        case .drains(let until), .hurries(let until): return now >= until ? killAll() : []
        case .kills: return []
        case .no: return startable.compactMap { startIfDue($0, now) }
        }
    }

    private mutating func startIfDue(_ place: Int, _ now: Int64) -> Order? {
        guard case .waiting(let until) = children[place].phase, until <= now else { return nil }
        children[place].phase = .running(since: now, isReady: false)
        return .start(place)
    }

    /// A child does what it is for.
    mutating func becameReady(_ place: Int, _ now: Int64) -> [Order] {
        guard case .running(let since, _) = children[place].phase else { return [] }
        children[place].phase = .running(since: since, isReady: true)
        children[place].wasReady = true
        return tick(now)
    }

    /// A child has ended, or could not be started.
    ///
    /// - Parameters:
    ///   - place: which one.
    ///   - exit: how it ended; nil if it could not be started.
    ///   - now: the time.
    /// - Returns: what is to be done.
    mutating func ended(_ place: Int, _ exit: ProcessExit?, _ now: Int64) -> [Order] {
        guard case .running(let since, _) = children[place].phase else { return [] }
        if isStopping {
            children[place].phase = .over
            guard case .drains = stopping else { return [] }
            return terminateNext()
        }
        if case .code(let code) = exit, SupervisionSettings.hopelessCodes.contains(code),
            !children[place].wasReady
        {
            hopeless = (place, code)
            children[place].phase = .over
            return stop(now)
        }
        if now - since >= settings.longLifeMilliseconds {
            children[place].delayMilliseconds = settings.restartMilliseconds
        }
        guard !children[place].isHeldDown else {
            children[place].phase = .waiting(until: .max)
            return []
        }
        let delay = children[place].delayMilliseconds
        children[place].phase = .waiting(until: now + delay)
        children[place].delayMilliseconds = min(delay * 2, settings.restartMillisecondsMax)
        return []
    }

    /// Ends a child at once and does not start it again until `letUp`.
    mutating func holdDown(_ place: Int) -> [Order] {
        guard !isStopping else { return [] }
        children[place].isHeldDown = true
        guard children[place].isRunning else {
            children[place].phase = .waiting(until: .max)
            return []
        }
        return [.kill(place)]
    }

    /// Starts a child again that was held down.
    mutating func letUp(_ place: Int, _ now: Int64) -> [Order] {
        guard !isStopping, children[place].isHeldDown else { return [] }
        children[place].isHeldDown = false
        if case .waiting = children[place].phase { children[place].phase = .waiting(until: now) }
        return tick(now)
    }

    /// Stops them in order; told again, all at once.
    ///
    /// The second word may be the first one's echo, when a service manager and a person tell it at the same time. So
    /// it asks each child too, which ends in order and at once when it is asked twice, and kills only what stays.
    mutating func stop(_ now: Int64) -> [Order] {
        switch stopping {
        case .no:
            stopping = .drains(until: now + settings.drainMilliseconds)
            for place in children.indices where !children[place].isRunning { children[place].phase = .over }
            return terminateNext()
        case .drains(let until):
            stopping = .hurries(until: min(until, now + settings.hurryMilliseconds))
            return running.map { .terminate($0) }
        case .hurries, .kills: return []
        }
    }

    private var running: [Int] { children.indices.filter { children[$0].isRunning } }

    private func terminateNext() -> [Order] {
        children.firstIndex(where: \.isRunning).map { [.terminate($0)] } ?? []
    }

    private mutating func killAll() -> [Order] {
        stopping = .kills
        return running.map { .kill($0) }
    }
}
