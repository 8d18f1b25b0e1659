import Bus
import Contracts
import Telemetry

extension ServiceLoop {
    /// Does what was decided; the transaction has committed.
    func perform(_ actions: Node<C>.Actions, _ now: Moment) {
        for line in actions.logs { context.logger.write(line) }
        for count in actions.counts where !counters.add(count) {
            context.logger.error("count-refused", ["name": count.name])
        }
        send(actions.parcels)
        if let hello = actions.hello { sayHello(hello) }
        if !actions.outputs.isEmpty { adapter.perform(actions.outputs, nowMilliseconds: now.monotonic) }
    }

    private func send(_ parcels: [(to: InstanceName, parcel: Parcel)]) {
        var full: Set<Outgoing> = []
        for (instance, parcel) in parcels {
            guard let lane = parcel.messages.first?.lane else { continue }
            // Nothing overtakes what did not go.
            let outgoing = Outgoing(instance: instance, lane: lane)
            if full.contains(outgoing) {
                node.unsend(parcel, to: instance)
            } else if send(parcel, outgoing) == .notNow {
                full.insert(outgoing)
                node.unsend(parcel, to: instance)
            }
        }
    }

    private func send(_ parcel: Parcel, _ outgoing: Outgoing) -> Bus.Sending {
        guard let frames = encode(parcel) else { return .tooLarge }
        let sending = bus.send(frames, to: outgoing.instance, outgoing.lane)
        switch sending {
        case .taken: counters.sent(parcel.envelope.type, parcel.messages.count)
        case .notNow:
            context.logger.debug("not-sent", ["to": "\(outgoing.instance)", "lane": outgoing.lane.rawValue])
        case .tooLarge:
            context.logger.error(
                "message-too-large", ["type": parcel.envelope.type.rawValue, "bytes": frames.byteCount])
        }
        return sending
    }

    private func encode(_ parcel: Parcel) -> [[UInt8]]? {
        do {
            return try coder.frames(parcel)
        } catch {
            context.logger.error("message-not-written", ["type": parcel.envelope.type.rawValue])
            return nil
        }
    }

    // MARK: Hello

    private func sayHello(_ parcel: Parcel) {
        lastHello = encode(parcel)
        greeted = []
        greet()
    }

    /// Says the last hello to the neighbours that it has not reached yet: those just found connect a little later.
    func greet() {
        guard let lastHello else { return }
        for instance in bus.neighbours where !greeted.contains(instance) {
            guard bus.send(lastHello, to: instance, .answers) == .taken else { continue }
            greeted.insert(instance)
            counters.sent(.hello, 1)
        }
    }
}

/// A socket that is written to.
private struct Outgoing: Hashable {
    var instance: InstanceName
    var lane: Lane
}
