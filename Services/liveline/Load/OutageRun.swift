import Contracts
import Crypto
import Processes
import Service
import Web

/// Has messages wait while APNs refuses connections, and looks at the memory of each service meanwhile.
///
/// Each message is an update of an activity of its own, so that none takes another's place. APNs is away from before the
/// first message until all are in the ledger.
struct OutageRun {
    let messages: Int
    let own: OwnDeployment
    let loop: CallLoop
    /// How many calls are under way at a time.
    let connections: Int
    let progress: Progress
    /// How long nothing may change before the run is given up, ms.
    let settleMilliseconds: Int64
    /// How long all of it waits before APNs is back, ms.
    let restMilliseconds: Int64

    /// How many activities each phone has; iOS shows about five of an app.
    static let activitiesEach = 4
    private static let checkMilliseconds: Int64 = 500

    private var configuration: Configuration { own.running.deployment.configuration }
    private var supervisor: Supervisor { own.running.supervisor }

    /// Does it.
    ///
    /// - Throws: `CommandFailure` if it cannot be carried through.
    func run() throws(CommandFailure) -> OutageReport {
        supervisor.holdDown(Executables.simulator)
        let phones = ImportedPhones(
            name: "outage-\(String(randomUInt64() >> 34, radix: 36))",
            count: (messages + Self.activitiesEach - 1) / Self.activitiesEach,
            activitiesEach: Self.activitiesEach)
        try makePhones(phones)
        let before = ServiceUsage.measure(configuration, loop)
        var watch = MemoryWatch(peaks: before)
        let began = Stopwatch.microseconds()
        let (codes, busy) = try accept(phones, &watch)
        let accepted = Stopwatch.microseconds()
        try waitUntil("on the way to the ledger", .ingest, &watch) { $0 == 0 }
        let taken = Stopwatch.microseconds()
        let end = MonotonicClock.nowMilliseconds() + restMilliseconds
        while MonotonicClock.nowMilliseconds() < end { try watch.pause(self) }
        let waiting = try waiting(at: .tokenRegistry)
        let full = ServiceUsage.measure(configuration, loop)
        watch.peaks.raise(to: full)
        progress.say("waiting for APNs: \(Numbers.grouped(waiting))")
        try bringBack()
        let back = Stopwatch.microseconds()
        try waitUntil("waiting", .tokenRegistry, &watch) { $0 == 0 }
        let drained = Stopwatch.microseconds()
        let sweep = try StatusSweep(
            codes, door: own.door, loop: loop, progress: progress, limitMilliseconds: settleMilliseconds)
        let after = ServiceUsage.measure(configuration, loop)
        watch.peaks.raise(to: after)
        return OutageReport(
            messages: messages, accepted: codes.count, busy: busy, waiting: waiting, settled: sweep.settled,
            outcomes: sweep.counts, acceptSeconds: Self.seconds(began, accepted),
            takeSeconds: Self.seconds(began, taken), drainSeconds: Self.seconds(back, drained),
            before: before, full: full, peaks: watch.peaks, after: after, usage: after.since(before))
    }

    private static func seconds(_ from: Int64, _ to: Int64) -> Double { Double(to - from) / 1_000_000 }

    // MARK: Phones

    private func makePhones(_ phones: ImportedPhones) throws(CommandFailure) {
        var phones = phones
        var result: Result<HTTPClientResponse, HTTPClientError>?
        loop.client.send(ImportCall.request(own.door), body: { phones.read($0) }, completion: { result = $0 })
        while result == nil {
            try loop.run(forMilliseconds: Self.checkMilliseconds) { result != nil }
            progress.show("phones: \(Numbers.grouped(phones.given)) of \(Numbers.grouped(phones.count))")
        }
        guard case .success(let response) = result else {
            throw CommandFailure(.unavailable, "the import of the phones was not answered")
        }
        let answer = try ImportAnswer(response)
        guard answer.failure == nil, answer.accepted == phones.count else {
            throw CommandFailure(.temporary, "the import of the phones: \(answer.text)")
        }
        var watch = MemoryWatch(peaks: ServiceUsage(lines: []))
        try waitUntil("registrations", .ingest, &watch) { $0 == 0 }
        progress.say(
            "phones: \(Numbers.grouped(phones.count)), with \(Self.activitiesEach) activities each")
    }

