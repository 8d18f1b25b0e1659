import Contracts
import Store
import Telemetry

/// What happens when the store fails: nothing that was decided takes place, messages are kept and taken again after
/// a wait, and who waits outside is told.
extension ServiceLoop {
    /// Takes a failed transaction back, and gives up the core that has decided in it.
    func failed(_ error: StoreError, _ now: Moment) {
        giveUpCore()
        waited(error, now)
        if recovery.failures > 1, !error.isOfTheWorld { takeOneByOne(now) }
    }

    /// Waits for a store that opens no transaction: nothing was decided, so that the core stays.
    func waited(_ error: StoreError, _ now: Moment) {
        do {
            try store.rollback()
        } catch {
            note(error, now)
        }
        note(error, now)
        answerReading(now)
    }

    private func giveUpCore() {
        node.abandon()
        owesNewLife = true
    }

    /// Makes sure that trying again can help: no wait makes a damaged file whole.
    ///
    /// - Throws: `ServiceFailure` with 69 if the store said that it is damaged.
    func requireSoundStore() throws(ServiceFailure) {
        guard let damage = recovery.damage else { return }
        throw ServiceFailure(.unavailable, "store-damaged", "\(damage)")
    }

    private func note(_ error: StoreError, _ now: Moment) {
        counters.storeError(error.problem)
        guard recovery.failed(error, nowMilliseconds: now.monotonic, limits: limits) else { return }
        context.logger.error("store-failed", ["problem": "\(error)"])
    }

    private func refuse(_ events: [C.External], _ now: Moment) {
        guard !events.isEmpty else { return }
        adapter.failed(
            events, problem: recovery.problem ?? "storage fails", nowMilliseconds: now.monotonic)
    }

    /// Notes that the store works again, and has neighbours send again what the core that failed had taken in.
    func recovered() {
        let failures = recovery.failures
        guard recovery.succeeded() else { return }
        if owesNewLife { node.renew() }
        owesNewLife = false
        context.logger.info("store-recovered", ["failures": failures])
    }

    /// Does what needs no store while its next try is waited for: says hello, answers what only reads, refuses the rest.
    func idle(_ now: Moment) {
        answerReading(now)
        greet()
    }

    /// Answers what only reads, and refuses the rest of what came from outside.
    private func answerReading(_ now: Moment) {
        let events = inbox.events
        inbox.events = []
        let reading = events.filter { adapter.onlyReads($0) }
        refuse(events.filter { !adapter.onlyReads($0) }, now)
        if !reading.isEmpty, !isAnswered(reading, now) { refuse(reading, now) }
        perform(node.commit(at: now), now)
    }

    /// Hands in events that only read, in a transaction of their own, which neither a full disk nor who writes stops.
    private func isAnswered(_ events: [C.External], _ now: Moment) -> Bool {
        do {
            try store.beginReading()
        } catch {
            counters.storeError(error.problem)
            return false
        }
        do {
            if node.isAbandoned { try node.restart(makeCore(context), at: now, in: &store) }
            for event in events { try node.receive(event, at: now, in: &store) }
            try store.commit()
            return true
        } catch {
            giveUpCore()
            counters.storeError(error.problem)
            // The next transaction begins with a rollback of its own if this one fails.
            try? store.rollback()
            return false
        }
    }

    /// Finds the message that the store refuses again and again although nothing is wrong with the store, and drops it.
    ///
    /// Its sender keeps it and sends it again much later, which a person may have mended by then.
    private func takeOneByOne(_ now: Moment) {
        var rest: [Parcel] = []
        for (index, parcel) in inbox.parcels.enumerated() {
            do {
                try store.begin()
                if node.isAbandoned { try node.restart(makeCore(context), at: now, in: &store) }
                try node.receive(parcel, at: now, in: &store)
                try store.commit()
                perform(node.commit(at: now), now)
            } catch {
                giveUpCore()
                try? store.rollback()
                if error.isOfTheWorld {
                    rest = Array(inbox.parcels[index...])
                    break
                }
                counters.bad("refused-by-store")
                context.logger.error(
                    "message-refused",
                    ["type": parcel.envelope.type.rawValue, "from": "\(parcel.envelope.from.instance)"])
            }
        }
        inbox.parcels = rest
        if rest.isEmpty { recovery.endWait() }
    }
}
