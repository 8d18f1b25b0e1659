import Contracts
import JSON
import Service
import Web

/// One chaos run on a deployment of its own: load under kills, holds, restarts, faults and changing tokens; then quiet,
/// one more update of each activity, and the judgement.
struct ChaosRun {
    let parameters: ChaosParameters
    let own: OwnDeployment
    let progress: Progress

    private static let checkMilliseconds: Int64 = 250
    /// How long a message that is settled otherwise than it should be may still change, ms: longer than the longest
    /// time after which something unanswered is sent again between services that both live.
    private static let misfitMilliseconds: Int64 = 90_000

    /// Does it.
    ///
    /// - Throws: `CommandFailure` if it cannot be carried through.
    func run() throws(CommandFailure) -> ChaosReport {
        let loop = own.loop(connectionsMax: 128)
        try own.waitUntilReady(loop)
        let setup = LoadSetup(
            loop: loop, door: own.door, control: own.control, app: LoadApp(), progress: progress,
            name: "chaos-\(parameters.seed)")
        try setup.createPhones(parameters.phoneCount)
        let channels = try createFiltersAndChannels(setup)
        let book = Shared(ChaosBook(intervalMilliseconds: parameters.intervalSeconds * 1_000))
        let feed = ArrivalFeed(loop.client, own.control, next: 0, hasRefused: true) { book.value.take($0) }
        let judge = ChaosJudge(loop.client, own.door, book, feed, parameters)
        let traffic = ChaosTraffic(
            parameters, book: book, setup: setup, client: loop.client, channels: channels
        ) { judge.add($0, $1) }
        let mayhem = ChaosMayhem(
            ChaosPlan(parameters), book: book, supervisor: own.running.supervisor, client: loop.client,
            control: own.control, unnoticedSeconds: parameters.intervalSeconds * 5 / 2
        ) { traffic.straying($0) }
        defer { mayhem.calm() }
        let cast = Cast(
            loop: loop, book: book, feed: feed, judge: judge, traffic: traffic, mayhem: mayhem,
            gauge: ChaosGauge(own.running.supervisor))
        let pace = try rage(cast)
        let restMilliseconds = try time { () throws(CommandFailure) in try rest(cast) }
        let judgeMilliseconds = try time { () throws(CommandFailure) in try conclude(cast) }
        return ChaosReport(
            parameters: parameters, tally: book.value.tally, timeline: book.value.timeline, pace: pace,
            restMilliseconds: restMilliseconds, judgeMilliseconds: judgeMilliseconds,
            unknown: traffic.unknown, busy: traffic.busy, faults: mayhem.faults,
            tokensChanged: mayhem.tokensChanged, dismissals: mayhem.dismissals, usages: cast.gauge.usages,
            breaches: book.value.breaches, breachCount: book.value.breachCount)
    }

    private func createFiltersAndChannels(_ setup: LoadSetup) throws(CommandFailure) -> [Int: String] {
        var channels: [Int: String] = [:]
        var first = 1
        for slot in 0..<parameters.activities {
            let count = ChaosParameters.phones(ofSlot: slot)
            if ChaosParameters.isFiltered(slot) { try setup.createFilter(numbers: first...first + count - 1) }
            if ChaosParameters.isBroadcast(slot) { channels[slot] = try setup.createChannel() }
            first += count
        }
        return channels
    }

    private func time(_ work: () throws(CommandFailure) -> Void) throws(CommandFailure) -> Int64 {
        let began = MonotonicClock.nowMilliseconds()
        try work()
        return MonotonicClock.nowMilliseconds() - began
    }

    /// All that takes part.
    private struct Cast {
        let loop: CallLoop
        let book: Shared<ChaosBook>
        let feed: ArrivalFeed
        let judge: ChaosJudge
        let traffic: ChaosTraffic
        let mayhem: ChaosMayhem
        let gauge: ChaosGauge

        var members: [any Pollable] { [traffic, feed, judge, mayhem, gauge] }
    }

