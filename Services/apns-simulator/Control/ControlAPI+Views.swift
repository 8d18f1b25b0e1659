import JSON

// MARK: - What phones show

extension ControlAPI {
    /// Content states listed in a summary.
    private static let statesMax = 20

    func phone(
        _ request: ControlRequest, _ simulator: inout Simulator, _ now: Int64
    ) throws(ControlFault) -> ControlReply {
        describe(try find(request.segments[1], simulator.fleet), &simulator.fleet, now)
    }

    func describe(_ phone: Int, _ fleet: inout PhoneFleet, _ now: Int64) -> ControlReply {
        for slot in fleet.slots(of: phone) { fleet.settle(slot, now) }
        return Self.reply { [fleet] writer in
            let group = fleet.group(of: phone)
            let model = fleet.phones[phone]
            writer.member("hwid", group.hardwareID(of: phone))
            writer.member("application", group.traits.application)
            writer.member("environment", group.traits.environment.rawValue)
            writer.member("osVersion", group.traits.system.text)
            writer.member("online", !model.flags.contains(.offline))
            writer.member("installed", !model.flags.contains(.uninstalled))
            writer.member("pushes", model.pushes)
            writer.member("duplicates", model.duplicates)
            writer.member("deviceToken", fleet.token(fleet.deviceToken(of: phone)))
            writer.array("startTokens") { Self.writeStartTokens(phone, fleet, &$0) }
            writer.array("activities") { Self.writeActivities(phone, fleet, now, &$0) }
            writer.array("history") { Self.writeHistory(model, fleet, &$0) }
        }
    }

    private static func writeStartTokens(_ phone: Int, _ fleet: PhoneFleet, _ writer: inout JSONWriter) {
        for start in fleet.startTokens(of: phone) {
            writer.object {
                $0.member("attributesType", start.type)
                $0.member("token", fleet.token(start.reference))
            }
        }
    }

    private static func writeActivities(
        _ phone: Int, _ fleet: PhoneFleet, _ now: Int64, _ writer: inout JSONWriter
    ) {
        for slot in fleet.slots(of: phone) {
            let activity = fleet.activities[slot]
            writer.object {
                $0.member("id", activity.id)
                $0.member("state", String(describing: activity.state))
                $0.member("visible", activity.isActive || now < activity.removedAtMilliseconds)
                $0.member("stale", activity.staleAtSeconds.map { $0 <= now / 1000 } ?? false)
                $0.member("attributesType", activity.attributesType)
                $0.member("timestamp", activity.timestampSeconds)
                $0.member("startedAtMilliseconds", activity.startedAtMilliseconds)
                $0.member("token", fleet.updateToken(of: slot).map(fleet.token))
                $0.member("registering", activity.isRegistering)
                $0.member("channel", activity.channel.isEmpty ? nil : activity.channel)
                write("contentState", activity.shown, &$0)
            }
        }
    }

    private static func writeHistory(_ model: Phone, _ fleet: PhoneFleet, _ writer: inout JSONWriter) {
        for entry in fleet.history.entries(from: model.lastEntry) {
            writer.object {
                $0.member("at", entry.atMilliseconds)
                $0.member("event", String(describing: entry.event))
                $0.member("activity", entry.activityID)
                $0.member("verdict", entry.verdict.name)
                if entry.verdict.name == "ignored" { $0.member("why", entry.verdict.reason) }
                write("contentState", entry.contentState, &$0)
            }
        }
    }

    /// Bytes that are JSON as they are, `null` for none, and as a string what the ring has cut.
    private static func write(_ name: String, _ state: [UInt8], _ writer: inout JSONWriter) {
        if state.isEmpty {
            writer.member(name, JSONNull())
        } else if (try? JSONDocument(state)) != nil {
            writer.member(name, JSONRaw(state))
        } else {
            writer.member(name, String(decoding: state, as: UTF8.self))
        }
    }

    // MARK: Many phones

    func summary(_ request: ControlRequest, _ simulator: inout Simulator, _ now: Int64) -> ControlReply {
        let prefix = request.query["prefix"] ?? ""
        var sums = PhoneSums()
        for group in simulator.fleet.groups where group.traits.prefix.hasPrefix(prefix) {
            for phone in group.firstPhone..<group.firstPhone + group.count {
                sums.add(phone, &simulator.fleet, now)
            }
        }
        return Self.reply { writer in
            writer.member("phones", sums.phones)
            writer.member("offline", sums.offline)
            writer.member("pushes", sums.pushes)
            writer.member("duplicates", sums.duplicates)
            writer.member("active", sums.active)
            writer.member("ended", sums.ended)
            writer.member("dismissed", sums.dismissed)
            writer.member("withToken", sums.withToken)
            writer.array("states") { sums.writeStates(limit: Self.statesMax, &$0) }
        }
    }
}

/// What many phones have in sum, and which content states their activities show.
private struct PhoneSums {
    var phones = 0
    var offline = 0
    var pushes = 0
    var duplicates = 0
    var active = 0
    var ended = 0
    var dismissed = 0
    var withToken = 0
    private var states: [[UInt8]: Int] = [:]

    mutating func add(_ phone: Int, _ fleet: inout PhoneFleet, _ now: Int64) {
        let model = fleet.phones[phone]
        phones += 1
        offline += model.flags.contains(.offline) ? 1 : 0
        pushes += Int(model.pushes)
        duplicates += Int(model.duplicates)
        for slot in fleet.slots(of: phone) {
            fleet.settle(slot, now)
            add(fleet.activities[slot])
        }
    }

    private mutating func add(_ activity: LiveActivity) {
        active += activity.isActive ? 1 : 0
        ended += activity.state == .ended ? 1 : 0
        dismissed += activity.state == .dismissed ? 1 : 0
        withToken += activity.hasToken ? 1 : 0
        states[activity.shown, default: 0] += 1
    }

    /// The most frequent states, then in the order of their bytes.
    func writeStates(limit: Int, _ writer: inout JSONWriter) {
        let sorted = states.sorted { one, other in
            one.value != other.value
                ? one.value > other.value : one.key.lexicographicallyPrecedes(other.key)
        }
        for (state, count) in sorted.prefix(limit) where !state.isEmpty {
            writer.object {
                $0.member("count", count)
                $0.member("contentState", JSONRaw(state))
            }
        }
    }
}