    // MARK: Messages

    /// Sends each update until it is accepted.
    ///
    /// - Returns: the codes, and how often a call was answered that it should come later.
    private func accept(
        _ phones: ImportedPhones, _ watch: inout MemoryWatch
    ) throws(CommandFailure) -> (codes: [String], busy: Int) {
        var codes: [String] = []
        codes.reserveCapacity(messages)
        var (open, busy) = (Array(0..<messages), 0)
        while !open.isEmpty {
            var again: [Int] = []
            let numbers = open
            try loop.calls(numbers.count, atOnce: connections) {
                let number = numbers[$0]
                return own.door.request(
                    LiveActivityCall(
                        .update, activity: phones.activity(number), state: LoadSetup.state(number)),
                    idempotencyKey: "\(phones.name)-\(number)")
            } take: { place, result throws(CommandFailure) in
                switch DoorAnswer(result) {
                case .accepted(let new): codes += new
                case .busy, .unreachable, .unknown: again.append(numbers[place])
                case .refused(let text): throw CommandFailure(.data, "an update was refused: \(text)")
                }
                progress.show(
                    "accepted: \(Numbers.grouped(codes.count)) of \(Numbers.grouped(messages))"
                        + (busy + again.count > 0
                            ? ", to come later: \(Numbers.grouped(busy + again.count))" : ""))
                try watch.look(self)
            }
            busy += again.count
            open = again
            if !open.isEmpty { try watch.pause(self) }
        }
        progress.say("accepted: \(Numbers.grouped(codes.count)), to come later: \(Numbers.grouped(busy))")
        return (codes, busy)
    }

    // MARK: APNs

    /// Starts APNs again; gateways learn its new certificate as they would learn any: by SIGHUP.
    private func bringBack() throws(CommandFailure) {
        supervisor.letUp(Executables.simulator)
        try own.waitUntilReady(loop)
        supervisor.readyProcess(ServiceName.apnsGateway.rawValue)?.send(.hangUp)
        progress.say("APNs is back")
    }

    // MARK: Waiting

    private func waiting(at service: ServiceName) throws(CommandFailure) -> Int {
        for _ in 0..<10 {
            let state = ServiceState.ask(InstanceName(service), configuration) { try loop.call($0) }
            if let waiting = state.waiting { return Int(waiting) }
            try loop.run(forMilliseconds: Self.checkMilliseconds)
        }
        throw CommandFailure(.temporary, "\(service.rawValue) does not say what waits in it")
    }

    /// Runs until what waits in a service fits.
    ///
    /// - Throws: `CommandFailure` if it does not change for too long.
    private func waitUntil(
        _ what: String, _ service: ServiceName, _ watch: inout MemoryWatch, _ fits: (Int) -> Bool
    ) throws(CommandFailure) {
        var (last, since) = (Int.max, MonotonicClock.nowMilliseconds())
        while true {
            let waiting = try waiting(at: service)
            if fits(waiting) { return }
            let now = MonotonicClock.nowMilliseconds()
            if waiting != last { (last, since) = (waiting, now) }
            guard now - since < settleMilliseconds else {
                let seconds = settleMilliseconds / 1_000
                throw CommandFailure(.temporary, "\(what): \(waiting), unchanged for \(seconds) s")
            }
            progress.show("\(what): \(Numbers.grouped(waiting))")
            try watch.pause(self)
        }
    }

    /// Keeps the most memory that was seen of each service.
    private struct MemoryWatch {
        var peaks: ServiceUsage
        private var nextMilliseconds = Int64.min

        init(peaks: ServiceUsage) { self.peaks = peaks }

        /// Looks, unless it has just done so.
        mutating func look(_ run: OutageRun) throws(CommandFailure) {
            guard MonotonicClock.nowMilliseconds() >= nextMilliseconds else { return }
            peaks.raise(to: ServiceUsage.measure(run.configuration, run.loop))
            nextMilliseconds = MonotonicClock.nowMilliseconds() + OutageRun.checkMilliseconds
        }

        /// Lets a moment pass, and looks.
        mutating func pause(_ run: OutageRun) throws(CommandFailure) {
            try run.loop.run(forMilliseconds: OutageRun.checkMilliseconds)
            try look(run)
        }
    }
}
