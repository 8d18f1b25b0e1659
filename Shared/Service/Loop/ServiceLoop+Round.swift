import Bus
import Contracts
import Store
import Telemetry
import Web

extension ServiceLoop {
    /// Waits for something to do and does it.
    ///
    /// - Parameter watched: descriptors whose readiness ends the wait.
    /// - Throws: `ServiceFailure` if the instance has lost its place on the bus, or its store is damaged.
    func round(watching watched: [CInt] = []) throws(ServiceFailure) {
        wait(watched)
        let now = clock()
        try tick(now)
        admin?.pollable?.process(nowMilliseconds: now.monotonic)
        inbox.events += adapter.process(nowMilliseconds: now.monotonic)
        if recovery.isWaiting(nowMilliseconds: now.monotonic) { return idle(now) }
        takeIn(now)
        hasReadAll = isStopping && !isBehind
        transact(clock())
        try requireSoundStore()
        greet()
    }

    /// The lanes that are read: all, but none while the store fails, and no work while the process is stopping.
    private func lanes(_ now: Moment) -> [Lane] {
        if recovery.isWaiting(nowMilliseconds: now.monotonic) { return [] }
        return isStopping ? [.answers] : [.answers, .work]
    }

    private func wait(_ watched: [CInt]) {
        let now = clock()
        var deadlines = [nextTickMilliseconds, stopByMilliseconds, recovery.untilMilliseconds]
        deadlines += [admin?.pollable?.nextDeadlineMilliseconds, adapter.nextDeadlineMilliseconds]
        var timeout = (deadlines.compactMap { $0 }.min() ?? now.monotonic).subtractingClamped(now.monotonic)
        if !recovery.isWaiting(nowMilliseconds: now.monotonic) {
            timeout = isBehind || owesTurn ? 0 : min(timeout, node.nextTurnMilliseconds(after: now))
        }
        bus.poll(
            lanes(now), watched + [admin?.pollable?.descriptor ?? -1] + adapter.descriptors,
            timeoutMilliseconds: max(0, timeout))
    }

    /// What is to be done each second, and more often at first.
    private func tick(_ now: Moment) throws(ServiceFailure) {
        guard now.monotonic >= nextTickMilliseconds else { return }
        ticks += 1
        let isYoung = ticks < limits.youngTicks
        nextTickMilliseconds =
            now.monotonic + (isYoung ? limits.youngTickMilliseconds : limits.tickMilliseconds)
        try requirePlaces()
        do {
            try bus.discover(nowMilliseconds: now.monotonic)
        } catch {
            throw ServiceFailure(.unavailable, "run-directory", error.description)
        }
        let ended = bus.takeEndedConnections()
        guard ended > 0 else { return }
        counters.connectionsEnded(ended)
        context.logger.info(
            "connections-ended", ["connections": ended, "frame_bytes_max": bus.limits.frameBytesMax])
    }

    /// Makes sure that others can still reach this process, and that nobody can take what it has locked.
    private func requirePlaces() throws(ServiceFailure) {
        try admin?.requirePlace()
        for lock in locks where !lock.isHeld { throw .placeLost(lock.path) }
        guard !bus.ownsItsSockets else { return }
        let paths = Lane.allCases.map { bus.endpoint.path($0) }
        throw .placeLost(paths.first { FileIdentity(at: $0) == nil } ?? bus.endpoint.path(.work))
    }

    // MARK: Taking in

    /// Takes in what waits on the lanes, as much as fits a round.
    ///
    /// Nothing more while a transaction fails: what is held for its next try would grow with each. Neighbours keep what
    /// they send meanwhile, and none counts as silent although its hellos are not read.
    private func takeIn(_ now: Moment) {
        isBehind = recovery.isWaiting || readLanes(now)
        if !isBehind || recovery.isWaiting { drainedAtMilliseconds = now.monotonic }
    }

    /// Takes in what waits on the lanes, answers first.
    ///
    /// - Returns: whether something may be left.
    private func readLanes(_ now: Moment) -> Bool {
        var isBehind = false
        for lane in lanes(now) where !readLane(lane, now) { isBehind = true }
        return isBehind
    }

    private func readLane(_ lane: Lane, _ now: Moment) -> Bool {
        let end = clock().monotonic + limits.laneMilliseconds
        var count = 0
        while count < limits.laneMessagesMax, clock().monotonic <= end {
            switch bus.receive(lane) {
            case .nothing: return true
            case .dropped(let fault, let size): drop(fault.rawValue, size, lane, now)
            case .message(let frames): count += take(frames, lane, now)
            }
        }
        return false
    }

    private func take(_ frames: [[UInt8]], _ lane: Lane, _ now: Moment) -> Int {
        do {
            let parcel = try coder.parcel(frames)
            guard C.service.neighbours.contains(parcel.envelope.from.instance.service) else {
                drop(BadMessage.unexpectedSender, frames.byteCount, lane, now)
                return 1
            }
            counters.received(parcel.envelope.type, parcel.messages.count)
            inbox.parcels.append(parcel)
            return parcel.messages.count
        } catch {
            drop(BadMessage.notAMessage, error.byteCount, lane, now, error.problem)
            return 1
        }
    }

    private func drop(_ kind: String, _ byteCount: Int, _ lane: Lane, _ now: Moment, _ problem: String? = nil)
    {
        counters.bad(kind)
        guard let heldBack = badMessages.pass(kind, nowMilliseconds: now.monotonic) else { return }
        if heldBack > 0 { context.logger.warning("messages-dropped", ["kind": kind, "more": heldBack]) }
        context.logger.warning(
            "message-dropped",
            ["kind": kind, "lane": lane.rawValue, "bytes": byteCount, "problem": problem ?? kind])
    }

    // MARK: Deciding

    /// Has the core decide on what was taken in, commits, and does what was decided.
    func transact(_ now: Moment) {
        guard isDue(now) else { return }
        do {
            try store.begin()
        } catch {
            return waited(error, now)
        }
        do {
            try decide(now)
            try store.commit()
        } catch {
            return failed(error, now)
        }
        inbox = Inbox()
        owesTurn = false
        recovered()
        hasBegun()
        perform(node.commit(at: now), now)
    }

    private func isDue(_ now: Moment) -> Bool {
        owesTurn || !inbox.isEmpty || node.isAbandoned || recovery.isWaiting
            || node.nextTurnMilliseconds(after: now) == 0
    }

    private func decide(_ now: Moment) throws(StoreError) {
        if node.isAbandoned { try node.restart(makeCore(context), at: now, in: &store) }
        for parcel in inbox.parcels { try node.receive(parcel, at: now, in: &store) }
        for event in inbox.events { try node.receive(event, at: now, in: &store) }
        try node.turn(drained: isDrained(now), at: now, in: &store)
    }

    /// Whether all that a former life of a neighbour had sent has been taken in.
    private func isDrained(_ now: Moment) -> Bool {
        guard isBehind, let drainedAt = drainedAtMilliseconds else { return true }
        return now.monotonic - drainedAt >= limits.behindMillisecondsMax
    }
}

extension [[UInt8]] {
    var byteCount: Int { reduce(0) { $0 + $1.count } }
}

extension Int64 {
    fileprivate func subtractingClamped(_ other: Int64) -> Int64 {
        let (difference, overflow) = subtractingReportingOverflow(other)
        return overflow ? 0 : Swift.max(0, difference)
    }
}
