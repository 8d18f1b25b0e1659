import Contracts
import Foundation
import Service

@testable import apns_gateway
@testable import ingest
@testable import token_registry

/// Time passes: what is due happens, and each process that has something to do makes a round.
extension World {
    /// Lets time pass until a condition holds or so many seconds are over.
    ///
    /// - Returns: whether the condition holds.
    @discardableResult
    func run(seconds: Double, until isDone: () -> Bool = { false }) throws -> Bool {
        let end = now.monotonic + Int64(seconds * 1000)
        while now.monotonic < end {
            try happen()
            for process in processes where process.isAlive && isDue(process) { try round(of: process) }
            if isDone() { return true }
            advance(to: end)
        }
        return isDone()
    }

    /// Sets the clock of the host, as an operator or a time server does; waiting goes on by the monotonic one.
    func setClock(secondsLater seconds: Int64) {
        trace("CLOCK \(seconds) s")
        now.wall += seconds * 1000
    }

    /// Plans so many times at which the clock is set, forward or back; in the end it is right, or half an hour behind.
    func planClock(steps: Int) {
        guard steps > 0 else { return }
        var ahead: Int64 = 0
        var at = 5_000
        for step in 1...steps {
            let end: Int64 = random.happens(0.5) ? 0 : -1_800
            let next: Int64 = step == steps ? end : Int64(random.number(-100...100))
            let change = next - ahead
            ahead = next
            at += random.number(1_000...20_000)
            plan(.act { [unowned self] in setClock(secondsLater: change) }, inMilliseconds: Int64(at))
        }
    }

    private func isDue(_ process: any SimulatedProcess) -> Bool {
        process.hasInput || process.dueAt.map { $0 <= now.monotonic } ?? false
    }

    private func advance(to end: Int64) {
        guard !processes.contains(where: { $0.isAlive && isDue($0) }) else {
            // A round takes its time, so that a core that asks for turn after turn cannot stop the clock.
            now = now.advanced(byMilliseconds: 1)
            return
        }
        let dues = processes.compactMap(\.dueAt)
        let next = min(end, dues.min() ?? end, agenda.nextAt ?? end)
        now = now.advanced(byMilliseconds: max(1, next - now.monotonic))
    }

    private func happen() throws {
        for happening in agenda.takeDue(at: now.monotonic) {
            switch happening {
            case .arrival(let parcel, let instance): process(instance)?.deliver(parcel)
            case .apns(let event, let instance, let life):
                if lives[instance] == life { gateways[instance]?.deliver(event) }
            case .restart(let instance): if let process = process(instance) { try startProcess(process) }
            case .call(let call): send(call)
            case .act(let act): try act()
            }
        }
    }

    func process(_ instance: InstanceName) -> (any SimulatedProcess)? {
        processes.first { $0.instance == instance }
    }

    func startProcess(_ process: any SimulatedProcess) throws {
        lives[process.instance, default: 0] += 1
        trace("START \(process.instance)")
        try process.start(epoch: Int64(random.next() >> 11), at: now)
    }

    /// Lets the world become kind, and time pass until nothing is left to be done.
    func comeToRest(asking ask: () -> Void, until isSettled: () -> Bool) throws {
        faults = .none
        // Time for what is sent again after a minute, and for tokens that come late.
        for _ in 0..<40 {
            try run(seconds: 60)
            ask()
            try run(seconds: 2)
            // A report that is still kept may change an outcome.
            if isSettled(), processes.allSatisfy({ $0.keptCount == 0 }) { return }
        }
    }

    /// Drops what lies ahead, and the calls that nobody answers any more: they hold the story that made them, and it
    /// holds the world.
    func end() {
        agenda = Agenda()
        calls = [:]
        phoneCalls = [:]
    }

