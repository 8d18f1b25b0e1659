import JSON
import Service
import Web

/// The app on the phones of a load run.
struct LoadApp: Sendable, Equatable {
    var bundleID = TrialSetup.bundleID
    /// What it calls with.
    var deviceToken = TrialSetup.deviceToken
}

/// Brings phones and their activities to where a load run begins, as apps and an operator's server would.
struct LoadSetup {
    /// How long each phase may take, ms.
    static let phaseMilliseconds: Int64 = 600_000
    private static let pollMilliseconds: Int64 = 500

    let loop: CallLoop
    let door: Door
    let control: SimulatorControl
    let app: LoadApp
    let progress: Progress
    /// What hardware ids, activities and the filter begin with, so that no two runs meet.
    let name: String

    private var prefix: String { "\(name)-" }

    /// The hardware id of a phone; the first has number 0.
    func hardwareID(_ number: Int) -> String { "\(prefix)\(number + 1)" }

    /// The id of an activity; the first has number 0.
    func activity(_ number: Int) -> String { "\(name)-order-\(number + 1)" }

    // MARK: Phones

    /// Makes phones and waits until their apps have registered them.
    func createPhones(_ count: Int) throws(CommandFailure) {
        let before = try registrations()
        let request = control.post("/phones") { phones in
            phones.member("count", count)
            phones.member("prefix", prefix)
            phones.member("application", door.application)
            phones.member("bundleId", app.bundleID)
            phones.member("deviceToken", app.deviceToken)
            phones.member("attributesTypes", [TrialSetup.attributesType])
            phones.object("tags") {
                $0.member("load", name)
                $0.member("number", "{=n}")
            }
        }
        _ = try SimulatorControl.read(try loop.call(request))
        // The device and its push-to-start token.
        try wait("phones register", for: 2 * count) { () throws(CommandFailure) in
            let now = try registrations()
            try Self.check(now, since: before)
            return now.accepted - before.accepted
        }
    }

    private struct Registrations {
        var accepted: Int
        var refused: Int
        var open: Int
    }

    private func registrations() throws(CommandFailure) -> Registrations {
        let counters = try SimulatorControl.read(try loop.call(control.get("/counters")))
        func count(_ name: String) -> Int { counters["registrations"]?[name]?.int64.map { Int($0) } ?? 0 }
        return Registrations(
            accepted: count("accepted"), refused: count("refused"), open: count("waiting") + count("underWay")
        )
    }

    private static func check(_ now: Registrations, since before: Registrations) throws(CommandFailure) {
        guard now.refused == before.refused else {
            throw CommandFailure(
                .data, "\(now.refused - before.refused) registrations of phones were refused at the door")
        }
    }

    // MARK: Activities

    /// Starts one activity on each phone and waits until all have their tokens.
    func startEach(_ count: Int) throws(CommandFailure) {
        var open = Array(0..<count)
        while !open.isEmpty {
            var again: [Int] = []
            var reason = ""
            try loop.calls(open.count) {
                door.request(Self.start(activity(open[$0]), .devices([hardwareID(open[$0])])))
            } take: { place, result throws(CommandFailure) in
                progress.show(
                    "activities start: \(Numbers.grouped(count - open.count + place)) of \(Numbers.grouped(count))"
                )
                switch DoorAnswer(result) {
                case .accepted: break
                case .busy(let text), .unreachable(let text), .unknown(let text):
                    again.append(open[place])
                    reason = text
                case .refused(let text): throw CommandFailure(.data, "a start was refused: \(text)")
                }
            }
            guard again.count < open.count else {
                throw CommandFailure(.temporary, "no start is accepted: \(reason)")
            }
            open = again
        }
        try waitActive(count)
    }

