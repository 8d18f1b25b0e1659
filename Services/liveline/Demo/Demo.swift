import Contracts
import JSON
import Service
import Web

/// The story of `liveline demo`: three phones, one activity, told through the HTTP door alone.
struct Demo {
    /// How long each step may take, ms.
    private static let stepMilliseconds: Int64 = 30_000
    private static let pollMilliseconds: Int64 = 50
    private static let activity = "order-4711"
    private static let filter = "vip"
    private static let phones = ["ada", "grace", "katherine"]
    /// The one whose token changes.
    private static let rotating = "grace"
    private static let states = ["preparing", "on the way", "at the door", "delivered"]
    private static let verdicts = ["started", "updated", "updated", "ended"]

    let door: Door
    let control: SimulatorControl
    let loop: CallLoop
    let console: Console

    /// Tells it.
    ///
    /// - Returns: whether each phone showed what it should.
    /// - Throws: `CommandFailure` if a call is refused or a step takes too long.
    func run() throws(CommandFailure) -> Verdict {
        for name in Self.phones { try createPhone(name) }
        try wait("the phones to register") { () throws(CommandFailure) in
            let counters = try ask("/counters")["registrations"]
            return counters?["accepted"]?.int64 == Int64(2 * Self.phones.count)
        }
        try createFilter()
        var codes = try send(startCall())
        try waitForStep(0)
        codes += try send(LiveActivityCall(.update, activity: Self.activity, state: Self.state(1)))
        try waitForStep(1)
        try rotate()
        codes += try send(LiveActivityCall(.update, activity: Self.activity, state: Self.state(2)))
        try waitForStep(2)
        codes += try send(LiveActivityCall(.end, activity: Self.activity, state: Self.state(3)))
        try waitForStep(3)
        return try verify(codes)
    }

    private static func state(_ step: Int) -> [UInt8] {
        JSONWriter.object { $0.member("status", states[step]) }
    }

    // MARK: Calls

    private func createPhone(_ name: String) throws(CommandFailure) {
        let request = control.post("/phones") { phone in
            phone.member("hwid", name)
            phone.member("application", door.application)
            phone.member("bundleId", TrialSetup.bundleID)
            phone.member("deviceToken", TrialSetup.deviceToken)
            phone.member("attributesTypes", [TrialSetup.attributesType])
            phone.object("tags") {
                $0.member("level", Self.filter)
                $0.member("city", "Paris")
            }
        }
        _ = try SimulatorControl.read(try loop.call(request))
        console.say("phone \(name): registers, with tags level=\(Self.filter) and city=Paris")
    }

    private func createFilter() throws(CommandFailure) {
        let request = door.request("createFilter") { filter in
            filter.member("name", Self.filter)
            filter.array("conditions") {
                $0.element(["level", "EQ", Self.filter])
                $0.element(["city", "EQ", "Paris"])
            }
            filter.member("operator", "AND")
        }
        _ = try DoorAnswer(.success(try loop.call(request))).get()
        console.say("createFilter \(Self.filter): level is \(Self.filter) and city is Paris")
    }

    private func startCall() -> LiveActivityCall {
        var call = LiveActivityCall(.start, activity: Self.activity, state: Self.state(0))
        call.audience = .filter(Self.filter)
        call.attributesType = TrialSetup.attributesType
        call.attributes = JSONWriter.object { $0.member("activityId", Self.activity) }
        call.title = "Your order"
        call.content = "We are preparing it"
        return call
    }

    private func send(_ call: LiveActivityCall) throws(CommandFailure) -> [String] {
        let codes = try DoorAnswer(.success(try loop.call(door.request(call)))).get()
        let state = String(decoding: call.state, as: UTF8.self)
        let names = codes.joined(separator: ", ")
        console.say("\(call.method) \(call.event.rawValue) \(Self.activity) \(state): \(names)")
        return codes
    }

    private func rotate() throws(CommandFailure) {
        let before = try ask("/counters")["registrations"]?["accepted"]?.int64 ?? 0
        let former = try phone(Self.rotating).activities.first?.token
        let path = "\(SimulatorControl.phone(Self.rotating))/rotate"
        let request = control.post(path) { $0.member("activity", Self.activity) }
        _ = try SimulatorControl.read(try loop.call(request))
        try wait("the new token to be registered") { () throws(CommandFailure) in
            let accepted = try ask("/counters")["registrations"]?["accepted"]?.int64 ?? 0
            let token = try phone(Self.rotating).activities.first?.token
            return accepted > before && token != former
        }
        console.say("phone \(Self.rotating): its activity gets a new token")
    }

    // MARK: What phones show

    private func ask(_ path: String) throws(CommandFailure) -> JSONValue {
        try SimulatorControl.read(try loop.call(control.get(path)))
    }

    private func phone(_ name: String) throws(CommandFailure) -> PhoneView {
        guard let phone = PhoneView(try ask(SimulatorControl.phone(name))) else {
            throw CommandFailure(.data, "the simulator's answer is no phone")
        }
        return phone
    }

    /// Waits until every phone shows the state of a step, and has a token for the next one.
    private func waitForStep(_ step: Int) throws(CommandFailure) {
        let expected = String(decoding: Self.state(step), as: UTF8.self)
        try wait("all phones to show \(expected)") { () throws(CommandFailure) in
            for name in Self.phones {
                guard let activity = try phone(name).activities.first else { return false }
                guard activity.shown == expected else { return false }
                guard activity.token != nil || step == Self.states.count - 1 else { return false }
            }
            return try ask("/counters")["registrations"]?["underWay"]?.int64 == 0
        }
    }

    private func verify(_ codes: [String]) throws(CommandFailure) -> Verdict {
        var isGood = true
        console.say("")
        for code in codes {
            let status = try settled(code)
            console.say("\(code) is \(status.text)")
            isGood = isGood && status.counts.delivered == Self.phones.count
        }
        for name in Self.phones {
            let seen = try phone(name).history
            console.say("\n\(name) showed")
            for event in seen { console.say("  \(event.reason ?? event.verdict)  \(event.state)") }
            let expected = Self.states.indices.map { String(decoding: Self.state($0), as: UTF8.self) }
            let isRight = seen.map(\.verdict) == Self.verdicts && seen.map(\.state) == expected
            if !isRight { console.say("  this is not: started, updated twice, ended") }
            isGood = isGood && isRight
        }
        console.say(
            isGood ? "\neach phone was started by the filter, updated twice and ended" : "\nthe demo failed")
        return isGood ? .good : .bad
    }

    private func settled(_ code: String) throws(CommandFailure) -> MessageStatus {
        var status: MessageStatus?
        try wait("\(code) to be settled") { () throws(CommandFailure) in
            status = MessageStatus(try loop.call(door.statusRequest(code)).body)
            return status?.isSettled ?? false
        }
        guard let status else { throw CommandFailure(.data, "\(code): the door's answer is no status") }
        return status
    }

    private func wait(
        _ what: String, until holds: () throws(CommandFailure) -> Bool
    ) throws(CommandFailure) {
        let end = MonotonicClock.nowMilliseconds() + Self.stepMilliseconds
        while try !holds() {
            guard MonotonicClock.nowMilliseconds() < end else {
                throw CommandFailure(.temporary, "waited \(Self.stepMilliseconds / 1_000) s for \(what)")
            }
            try loop.run(forMilliseconds: Self.pollMilliseconds)
        }
    }
}
