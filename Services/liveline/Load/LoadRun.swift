import Contracts
import Crypto
import Service
import Web

/// One load run: sets up, sends by the clock, follows what arrives, and asks what became of it.
struct LoadRun {
    let parameters: LoadParameters
    let door: Door
    let control: SimulatorControl
    let app: LoadApp
    /// Where the services tell about themselves.
    let configuration: Configuration
    let loop: CallLoop
    let progress: Progress
    /// The processes, for the drill.
    var supervisor: Supervisor?

    private static let checkMilliseconds: Int64 = 250

    /// Numbers in content states begin here, so that pushes of another run are not taken for this one's.
    private let firstNumber = Int(randomUInt64() >> 24) << 10

    init(
        _ parameters: LoadParameters, door: Door, control: SimulatorControl, app: LoadApp,
        configuration: Configuration, loop: CallLoop, progress: Progress, supervisor: Supervisor? = nil
    ) {
        self.parameters = parameters
        (self.door, self.control, self.app) = (door, control, app)
        (self.configuration, self.loop, self.progress) = (configuration, loop, progress)
        self.supervisor = supervisor
    }

    /// Does it.
    ///
    /// - Throws: `CommandFailure` if it cannot be carried through.
    func run() throws(CommandFailure) -> LoadReport {
        let setup = LoadSetup(
            loop: loop, door: door, control: control, app: app, progress: progress,
            name: "load-\(String(randomUInt64() >> 34, radix: 36))")
        try prepare(setup)
        let before = ServiceUsage.measure(configuration, loop)
        let sender = sender(setup)
        let feed = ArrivalFeed(loop.client, control, next: try ArrivalFeed.newest(control, loop)) { arrival in
            guard arrival.event == "update" else { return }
            sender.log.arrived(arrival.number - firstNumber, atMicroseconds: arrival.atMicroseconds)
        }
        let drill = drill()
        let began = Stopwatch.microseconds()
        try send(sender, feed, drill)
        try settle(sender, feed)
        let seconds = Double(Stopwatch.microseconds() - began) / 1_000_000
        let usage = ServiceUsage.measure(configuration, loop).since(before)
        let sweep = try StatusSweep(
            sender.log.codes, door: door, loop: loop, progress: progress,
            limitMilliseconds: parameters.settleSeconds * 1_000)
        var report = report(sender.log, feed, sweep)
        report.seconds = seconds
        // What a process that was killed had used is not known any more.
        if !parameters.killsEach { report.usage = usage }
        if parameters.killsEach { report.missing = try wrongPhones(sender.log, setup) }
        return report
    }

    private func prepare(_ setup: LoadSetup) throws(CommandFailure) {
        try setup.createPhones(parameters.activityCount * parameters.devicesPerActivity)
        if parameters.scenario == .fanOut {
            try setup.startAll(parameters.devicesPerActivity)
        } else {
            try setup.startEach(parameters.activityCount)
        }
        guard parameters.rest > 0 else { return }
        progress.say("rest: \(parameters.rest) s")
        try loop.run(forMilliseconds: parameters.rest * 1_000)
    }

    private func sender(_ setup: LoadSetup) -> OpenLoopSender {
        let (door, firstNumber, killsEach) = (door, firstNumber, parameters.killsEach)
        return OpenLoopSender(
            parameters.schedule, activities: parameters.activityCount, client: loop.client,
            retryMilliseconds: killsEach ? 500 : nil
        ) { number, activity in
            let call = LiveActivityCall(
                .update, activity: setup.activity(activity), state: LoadSetup.state(firstNumber + number))
            return door.request(call, idempotencyKey: killsEach ? "\(setup.name)-\(number)" : nil)
        }
    }

    private func drill() -> KillDrill? {
        guard parameters.killsEach, let supervisor else { return nil }
        return KillDrill(
            supervisor, names: Deployment.goingDown.map(\.rawValue),
            durationMilliseconds: parameters.schedule.durationMicroseconds / 1_000, progress: progress)
    }

    private func send(
        _ sender: OpenLoopSender, _ feed: ArrivalFeed, _ drill: KillDrill?
    ) throws(CommandFailure) {
        let members: [any Pollable] = [sender, feed] + (drill.map { [$0] } ?? [])
        let limit = parameters.schedule.durationMicroseconds / 1_000 + parameters.settleSeconds * 1_000
        let isDone = try loop.run(forMilliseconds: limit, with: members) {
            progress.show(line(sender, feed))
            return sender.isDone && drill?.isDone ?? true
        }
        progress.say(line(sender, feed))
        if !isDone { throw CommandFailure(.temporary, "sending did not end in time") }
    }

    private func settle(_ sender: OpenLoopSender, _ feed: ArrivalFeed) throws(CommandFailure) {
        let devices = parameters.devicesPerActivity
        let end = MonotonicClock.nowMilliseconds() + parameters.settleSeconds * 1_000
        while sender.log.missing(devices: devices) > 0, MonotonicClock.nowMilliseconds() < end {
            progress.show(line(sender, feed))
            try loop.run(forMilliseconds: Self.checkMilliseconds, with: [feed])
        }
        progress.say(line(sender, feed))
    }

    private func line(_ sender: OpenLoopSender, _ feed: ArrivalFeed) -> String {
        let answers = sender.log.answers
        let others = answers.refused + answers.busy + answers.unreachable + answers.unknown
        return "sent \(Numbers.grouped(sender.log.count)), accepted \(Numbers.grouped(answers.accepted)), "
            + "not accepted \(Numbers.grouped(others)), pushes \(Numbers.grouped(feed.updates))"
    }

    private func report(_ log: SendLog, _ feed: ArrivalFeed, _ sweep: StatusSweep) -> LoadReport {
        LoadReport(
            scenario: parameters.scenario.rawValue, parameters: parameters.listed, seconds: 0,
            sent: log.count,
            answers: log.answers, outcomes: sweep.counts, settled: sweep.settled,
            unsettled: sweep.unsettled.count,
            pushes: feed.updates, repeated: log.repeated(devices: parameters.devicesPerActivity),
            unseen: feed.unseen,
            missing: log.missing(devices: parameters.devicesPerActivity),
            lateness: Spread(log.latenessMicroseconds),
            answerTimes: Spread(log.answerMicroseconds), arrivalTimes: Spread(log.arrivalMicroseconds),
            usage: ServiceUsage(lines: []))
    }

    /// How many phones do not show the newest state that was accepted.
    private func wrongPhones(_ log: SendLog, _ setup: LoadSetup) throws(CommandFailure) -> Int {
        let newest = log.newestAccepted.sorted { $0.key < $1.key }
        var wrong = 0
        try loop.calls(newest.count) {
            control.get(SimulatorControl.phone(setup.hardwareID(newest[$0].key)))
        } take: { place, result throws(CommandFailure) in
            let answer: HTTPClientResponse
            do { answer = try result.get() } catch { throw CommandFailure(.unavailable, "\(error)") }
            let expected = String(decoding: LoadSetup.state(firstNumber + newest[place].value), as: UTF8.self)
            let phone = PhoneView(try SimulatorControl.read(answer))
            if phone?.activities.first?.shown != expected { wrong += 1 }
        }
        return wrong
    }
}