    private func line(_ cast: Cast) -> String {
        let tally = cast.book.value.tally
        let kills = cast.book.value.timeline.incidents.count { $0.kind == .kill }
        return "sent \(Numbers.grouped(tally.sent)), accepted \(Numbers.grouped(tally.accepted)), "
            + "settled \(Numbers.grouped(tally.settled)), open \(Numbers.grouped(cast.judge.open)) "
            + "(\(cast.judge.misfits) misfits), pushes \(Numbers.grouped(tally.pushes)), kills \(kills), "
            + "breaches \(cast.book.value.breachCount)"
    }

    private func rage(_ cast: Cast) throws(CommandFailure) -> ChaosReport.Pace {
        let began = MonotonicClock.nowMilliseconds()
        try cast.loop.run(forMilliseconds: parameters.seconds * 1_000, with: cast.members) {
            progress.show(line(cast))
            return false
        }
        let pace = ChaosReport.Pace(
            milliseconds: MonotonicClock.nowMilliseconds() - began, offered: cast.traffic.offered,
            sent: cast.book.value.tally.sent, accepted: cast.book.value.tally.accepted)
        progress.say(line(cast))
        cast.mayhem.calm()
        cast.traffic.isHeld = true
        return pace
    }

    /// Waits until services, calls and registrations have come to rest.
    private func rest(_ cast: Cast) throws(CommandFailure) {
        let isCalm = try cast.loop.run(forMilliseconds: parameters.settleSeconds * 1_000, with: cast.members)
        {
            progress.show("rest: \(line(cast))")
            return cast.mayhem.isCalm && cast.traffic.underWay == 0 && own.running.supervisor.isReady
        }
        if !isCalm { cast.book.value.breach("services and calls did not come to rest") }
        let end = MonotonicClock.nowMilliseconds() + parameters.settleSeconds * 1_000
        while MonotonicClock.nowMilliseconds() < end {
            let counters = try SimulatorControl.read(try cast.loop.call(own.control.get("/counters")))
            let open = ["waiting", "underWay"].reduce(0) { $0 + (counters["registrations"]?[$1]?.int64 ?? 0) }
            if open == 0 { break }
            try cast.loop.run(forMilliseconds: Self.checkMilliseconds, with: cast.members)
        }
    }

    /// Gives every phone something newest to show, waits until all is judged, and looks at the phones.
    private func conclude(_ cast: Cast) throws(CommandFailure) {
        cast.traffic.update()
        let began = MonotonicClock.nowMilliseconds()
        try cast.loop.run(forMilliseconds: parameters.settleSeconds * 1_000, with: cast.members) {
            progress.show("conclude: \(line(cast))")
            let isPatient = MonotonicClock.nowMilliseconds() - began < Self.misfitMilliseconds
            guard cast.traffic.underWay == 0 else { return false }
            guard isPatient else { return cast.judge.open <= cast.judge.misfits }
            return cast.judge.open == 0 && cast.book.value.lateEndCount == 0
        }
        progress.say(line(cast))
        cast.traffic.giveUp()
        cast.judge.finish()
        cast.book.value.weigh()
        cast.book.value.balance()
        cast.book.value.checkLateEnds()
        if cast.feed.lost > 0 {
            cast.book.value.breach("\(cast.feed.lost) pushes at the simulator were not seen in time")
        }
        try checkPhones(cast)
    }

    private func checkPhones(_ cast: Cast) throws(CommandFailure) {
        let places = cast.traffic.running.flatMap { running in
            running.hardwareIDs.enumerated().map { (running.serial, running.activity, $0, $1) }
        }
        try cast.loop.calls(places.count) {
            own.control.get(SimulatorControl.phone(places[$0].3))
        } take: { number, result throws(CommandFailure) in
            let answer: HTTPClientResponse
            do { answer = try result.get() } catch { throw CommandFailure(.unavailable, "\(error)") }
            let (serial, activity, place, _) = places[number]
            let phone = PhoneView(try SimulatorControl.read(answer))
            let shown = phone?.activities.first { $0.id == activity && $0.state == "active" }?.shown
            let marker = shown.flatMap { (try? JSONDocument(text: $0))?.root["n"]?.int64 }
            cast.book.value.check(serial, place: place, shown: marker.map { Int($0) })
        }
    }
}
