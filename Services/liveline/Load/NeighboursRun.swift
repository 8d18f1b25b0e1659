import Service
import Web

/// Single updates of one application, first alone, then while a start goes to all phones of another.
struct NeighboursRun {
    let parameters: LoadParameters
    let own: OwnDeployment
    let progress: Progress

    /// Numbers in content states: of single updates alone, of those during the fan-out, of the fan-out.
    private static let (aloneBase, besideBase, crowdNumber) = (1 << 30, 1 << 31, 1 << 32)
    private static let checkMilliseconds: Int64 = 250

    /// Does it.
    ///
    /// - Throws: `CommandFailure` if it cannot be carried through.
    func run() throws(CommandFailure) -> NeighboursReport {
        let loop = own.loop()
        try own.waitUntilReady(loop)
        let crowd = setup(loop, own.door, LoadApp(), "crowd")
        let neighbour = setup(
            loop, Door(url: own.door.url, application: TrialSetup.neighbour, auth: TrialSetup.neighbourToken),
            LoadApp(bundleID: TrialSetup.neighbourBundleID), "neighbour")
        try neighbour.createPhones(parameters.activityCount)
        try neighbour.startEach(parameters.activityCount)
        try crowd.createPhones(parameters.devices)
        try crowd.createFilter()
        progress.say("rest: \(parameters.rest) s")
        try loop.run(forMilliseconds: parameters.rest * 1_000)
        let alone = try phase(neighbour, Self.aloneBase, after: 0, loop) {
            sender, feed throws(CommandFailure) in
            try loop.run(forMilliseconds: parameters.seconds * 1_000, with: [sender, feed.feed])
        }
        var fanOut: Int64 = 0
        let beside = try phase(neighbour, Self.besideBase, after: alone.count, loop) {
            sender, feed throws(CommandFailure) in
            fanOut = try self.fanOut(crowd, loop, sender, feed)
        }
        return NeighboursReport(
            devices: parameters.devices, rate: Int(parameters.schedule.rate),
            alone: Spread(alone.arrivalMicroseconds), beside: Spread(beside.arrivalMicroseconds),
            missing: alone.missing(devices: 1) + beside.missing(devices: 1),
            answers: [alone.answers, beside.answers], fanOutMicroseconds: fanOut)
    }

    private func setup(_ loop: CallLoop, _ door: Door, _ app: LoadApp, _ name: String) -> LoadSetup {
        LoadSetup(loop: loop, door: door, control: own.control, app: app, progress: progress, name: name)
    }

    /// Counts the arrivals of the fan-out beside those of single updates.
    private final class Feed {
        final class Counts {
            var crowd = 0
            var lastMicroseconds: Int64 = 0
        }

        let counts: Counts
        let feed: ArrivalFeed

        init(
            _ loop: CallLoop, _ control: SimulatorControl, next: Int64,
            single: @escaping (ArrivalFeed.Arrival) -> Void
        ) {
            let counts = Counts()
            self.counts = counts
            feed = ArrivalFeed(loop.client, control, next: next) { arrival in
                guard arrival.number == NeighboursRun.crowdNumber else { return single(arrival) }
                counts.crowd += 1
                counts.lastMicroseconds = max(counts.lastMicroseconds, arrival.atMicroseconds)
            }
        }
    }

    /// Sends single updates while `body` runs, then waits for those that have not arrived.
    ///
    /// It goes on with the activity whose turn it is after those that were `sent`, so that no pace holds one back.
    private func phase(
        _ setup: LoadSetup, _ base: Int, after sent: Int, _ loop: CallLoop,
        body: (OpenLoopSender, Feed) throws(CommandFailure) -> Void
    ) throws(CommandFailure) -> SendLog {
        let (door, activities) = (setup.door, parameters.activityCount)
        let schedule = OpenLoop(rate: parameters.schedule.rate, count: .max / 2)
        let sender = OpenLoopSender(schedule, activities: activities, client: loop.client) {
            door.request(
                LiveActivityCall(
                    .update, activity: setup.activity(($1 + sent) % activities),
                    state: LoadSetup.state(base + $0)))
        }
        let feed = Feed(loop, own.control, next: try ArrivalFeed.newest(own.control, loop)) { arrival in
            guard arrival.event == "update" else { return }
            sender.log.arrived(arrival.number - base, atMicroseconds: arrival.atMicroseconds)
        }
        try body(sender, feed)
        let end = MonotonicClock.nowMilliseconds() + parameters.settleSeconds * 1_000
        while sender.log.unanswered > 0 || sender.log.missing(devices: 1) > 0,
            MonotonicClock.nowMilliseconds() < end
        {
            try loop.run(forMilliseconds: Self.checkMilliseconds, with: [feed.feed])
        }
        if feed.feed.lost > 0 {
            throw CommandFailure(
                .temporary, "\(feed.feed.lost) pushes at the simulator were not seen in time")
        }
        progress.say("single updates: \(Numbers.grouped(sender.log.count))")
        return sender.log
    }

    /// Starts an activity on all phones of the crowd.
    ///
    /// - Returns: from the call to the last push, microseconds.
    private func fanOut(
        _ crowd: LoadSetup, _ loop: CallLoop, _ sender: OpenLoopSender, _ feed: Feed
    ) throws(CommandFailure) -> Int64 {
        let began = Stopwatch.wallMicroseconds()
        var answer: DoorAnswer?
        let call = LoadSetup.start(crowd.activity(0), .filter(crowd.name), number: Self.crowdNumber)
        loop.client.send(crowd.door.request(call)) { answer = DoorAnswer($0) }
        let isDone = try loop.run(
            forMilliseconds: parameters.settleSeconds * 1_000, with: [sender, feed.feed]
        ) {
            progress.show(
                "start of \(Numbers.grouped(parameters.devices)): \(Numbers.grouped(feed.counts.crowd)) pushes"
            )
            return feed.counts.crowd >= parameters.devices
        }
        _ = try answer?.get()
        progress.say(
            "start: \(Numbers.grouped(feed.counts.crowd)) of \(Numbers.grouped(parameters.devices)) pushes")
        guard isDone else { throw CommandFailure(.temporary, "the start did not reach all phones in time") }
        return feed.counts.lastMicroseconds - began
    }
}
