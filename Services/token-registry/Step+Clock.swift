import Contracts
import Service
import Store

/// What the ledger waits for stands there by the wall clock, as it must outlive the process. When that clock is set,
/// what waits is moved with it, so that nothing goes too early and nothing waits for an hour that was taken back.
///
/// Left as they are: expirations, which callers fix, and whatever only ends something later than it might.
extension Step {
    /// Moves what waits if the clock was set since the last step.
    func followClock() throws(StoreError) {
        guard let step = memory.clockStep.notice(now) else { return }
        try moveWaits(by: step, former: now.wall - step)
    }

    /// Moves what a former life left, or a core that was given up, if the clock was set since.
    ///
    /// Where the host has begun anew it is moved if the clock is behind what it was then; by how much it is ahead nobody
    /// knows.
    func followClockOfFormerLife() throws(StoreError) {
        if let offset = try ledger.clockOffset() {
            let step = now.wall - now.monotonic - offset
            if abs(step) >= ClockStep.millisecondsMin { try moveWaits(by: step, former: now.wall - step) }
            return
        }
        guard let former = try ledger.clock() else { return }
        let step = now.wall - former
        if step <= -ClockStep.millisecondsMin { try moveWaits(by: step, former: former) }
    }

    /// Remembers the time for the next life.
    func keepClock() throws(StoreError) {
        if let kept = memory.clockKeptAt, now.monotonic - kept < limits.clockKeptEachMilliseconds { return }
        memory.clockKeptAt = now.monotonic
        try ledger.keep(clock: now)
    }

    /// Moves what waits by as many milliseconds as the clock was set; `former` is what it would show now.
    private func moveWaits(by step: Int64, former: Int64) throws(StoreError) {
        emit(.log(LogLine(.warning, "clock-set", [("milliseconds", "\(step)")])))
        try ledger.moveWaits(by: step, former: former)
        for gate in try ledger.gates() where memory.gates[gate.pause] != nil {
            memory.gates[gate.pause] = Gate(saved: gate)
        }
        memory.orphans = memory.orphans.map { ($0.at + step, $0.id, $0.attempt) }
        memory.resendThrough += memory.resendThrough == .min ? 0 : step
        // They lie elsewhere now; what was sent already is kept, and not sent twice.
        if memory.resendAfter != nil { memory.resendAfter = (.min, PushID(message: .min, device: .min)) }
        // Records that hold instants are read again.
        memory.runs.removeAll()
        for place in memory.rounds.queues.keys {
            memory.rounds.set(place, nextDue: try ledger.nextDue(place: place))
        }
        // In the same transaction, or a life that begins anew would move it all once more.
        memory.clockKeptAt = now.monotonic
        try ledger.keep(clock: now)
    }
}
