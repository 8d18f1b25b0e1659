import Contracts
import Foundation

@testable import ingest

/// What servers and phones do in one simulation: activities begin, change and end, tokens rotate.
final class Story {
    /// One activity and what was told to the door about it.
    final class Activity {
        let name: String
        let devices: [String]
        /// Whether its start names a filter, not devices.
        let isForAll: Bool
        /// Those among them that the door knew before it was asked to start.
        var reachable: [String]?
        var accepted: [Int: String] = [:]
        /// The states that were taken back; 0 is the start.
        var cancelled: Set<Int> = []
        var startAccepted = false
        var endAccepted: Int?
        var highestTried = 0

        init(name: String, devices: [String], isForAll: Bool) {
            self.name = name
            self.devices = devices
            self.isForAll = isForAll
        }
    }

    let world: World
    private(set) var activities: [Activity] = []
    private(set) var codes: [String] = []
    private(set) var unsettled: Set<String> = []
    /// How many deliveries of each message ended how, as the door says.
    private(set) var outcomes: [String: [String: Int]] = [:]
    private(set) var refused: [String] = []
    private var introduced: Set<String> = []
    private let seconds = 120

    init(_ world: World) { self.world = world }

    /// Plans everything; it happens while time passes.
    func plan() {
        let devices = (1...world.random.number(3...10)).map { "phone-\($0)" }
        for device in devices { introduce(device) }
        world.pushwoosh(
            "createFilter",
            ["auth": "k-test", "name": "all", "conditions": [["kind", "EQ", "phone"]], "operator": "AND"])
        if world.random.happens(0.3) { at(20...90) { self.pause() } }
        for number in 1...world.random.number(2...6) {
            let chosen =
                world.random.happens(0.4) ? devices : devices.filter { _ in world.random.happens(0.5) }
            live(
                Activity(
                    name: "act-\(number)", devices: chosen.isEmpty ? [devices[0]] : chosen,
                    isForAll: chosen == devices))
        }
    }

    private func introduce(_ device: String) {
        let token = world.phones.add(device)
        let profile: [String: Any] = [
            "hwid": device, "device_type": 1, "os_version": "18.0", "push_token": "ab\(token)",
            "tags": ["kind": "phone"],
        ]
        world.tell(.init(method: "registerDevice", request: profile), phone: device)
        let startToken: [String: Any] = ["hwid": device, "activity_push_to_start_token": token]
        let call = World.PhoneCall(
            method: "setActivityPushToStartToken", request: startToken, token: token
        ) { [unowned self] in introduced.insert(device) }
        world.tell(call, phone: device)
    }

    private func live(_ activity: Activity) {
        activities.append(activity)
        at(5...20) { self.start(activity) }
        let updates = world.random.number(1...25)
        for _ in 1...updates { at(8...seconds) { self.burst(activity) } }
        for _ in 0...world.random.number(0...3) { at(20...seconds) { self.rotate(activity) } }
        if world.random.happens(0.5) { at((seconds - 20)...seconds) { self.end(activity) } }
        if world.random.happens(0.05) { at(5...30) { self.cancel(activity, 0) } }
    }

    private func at(_ seconds: ClosedRange<Int>, _ act: @escaping () -> Void) {
        world.plan(
            .act(act),
            inMilliseconds: Int64(
                world.random.number((seconds.lowerBound * 1000)...(seconds.upperBound * 1000))))
    }

    private func start(_ activity: Activity) {
        activity.reachable = activity.reachable ?? activity.devices.filter(introduced.contains)
        var notification: [String: Any] = [
            "content": "Cooking", "title": activity.name, "live_activity_id": activity.name,
            "live_activity": [
                "event": "start", "content-state": ["n": 0], "attributes-type": "Order",
                "attributes": ["activity": activity.name],
            ],
        ]
        if activity.isForAll {
            notification["filter"] = "all"
        } else {
            notification["devices"] = activity.devices
        }
        call("startLiveActivity", notification) { code in
            activity.startAccepted = true
            activity.accepted[0] = code
        } refused: {
            guard !activity.startAccepted, self.world.faults.kill > 0 || self.world.faults.drop > 0 else {
                return
            }
            self.world.plan(.act { self.start(activity) }, inMilliseconds: 2_000)
        }
    }

    /// An update, now and then with others close behind.
    private func burst(_ activity: Activity) {
        update(activity)
        while world.random.happens(0.2) {
            world.plan(.act { self.update(activity) }, inMilliseconds: Int64(world.random.number(1...500)))
        }
    }

    private func update(_ activity: Activity) {
        guard activity.endAccepted == nil else { return }
        activity.highestTried += 1
        let n = activity.highestTried
        call("updateLiveActivity", state(activity, "update", n)) { activity.accepted[n] = $0 }
        if world.random.happens(0.05) {
            world.plan(
                .act { self.cancel(activity, n) }, inMilliseconds: Int64(world.random.number(1...15_000)))
        }
        // A token that dies while a push is on its way to it.
        guard world.random.happens(0.1) else { return }
        world.plan(.act { self.rotate(activity) }, inMilliseconds: Int64(world.random.number(1...100)))
    }

    private func end(_ activity: Activity) {
        activity.highestTried += 1
        let n = activity.highestTried
        call("updateLiveActivity", state(activity, "end", n)) { code in
            activity.accepted[n] = code
            activity.endAccepted = n
        }
    }

    private func state(_ activity: Activity, _ event: String, _ n: Int) -> [String: Any] {
        ["live_activity_id": activity.name, "live_activity": ["event": event, "content-state": ["n": n]]]
    }

    private func rotate(_ activity: Activity) {
        guard let hwid = world.random.pick(activity.devices),
            world.phones.shown[hwid]?[activity.name]?.token != nil
        else { return }
        world.rotate(hwid, activity.name)
    }

    private func call(
        _ method: String, _ notification: [String: Any], accepted: @escaping (String) -> Void,
        refused: @escaping () -> Void = {}
    ) {
        world.pushwoosh(method, ["auth": "k-test", "notifications": [notification]]) { status, response in
            guard status == 200, let code = (response["Messages"] as? [String])?.first else {
                self.refused.append("\(method) \(status)")
                return refused()
            }
            self.codes.append(code)
            self.unsettled.insert(code)
            accepted(code)
        }
    }

    /// Asks the door what has become of the accepted messages, also of those that were settled before.
    func ask() {
        for code in codes {
            world.state(of: code) { state in
                self.outcomes[code] = state["outcomes"] as? [String: Int]
                if state["state"] as? String == "settled" {
                    self.unsettled.remove(code)
                } else {
                    self.unsettled.insert(code)
                }
            }
        }
    }
}
