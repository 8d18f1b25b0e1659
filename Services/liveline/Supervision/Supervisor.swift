import Processes
import Telemetry
import Web

/// Starts and watches programs: carries out what `Supervision` decides.
///
/// Its `members` belong into one poll loop. Every line that a child prints is passed on whole.
final class Supervisor: Pollable {
    /// How often a child that is not ready yet is asked, ms.
    private static let probeMilliseconds: Int64 = 100

    let children: [Child]
    private let logger: Logger
    private let probes = HTTPClient(connectionsMax: 8)
    private var supervision: Supervision
    private var ends: [ChildEnd] = []
    private var probing: Set<Int> = []
    private var nextProbes: [Int: Int64] = [:]
    private var hasSaidReady = false

    /// Gets ready to start programs; the first turn of the loop starts them.
    ///
    /// - Parameters:
    ///   - plans: the programs in the order in which they go down.
    ///   - environment: what they all get.
    ///   - settings: how they are started again and stopped.
    ///   - sink: takes their lines, and what is to be said about them.
    init(
        _ plans: [ChildPlan], environment: [String: String],
        settings: SupervisionSettings = SupervisionSettings(),
        sink: @escaping LogSink
    ) {
        children = plans.map { Child($0, environment: environment, sink: sink) }
        logger = Logger(service: "liveline", sink: sink)
        supervision = Supervision(comesFirst: plans.map(\.comesFirst), settings: settings)
        ends = children.indices.map { place in
            ChildEnd(children[place]) { [weak self] in self?.takeExit(place) }
        }
    }

    /// All that has to be polled.
    var members: [any Pollable] { children + ends + [probes, self] }

    /// Whether every child is ready.
    var isReady: Bool { supervision.isReady }

    /// The process of a child that is ready; nil for one that is not.
    func readyProcess(_ name: String) -> ChildProcess? {
        children.firstIndex { $0.plan.name == name }.flatMap {
            supervision.isReady($0) ? children[$0].process : nil
        }
    }

    /// Whether it was told to stop and every child has ended.
    var isOver: Bool { supervision.isOver }

    /// Why it stopped by itself: this child ended with a code after which starting it again makes no sense.
    var hopeless: (name: String, code: Int32)? {
        supervision.hopeless.map { (children[$0.child].plan.name, $0.code) }
    }

    /// Stops all children in order; told again, at once.
    func stop() {
        logger.info(supervision.isStopping ? "stopping-at-once" : "stopping")
        carryOut(supervision.stop(MonotonicClock.nowMilliseconds()))
    }

    /// Kills a child and keeps it down until `letUp`.
    func holdDown(_ name: String) {
        guard let place = children.firstIndex(where: { $0.plan.name == name }) else { return }
        carryOut(supervision.holdDown(place))
    }

    /// Starts a child again that was held down.
    func letUp(_ name: String) {
        guard let place = children.firstIndex(where: { $0.plan.name == name }) else { return }
        carryOut(supervision.letUp(place, MonotonicClock.nowMilliseconds()))
    }

    /// Sends all children a signal.
    func send(_ signal: ProcessSignal) {
        for child in children { child.process?.send(signal) }
    }

    // MARK: Turns

    var descriptor: CInt { -1 }

    var nextDeadlineMilliseconds: Int64? {
        (nextProbes.values + [supervision.nextDeadlineMilliseconds].compactMap { $0 }).min()
    }

    func process(nowMilliseconds: Int64) {
        carryOut(supervision.tick(nowMilliseconds))
        for place in nextProbes.keys.sorted() where nextProbes[place, default: .max] <= nowMilliseconds {
            probe(place)
        }
    }

    private func carryOut(_ orders: [Supervision.Order]) {
        for order in orders {
            switch order {
            case .start(let place): start(place)
            case .terminate(let place): children[place].process?.send(.terminate)
            case .kill(let place): children[place].process?.send(.kill)
            }
        }
    }

    private func start(_ place: Int) {
        let child = children[place]
        do throws(ProcessError) {
            try child.start()
            logger.info("started", ["service": child.plan.name, "pid": child.process?.processID ?? 0])
            probe(place)
        } catch {
            logger.error("start", ["service": child.plan.name, "fault": "\(error)"])
            carryOut(supervision.ended(place, nil, MonotonicClock.nowMilliseconds()))
        }
    }

    private func takeExit(_ place: Int) {
        guard let exit = children[place].takeExit() else { return }
        nextProbes[place] = nil
        var fields: LogFields = ["service": children[place].plan.name]
        switch exit {
        case .code(let code): fields.append("code", code)
        case .signal(let number): fields.append("signal", number)
        }
        logger.log(supervision.isStopping ? .info : .warning, "ended", fields)
        carryOut(supervision.ended(place, exit, MonotonicClock.nowMilliseconds()))
    }

    // MARK: Readiness

    private func probe(_ place: Int) {
        nextProbes[place] = nil
        guard let request = children[place].plan.probe else { return becameReady(place) }
        guard probing.insert(place).inserted else { return }
        let process = children[place].process?.processID
        probes.send(request) { [weak self] result in self?.probed(place, process, result) }
    }

    private func probed(
        _ place: Int, _ process: Int32?, _ result: Result<HTTPClientResponse, HTTPClientError>
    ) {
        probing.remove(place)
        guard let running = children[place].process?.processID else { return }
        if running == process, case .success(let answer) = result, answer.status == 200 {
            return becameReady(place)
        }
        nextProbes[place] = MonotonicClock.nowMilliseconds() + Self.probeMilliseconds
    }

    private func becameReady(_ place: Int) {
        carryOut(supervision.becameReady(place, MonotonicClock.nowMilliseconds()))
        guard supervision.isReady, !hasSaidReady else { return }
        hasSaidReady = true
        logger.info("ready", ["services": children.map(\.plan.name).joined(separator: ",")])
    }
}
