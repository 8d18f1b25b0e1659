import Contracts
import Store

/// One command at work: its audience, and how far its pass is.
struct Work {
    let command: Command
    let pass: Pass
    /// The audience; nil until its turn comes.
    var audience: Recipients?
    var nextIndex = 0
    var unanswered: Set<Int> = []
    var isWritten = false

    /// An audience as it was at one moment, less what has been written of it.
    enum Recipients {
        /// The devices that match a filter, as far as they have been read.
        case matching(AudienceReading)
        /// The devices of users.
        case users(UserDevices)
        /// Hardware ids.
        case names(ArraySlice<String>)
        /// The registry knows whom it means.
        case none
    }

    init(command: Command, pass: Pass) {
        self.command = command
        self.pass = pass
    }

    /// The filter that has to be read before anything can be written.
    var filter: Filter? {
        guard case .filter(let filter) = command.audience else { return nil }
        switch command.kind {
        case .start, .update, .end: return filter
        case .cancel, .pause, .resume: return nil
        }
    }

    /// Whether the next batch can be written.
    var canWrite: Bool {
        switch audience {
        // One more than a batch has, or it could not be said whether it is the last.
        case .matching(let reading): reading.isComplete || reading.found.count > Batch.recipientsMax
        case .users, .names, .some(.none): true
        case nil: filter == nil
        }
    }

    /// Writes the next batch.
    mutating func write(in store: Profiles) throws(StoreError) -> Batch {
        var audience = if let audience { audience } else { try store.recipients(of: command) }
        // Let go, so that the devices are taken out in place.
        self.audience = nil
        let recipients = try store.nextRecipients(&audience)
        let batch = Batch(
            pass: pass, index: nextIndex, last: audience.isAtEnd, recipients: recipients, command: command)
        unanswered.insert(nextIndex)
        nextIndex += 1
        isWritten = batch.last
        if !isWritten { self.audience = audience }
        return batch
    }
}

extension Work.Recipients {
    /// Whether every recipient has been written.
    fileprivate var isAtEnd: Bool {
        switch self {
        case .matching(let reading): reading.isComplete && reading.found.count == 0
        case .users(let devices): devices.isAtEnd
        case .names(let names): names.isEmpty
        case .none: true
        }
    }
}

extension Profiles {
    /// The audience of a command that is not for a filter.
    fileprivate func recipients(of command: Command) throws(StoreError) -> Work.Recipients {
        switch command.audience {
        case .users(let users):
            return .users(
                UserDevices(
                    of: users, application: try application(command.application), joinedMax: command.sequence)
            )
        case .devices(let names):
            return .names(try hwids(ofDevicesNamed: names, application: command.application)[...])
        case .filter, .activity, .token: return .none
        }
    }

    /// The recipients of the next batch.
    fileprivate func nextRecipients(_ audience: inout Work.Recipients) throws(StoreError) -> [String] {
        switch audience {
        case .matching(var reading):
            audience = .none
            let devices = reading.found.take(Batch.recipientsMax)
            audience = .matching(reading)
            return try hwids(of: devices)
        case .users(var devices):
            let next = try devices.take(Batch.recipientsMax, in: database)
            audience = .users(devices)
            return try hwids(of: next)
        case .names(let names):
            audience = .names(names.dropFirst(Batch.recipientsMax))
            return Array(names.prefix(Batch.recipientsMax))
        case .none: return []
        }
    }
}