    private func round(of process: any SimulatedProcess) throws {
        let point = random.happens(faults.kill) ? random.pick(KillPoint.allCases) : nil
        let round = try process.round(at: now, kill: point, fail: point == nil ? failPoint(process) : nil)
        logs += round.logs.map {
            "\(process.instance) \($0.event) \($0.fields.map { "\($0.name)=\($0.value)" })"
        }
        if let hello = round.hello {
            let neighbours = process.instance.service.neighbours
            for other in processes where other.isAlive && neighbours.contains(other.instance.service) {
                carry(hello, from: process.instance, to: other.instance)
            }
        }
        for (instance, parcel) in round.parcels {
            traceSent(parcel, from: process.instance, to: instance)
            carry(parcel, from: process.instance, to: instance)
        }
        if point != nil { try died(process) }
    }

    private func failPoint(_ process: any SimulatedProcess) -> FailPoint? {
        guard faults.fail > 0, process.hasStore, random.happens(faults.fail) else { return nil }
        failures += 1
        trace("FAIL \(process.instance)")
        return random.happens(0.5) ? .committing : .taking(part: Double(random.number(0...10)) / 10)
    }

    private func died(_ process: any SimulatedProcess) throws {
        kills += 1
        trace("KILL \(process.instance)")
        lives[process.instance, default: 0] += 1
        process.kill()
        if process.instance.service == .apnsGateway { phones.died(process.instance, isKnown: isKnown) }
        if process.instance.service == .rateLimiter { phones.nobodyKnows { [unowned self] in !isKnown($0) } }
        plan(.restart(process.instance), inMilliseconds: Int64(random.number(50...8_000)))
    }

    /// Whether the registry knows how a push was answered.
    private func isKnown(_ arrival: Arrival) -> Bool {
        if arrival.status == 410 {
            let holders = try? registry.store.participants(World.application, token: arrival.token)
            return holders?.contains { $0.place.state == .live } == false
        }
        return (try? registry.store.delivery(arrival.push))?.state == .delivered
    }

    /// A report that is lost comes again after a minute; until then nobody knows who has its push.
    private func forget(_ parcel: Parcel, to: InstanceName) {
        guard to.service == .tokenRegistry else { return }
        let ids = parcel.messages.compactMap { message -> PushID? in
            if case .report(let report) = message { report.id } else { nil }
        }
        phones.nobodyKnows { ids.contains($0.push) }
    }

    /// Kills a process between two rounds; it starts again within seconds.
    func kill(_ instance: InstanceName) throws {
        guard let process = process(instance), process.isAlive else { return }
        try died(process)
    }

    func plan(_ happening: Happening, inMilliseconds delay: Int64) {
        agenda.add(happening, at: now.monotonic + max(delay, 0))
    }

    /// The network: in order and whole between two living instances, unless a fault says otherwise.
    private func carry(_ parcel: Parcel, from: InstanceName, to: InstanceName) {
        var parcel = parcel
        spoil(&parcel, from: from, to: to)
        guard !parcel.messages.isEmpty else { return }
        guard !random.happens(faults.drop) else {
            if parcel.envelope.type != .hello { trace("DROP \(from) > \(to) \(parcel.envelope.type)") }
            forget(parcel, to: to)
            return
        }
        let late = random.happens(faults.late)
        let delay = late ? Int64(random.number(5...2_000)) : 1
        plan(.arrival(parcel, to: to), inMilliseconds: delay)
        if random.happens(faults.double) {
            plan(.arrival(parcel, to: to), inMilliseconds: Int64(random.number(1...2_000)))
        }
    }

    /// Makes the planted mistake; what the receiver says of it in its own name arrives as if it had sent it.
    private func spoil(_ parcel: inout Parcel, from: InstanceName, to: InstanceName) {
        planted?.notice(parcel)
        guard let reports = planted?.spoil(&parcel, phones: phones, at: now),
            let answer = planted?.parcel(reports, from: to, at: now)
        else { return }
        plan(.arrival(answer, to: from), inMilliseconds: 1)
        plan(.arrival(answer, to: registry.instance), inMilliseconds: 1)
    }
}
