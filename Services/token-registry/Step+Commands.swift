import Contracts
import Service
import Store

/// Commands that are no push: taking a message back, and a person's pause.
extension Step {
    /// Takes back what has not been handed over of a message, also of one that has not come yet.
    func cancel(_ command: Command) throws(StoreError) {
        try takeControl(command)
        guard let number = command.cancelledMessage else { return ignore(.batch) }
        let run = try knownRun(
            command.run, command.application, command.activity, at: command.acceptedAtMilliseconds)
        // A start is the beginning of its own run.
        if number == run.number { run.start = number }
        let message = try knownMessage(number, command)
        guard message.application == command.application, message.kind != .end else { return ignore(.batch) }
        if !message.isComplete {
            try complete(message, run)
        } else {
            sayAgain(message)
        }
        guard !message.isCancelled else { return }
        message.isCancelled = true
        message.cursor = nil
        message.sweepAt = now.wall
        message.sweepCursor = 0
    }

    /// The message to take back; one that has not come is remembered and gets no rows.
    private func knownMessage(_ number: Int64, _ command: Command) throws(StoreError) -> MessageRecord {
        if let known = try message(number) { return known }
        var unseen = command
        unseen.sequence = number
        unseen.payload = Payload()
        return try addMessage(unseen, Notification(event: .update, expirationSeconds: 0))
    }

    /// A person's pause or resume; an older one than the last changes nothing.
    func hold(_ command: Command) throws(StoreError) {
        let environments = command.environment.map { [$0] } ?? APNsEnvironment.allCases
        for environment in environments {
            let gate = gate(Pause(application: command.application, environment: environment))
            guard command.sequence > gate.heldSequence else { continue }
            gate.heldSequence = command.sequence
            gate.isHeld = command.kind == .pause
            try save(gate)
        }
        try takeControl(command)
    }

    /// Says that a command that is no message is taken, until ingest has noted that.
    ///
    /// Its segmenter is done with it, so that after a crash nobody would ask.
    private func takeControl(_ command: Command) throws(StoreError) {
        try ledger.addControl(command.sequence)
        guard memory.takenNotes.take(command.sequence, max: limits.underWayMax) else { return }
        sendTaken(command.sequence)
    }

    /// What is known of an application in one environment.
    func gate(_ pause: Pause) -> Gate {
        if let known = memory.gates[pause] { return known }
        let gate = Gate(new: GateFields(pause: pause))
        memory.gates[pause] = gate
        return gate
    }
}
