import Contracts
import Foundation

@testable import ingest

/// An activity that is bound to a channel: most phones listen, those on iOS 17 are served by token.
final class ChannelStory {
    static let channel = "dHN0LXNyY2gtY2hubA=="
    private static let seconds = 120
    private static let activity = "match-1"

    let world: World
    private(set) var phones: [(hwid: String, listens: Bool)] = []
    private(set) var codes: [String] = []
    private(set) var unsettled: Set<String> = []
    private var introduced: Set<String> = []
    private var isStarted = false
    private var hasEnded = false
    private var updatesAtOnce = false
    private var tried = 0
    /// The newest state that the door has accepted.
    private(set) var newest = 0

    init(_ world: World) { self.world = world }

    /// Plans everything; it happens while time passes.
    func plan() {
        for number in 1...world.random.number(2...8) { introduce("phone-\(number)") }
        at(5...20) { self.start() }
        for _ in 1...world.random.number(2...25) { at(6...Self.seconds) { self.update() } }
        // As soon as it is started, while its starts are out.
        updatesAtOnce = world.random.happens(0.5)
        if world.random.happens(0.5) { at((Self.seconds - 30)...Self.seconds) { self.end() } }
    }

    private func introduce(_ hwid: String) {
        let listens = world.random.happens(0.7)
        phones.append((hwid, listens))
        let token = world.phones.add(hwid)
        let profile: [String: Any] = [
            "hwid": hwid, "device_type": 1, "os_version": listens ? "18.1" : "17.5",
            "push_token": "ab\(token)",
        ]
        world.tell(.init(method: "registerDevice", request: profile), phone: hwid)
        let startToken: [String: Any] = ["hwid": hwid, "activity_push_to_start_token": token]
        world.tell(
            World.PhoneCall(method: "setActivityPushToStartToken", request: startToken, token: token) {
                [unowned self] in introduced.insert(hwid)
            }, phone: hwid)
    }

    private func at(_ seconds: ClosedRange<Int>, _ act: @escaping () -> Void) {
        world.plan(
            .act(act),
            inMilliseconds: Int64(
                world.random.number((seconds.lowerBound * 1000)...(seconds.upperBound * 1000))))
    }

    private func start() {
        guard introduced.count == phones.count else {
            return world.plan(.act { self.start() }, inMilliseconds: 1_000)
        }
        call(
            "startLiveActivity",
            [
                "content": "Kick-off", "title": "Match", "live_activity_id": Self.activity,
                "channel": Self.channel, "devices": phones.map(\.hwid),
                "live_activity": [
                    "event": "start", "content-state": ["n": 0], "attributes-type": "Match",
                    "attributes": ["activity": Self.activity],
                ],
            ]
        ) {
            self.isStarted = true
            if self.updatesAtOnce { self.update() }
        } refused: {
            self.world.plan(.act { self.start() }, inMilliseconds: 2_000)
        }
    }

    private func update() {
        guard isStarted, !hasEnded else { return }
        tried += 1
        let n = tried
        call("updateLiveActivity", state("update", n)) { self.newest = max(self.newest, n) }
    }

    private func end() {
        guard isStarted, !hasEnded else { return }
        hasEnded = true
        tried += 1
        let n = tried
        call("updateLiveActivity", state("end", n)) {
            self.newest = max(self.newest, n)
        } refused: {
            self.hasEnded = false
        }
    }

    private func state(_ event: String, _ n: Int) -> [String: Any] {
        ["live_activity_id": Self.activity, "live_activity": ["event": event, "content-state": ["n": n]]]
    }

    private func call(
        _ method: String, _ notification: [String: Any], accepted: @escaping () -> Void,
        refused: @escaping () -> Void = {}
    ) {
        world.pushwoosh(method, ["auth": "k-test", "notifications": [notification]]) { status, response in
            guard status == 200, let code = (response["Messages"] as? [String])?.first else {
                return refused()
            }
            self.codes.append(code)
            self.unsettled.insert(code)
            accepted()
        }
    }

    /// Asks the door what has become of the accepted messages.
    func ask() {
        for code in codes {
            world.state(of: code) { state in
                if state["state"] as? String == "settled" {
                    self.unsettled.remove(code)
                } else {
                    self.unsettled.insert(code)
                }
            }
        }
    }

    /// How many pushes went to the channel.
    var broadcasts: Int {
        world.phones.arrivals.of(.init(hwid: "", activity: Self.channel)).count
    }

    // MARK: What must hold when the world has been kind for long enough

    func breaches() -> [String] {
        var breaches = world.phones.violations
        if !unsettled.isEmpty {
            breaches.append("\(unsettled.count) of \(codes.count) messages are not settled")
        }
        for process in world.processes where process.keptCount > 0 {
            breaches.append("\(process.instance) keeps \(process.keptCount) that nobody answers")
        }
        if newest > 0, broadcasts == 0 { breaches.append("nothing was broadcast") }
        for (hwid, listens) in phones where isStarted { breaches += unfinished(hwid, listens) }
        return breaches
    }

    private func unfinished(_ hwid: String, _ listens: Bool) -> [String] {
        guard let shown = world.phones.shown[hwid]?[Self.activity] else {
            return hasEnded ? [] : ["it was never started on \(hwid)"]
        }
        var breaches: [String] = []
        if (shown.channel != nil) != listens { breaches.append("\(hwid) listens: \(shown.channel != nil)") }
        // What was accepted and not answered may be newer.
        if shown.n.last ?? -1 < newest { breaches.append("\(hwid) shows \(shown.n), newest is \(newest)") }
        if hasEnded, newest == tried, !shown.ended { breaches.append("\(hwid) goes on after the end") }
        return breaches
    }
}
