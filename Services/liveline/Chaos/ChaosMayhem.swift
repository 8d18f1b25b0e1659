import Contracts
import JSON
import Processes
import Web

/// Carries out a plan: kills, holds and restarts services, plays faults of APNs, changes tokens.
final class ChaosMayhem: Pollable {
    private struct Open {
        let place: Int
        let service: ServiceName
        let processID: Int32
        /// When a held service goes on; nil for one that is to end.
        var goesOnAt: Int64?
        var hasEnded = false
    }

    private static let tickMilliseconds: Int64 = 50

    private var plan: ChaosPlan
    private let book: Shared<ChaosBook>
    private let supervisor: Supervisor
    private let client: HTTPClient
    private let control: SimulatorControl
    private let unnoticedSeconds: Int64
    private let straying: (Int) -> (serial: Int, activity: String, hardwareID: String)?
    private let began = MonotonicClock.nowMilliseconds()
    /// What is to be done to a service as soon as it is ready.
    private var waiting: [ChaosPlan.Action] = []
    private var open: [Open] = []
    private var due: Int64 = 0
    private(set) var isOver = false
    /// How often each fault was played.
    private(set) var faults: [ChaosFault: Int] = [:]
    private(set) var tokensChanged = 0
    private(set) var dismissals = 0

    /// Begins now.
    ///
    /// - Parameters:
    ///   - plan: what is to happen.
    ///   - book: where it is written down.
    ///   - supervisor: who starts services again.
    ///   - client: where calls are made.
    ///   - control: the simulator.
    ///   - unnoticedSeconds: how late a phone registers a token at times: more than one push meets the old one unless it
    ///     is known to be dead.
    ///   - straying: picks an activity whose tokens may change.
    init(
        _ plan: ChaosPlan, book: Shared<ChaosBook>, supervisor: Supervisor, client: HTTPClient,
        control: SimulatorControl, unnoticedSeconds: Int64,
        straying: @escaping (Int) -> (serial: Int, activity: String, hardwareID: String)?
    ) {
        (self.plan, self.book, self.supervisor) = (plan, book, supervisor)
        (self.client, self.control, self.straying) = (client, control, straying)
        self.unnoticedSeconds = unnoticedSeconds
    }

    /// Whether every service that was killed, held or restarted works again.
    var isCalm: Bool { open.isEmpty }

    var descriptor: CInt { -1 }
    var nextDeadlineMilliseconds: Int64? { due }

    func process(nowMilliseconds: Int64) {
        due = nowMilliseconds + Self.tickMilliseconds
        watch(nowMilliseconds)
        guard !isOver else { return }
        for action in plan.due(nowMilliseconds - began) {
            switch action {
            case .fault(let fault): play(fault)
            case .token(let pick, let change): self.change(pick, change)
            case .kill, .hold, .restart: waiting.append(action)
            }
        }
        waiting.removeAll { strike($0, nowMilliseconds) }
    }

    /// Ends all of it: what is held goes on, no fault is played any more.
    func calm() {
        isOver = true
        waiting = []
        for place in open.indices where open[place].goesOnAt != nil { open[place].goesOnAt = 0 }
        watch(MonotonicClock.nowMilliseconds())
        clear()
    }

    // MARK: Services

    /// Does something to a service; false if it has to wait until the service is ready.
    private func strike(_ action: ChaosPlan.Action, _ now: Int64) -> Bool {
        switch action {
        case .kill(let service): strike(service, .kill, .kill)
        case .restart(let service):
            // Who is held does not hear it.
            open.contains { $0.service == service } ? false : strike(service, .restart, .terminate)
        case .hold(let service, let time):
            open.contains { $0.service == service } ? false : strike(service, .hold, .hold, until: now + time)
        case .fault, .token: true
        }
    }

    private func strike(
        _ service: ServiceName, _ kind: ChaosTimeline.Kind, _ signal: ProcessSignal, until: Int64? = nil
    ) -> Bool {
        guard let process = supervisor.readyProcess(service.rawValue) else { return false }
        let isDying = open.contains {
            $0.processID == process.processID && $0.goesOnAt == nil && kind == .kill
                && book.value.timeline.incidents[$0.place].kind == .kill
        }
        guard !isDying else { return false }
        let place = book.value.timeline.begin(kind, service, at: Self.wall)
        process.send(signal)
        open.append(Open(place: place, service: service, processID: process.processID, goesOnAt: until))
        return true
    }

    /// Notes what has ended and what works again, and lets go on what was held long enough.
    private func watch(_ now: Int64) {
        for index in open.indices {
            let process = supervisor.children.first { $0.plan.name == open[index].service.rawValue }?.process
            if process?.processID != open[index].processID {
                if !open[index].hasEnded {
                    open[index].hasEnded = true
                    book.value.timeline.ended(open[index].place, at: Self.wall)
                }
            } else if let until = open[index].goesOnAt, until <= now {
                process?.send(.goOn)
            }
        }
        open.removeAll { isOver($0, now) }
    }

    private func isOver(_ item: Open, _ now: Int64) -> Bool {
        let isBack =
            item.hasEnded
            ? supervisor.readyProcess(item.service.rawValue) != nil : item.goesOnAt.map { $0 <= now } ?? false
        if isBack { book.value.timeline.over(item.place, at: Self.wall) }
        return isBack
    }

    private static var wall: Int64 { Stopwatch.wallMicroseconds() / 1_000 }

    // MARK: APNs and phones

    private func play(_ fault: ChaosFault) {
        faults[fault, default: 0] += 1
        clear()
        if fault.closes { book.value.timeline.closes(at: Self.wall) }
        guard let rule = fault.rule else {
            return client.send(control.post("/connections") { $0.member("close", true) }) { _ in }
        }
        client.send(control.postRaw("/script", rule)) { _ in }
    }

    /// Takes back what was played so far; only its answer tells that the simulator has done so.
    private func clear() {
        let count = book.value.timeline.closings.count
        client.send(control.delete("/script")) { [book] result in
            guard case .success = result else { return }
            book.value.timeline.closed(count, at: Self.wall)
        }
        client.send(control.post("/connections") { $0.member("streamLimit", 1_000) }) { _ in }
    }

    private func change(_ pick: Int, _ change: TokenChange) {
        guard let (serial, activity, hardwareID) = straying(pick) else { return }
        let isDismissed = change == .dismissed
        book.value.strays(serial, isDismissed: isDismissed)
        if isDismissed { dismissals += 1 } else { tokensChanged += 1 }
        let path = "\(SimulatorControl.phone(hardwareID))/\(isDismissed ? "dismiss" : "rotate")"
        let call = control.post(path) {
            $0.member("activity", activity)
            if change == .rotatedUnnoticed { $0.member("registerAfterSeconds", unnoticedSeconds) }
        }
        client.send(call) { [book] result in
            guard case .success(let answer) = result, let phone = try? SimulatorControl.read(answer) else {
                return
            }
            let shown = phone["activities"]?.elements?.first { $0["id"]?.string == activity }
            book.value.tokenDied(serial, whileRegistering: shown?["registering"]?.bool ?? false)
        }
    }
}

extension SimulatorControl {
    /// A call whose body is JSON text already.
    func postRaw(_ path: String, _ body: String) -> HTTPClientRequest {
        var request = post(path)
        request.body = Array(body.utf8)
        return request
    }

    /// A call that takes something away.
    func delete(_ path: String) -> HTTPClientRequest {
        var request = get(path)
        request.method = "DELETE"
        return request
    }
}