    /// Makes the filter that finds all phones of the run, by the run's name.
    func createFilter() throws(CommandFailure) {
        let filter = door.request("createFilter") { filter in
            filter.member("name", name)
            filter.array("conditions") { $0.element(["load", "EQ", name]) }
            filter.member("operator", "AND")
        }
        _ = try DoorAnswer(.success(try loop.call(filter))).get()
    }

    /// The name of the filter that finds the phones from a number on, counted from 1.
    func filter(_ first: Int) -> String { "\(prefix)filter-\(first)" }

    /// Makes a filter that finds the phones of these numbers, counted from 1.
    func createFilter(numbers: ClosedRange<Int>) throws(CommandFailure) {
        let filter = door.request("createFilter") { filter in
            filter.member("name", self.filter(numbers.lowerBound))
            filter.member(
                "filter_expression",
                "T(\"load\", EQ, \"\(name)\") * "
                    + "T(\"number\", BETWEEN, [\(numbers.lowerBound), \(numbers.upperBound)])")
        }
        _ = try DoorAnswer(.success(try loop.call(filter))).get()
    }

    /// Makes a broadcast channel.
    ///
    /// - Returns: its id.
    func createChannel() throws(CommandFailure) -> String {
        let answer = try loop.call(door.channelRequest())
        let root = (try? JSONDocument(answer.body))?.root
        guard answer.status == 201 || answer.status == 200, let channel = root?["channel"]?.string else {
            throw CommandFailure(.data, "no channel: HTTP \(answer.status)")
        }
        return channel
    }

    /// Starts one activity on all phones by a filter and waits until all have its token.
    func startAll(_ count: Int) throws(CommandFailure) {
        try createFilter()
        _ = try DoorAnswer(.success(try loop.call(door.request(Self.start(activity(0), .filter(name))))))
            .get()
        try waitActive(count)
    }

    /// The start of an activity, with a number in its content state.
    static func start(
        _ activity: String, _ audience: LiveActivityCall.Audience, number: Int = -1
    ) -> LiveActivityCall {
        var call = LiveActivityCall(.start, activity: activity, state: state(number))
        call.audience = audience
        call.attributesType = TrialSetup.attributesType
        call.attributes = JSONWriter.object { $0.member("activityId", activity) }
        call.title = "Your order"
        call.content = "We are preparing it"
        return call
    }

    /// A content state with a number by which its arrival is known, as large as usual ones.
    static func state(_ number: Int) -> [UInt8] {
        JSONWriter.object {
            $0.member("n", number)
            $0.member("status", "on its way to you")
            $0.member("estimatedTime", "\(5 + abs(number) % 40) min")
            $0.member("driver", "Ada Lovelace, white van, 3 stops before yours")
            $0.member("emoji", "\u{1F69A}")
        }
    }

    private func waitActive(_ count: Int) throws(CommandFailure) {
        let before = try registrations()
        try wait("activities become active", for: count) { () throws(CommandFailure) in
            let now = try registrations()
            try Self.check(now, since: before)
            let path = "/phones?prefix=\(URLText.segment(prefix))"
            let phones = try SimulatorControl.read(try loop.call(control.get(path)))
            let active = phones["withToken"]?.int64.map { Int($0) } ?? 0
            return now.open == 0 ? active : min(active, count - 1)
        }
    }

    private func wait(
        _ what: String, for count: Int, reached: () throws(CommandFailure) -> Int
    ) throws(CommandFailure) {
        let end = MonotonicClock.nowMilliseconds() + Self.phaseMilliseconds
        var now = try reached()
        while now < count {
            guard MonotonicClock.nowMilliseconds() < end else {
                throw CommandFailure(
                    .temporary, "\(what): \(now) of \(count) after \(Self.phaseMilliseconds / 1_000) s")
            }
            progress.show("\(what): \(Numbers.grouped(now)) of \(Numbers.grouped(count))")
            try loop.run(forMilliseconds: Self.pollMilliseconds)
            now = try reached()
        }
        progress.say("\(what): \(Numbers.grouped(count))")
    }
}
