import Contracts
import Service

/// What may go, goes: by turns of the applications, as far as the gateways have room.
extension RateLimiter {
    /// How many pushes of one queue go before the next queue has its turn.
    static let pushesPerRound = 100
    /// How long a repeat keeps the bytes of the first attempt, in seconds.
    static let repeatSeconds: Int64 = 30

    mutating func turn(_ room: Room, at now: Moment) -> [Effect<Never>] {
        paces.prune(at: now.wall)
        givenBack.prune(at: now.wall)
        var effects = giveBackOverdue(at: now)
        if haveChanged(gateways(in: room)) || ready.count > waitingTargets.count * 2 + ReadyQueues.goneMax {
            requeue(room)
        }
        for id in waitingTargets.takeOpened(at: now.wall) { queue(id, room) }
        effects += handOver(room, at: now)
        return effects
    }

    /// The gateways among which devices are shared out; none while they are not settled.
    private func gateways(in room: Room) -> [InstanceName] {
        room.settledServices.contains(.apnsGateway) ? room.instances(of: .apnsGateway) : []
    }

    private mutating func haveChanged(_ gateways: [InstanceName]) -> Bool {
        defer { lastGateways = gateways }
        return lastGateways != gateways
    }

    /// Queues all whose slot is open anew.
    private mutating func requeue(_ room: Room) {
        ready = ReadyQueues(after: ready)
        for id in waitingTargets.opened { queue(id, room) }
    }

    /// Queues a target; one that no gateway is there for is queued when there is one.
    private mutating func queue(_ id: PushID, _ room: Room) {
        guard let entry = waitingTargets[id],
            let gateway = room.owner(ofDevice: id.device, in: .apnsGateway)
        else { return }
        ready.add(id, .init(account: account(entry), gateway: gateway))
    }

    private func account(_ entry: WaitingTargets.Entry) -> String {
        "\(entry.content.application) \(entry.target.environment.rawValue)"
    }

    private mutating func handOver(_ room: Room, at now: Moment) -> [Effect<Never>] {
        var room = room
        var groups = PushGroups()
        var left = RateLimiter.pushesPerTurnMax
        var progress = true
        while progress, left > 0 {
            progress = false
            for key in ready.keysInTurn() {
                let gateway = key.gateway
                let free = room.free(.pushes, at: gateway, account: key.account)
                let ids = ready.take(min(free, RateLimiter.pushesPerRound, left), from: key)
                guard !ids.isEmpty else { continue }
                progress = true
                left -= ids.count
                room.take(ids.count, .pushes, at: gateway, account: key.account)
                for id in ids { open(id, gateway, &groups, at: now) }
            }
        }
        return groups.messages.map { .send(.pushes($0.pushes), to: .instance($0.gateway)) }
    }

    private mutating func open(
        _ id: PushID, _ gateway: InstanceName, _ groups: inout PushGroups, at now: Moment
    ) {
        // What was replaced or given back since it was queued is not there any more.
        guard let entry = waitingTargets[id], entry.isReady else { return }
        waitingTargets.remove(id)
        let target = entry.target
        let seconds = wireSeconds(target, entry.content, at: now)
        underway[id] = Underway(
            target: target, content: entry.content, gateway: gateway, wireSeconds: seconds)
        groups.add(Push(target, timestampSeconds: seconds), entry.content, gateway)
    }

    private func wireSeconds(_ target: Target, _ content: Content, at now: Moment) -> Int64 {
        if let first = target.wireTimestampSeconds, now.wallSeconds - first <= RateLimiter.repeatSeconds {
            return first
        }
        return paces.pace(of: target).wireSeconds(
            callerSeconds: content.notification.timestampSeconds, nowSeconds: now.wallSeconds)
    }
}

/// Pushes on their way to gateways, those of one content and gateway together.
struct PushGroups {
    private struct Key: Hashable {
        var content: ObjectIdentifier
        var gateway: InstanceName
    }

    private(set) var messages: [(gateway: InstanceName, pushes: Pushes)] = []
    private var places: [Key: Int] = [:]
    private var contents: [Content] = []

    /// The most pushes one message carries.
    static let pushesMax = 500

    mutating func add(_ push: Push, _ content: Content, _ gateway: InstanceName) {
        let key = Key(content: ObjectIdentifier(content), gateway: gateway)
        if let place = places[key], messages[place].pushes.pushes.count < PushGroups.pushesMax {
            messages[place].pushes.pushes.append(push)
            return
        }
        places[key] = messages.count
        // Held so that no other content gets the same identifier meanwhile.
        contents.append(content)
        messages.append(
            (
                gateway,
                Pushes(
                    application: content.application, notification: content.notification, pushes: [push],
                    payload: content.payload)
            ))
    }
}
