/// The rule of custody as it stands in each message: what is kept, and what answers it.
extension Message {
    /// What the sender keeps until it is answered; empty for what is sent once.
    ///
    /// - Parameter receiver: tells the two receivers of a registration apart.
    /// - Returns: one key for each thing that is answered by itself.
    public func keptKeys(receiver: ServiceName) -> [CustodyKey] {
        switch self {
        case .registration(let registration): [.registration(sequence: registration.sequence, by: receiver)]
        case .registrations(let group): [.registration(sequence: group.sequence, by: receiver)]
        case .command(let command): [.command(message: command.sequence)]
        case .batch(let batch):
            [.batch(message: batch.command.sequence, pass: batch.pass, index: batch.index)]
        case .targets(let targets): targets.targets.map { .push($0.id, attempt: $0.attempt) }
        case .pushes(let pushes): pushes.pushes.map { .push($0.id, attempt: $0.attempt) }
        // The limiter's copy of a report is not kept: only the registry commits it.
        case .report(let report):
            receiver == .tokenRegistry ? [.report(report.id, attempt: report.attempt)] : []
        case .taken(.command(let message)): [.taken(message: message)]
        case .taken(.registration(let sequence, let service)): [.registered(sequence: sequence, by: service)]
        case .taken(.batch): []
        case .settled(let settled): [.settled(message: settled.message, revision: settled.revision)]
        case .fact(let fact): [.fact(number: fact.number)]
        case .hello, .retarget, .busy, .noted, .query, .answer: []
        }
    }

    /// What the receiver of this message need not keep any more.
    public var answeredKeys: [CustodyKey] {
        switch self {
        case .taken(.command(let message)): [.command(message: message)]
        case .taken(.batch(let message, let pass, let index)):
            [.batch(message: message, pass: pass, index: index)]
        case .taken(.registration(let sequence, let service)):
            [.registration(sequence: sequence, by: service)]
        case .busy(let busy):
            if let pass = busy.pass, let index = busy.index {
                [.batch(message: busy.message, pass: pass, index: index)]
            } else {
                [.command(message: busy.message)]
            }
        case .report(let report): [.push(report.id, attempt: report.attempt)]
        case .noted(let noted): noted.keys
        case .hello, .registration, .registrations, .command, .batch, .targets, .retarget, .pushes, .settled,
            .fact, .query,
            .answer:
            []
        }
    }

    /// The message without those of its targets or pushes that `isKept` does not name; nil if none is left.
    public func restricted(to isKept: (PushID) -> Bool) -> Message? {
        switch self {
        case .targets(var targets):
            targets.targets.removeAll { !isKept($0.id) }
            return targets.targets.isEmpty ? nil : .targets(targets)
        case .pushes(var pushes):
            pushes.pushes.removeAll { !isKept($0.id) }
            return pushes.pushes.isEmpty ? nil : .pushes(pushes)
        default: return self
        }
    }

    /// The window that the message is counted in at its receiver, and by how much.
    public var window: (kind: WindowKind, count: Int)? {
        switch self {
        case .registration: (.registrations, 1)
        case .registrations(let group): (.registrations, group.entries.count)
        case .command: (.commands, 1)
        case .batch(let batch): (.batches, batch.weight)
        case .targets(let targets): (.targets, targets.targets.count)
        case .pushes(let pushes): (.pushes, pushes.pushes.count)
        default: nil
        }
    }

    /// Whose share of a window it uses: an application in one environment, or an application where the
    /// environment is not known yet.
    public var account: String {
        switch self {
        case .registration(let registration): registration.application
        case .registrations(let group): group.application
        case .command(let command): command.application
        case .batch(let batch): batch.command.application
        case .targets(let targets):
            "\(targets.application) \(targets.targets.first?.environment.rawValue ?? "")"
        case .pushes(let pushes): "\(pushes.application) \(pushes.pushes.first?.environment.rawValue ?? "")"
        default: ""
        }
    }

    /// Whether it is work (the work lane) or an answer (the answer lane).
    public var lane: Lane {
        switch self {
        case .registration, .registrations, .command, .batch, .targets, .retarget, .pushes, .query: .work
        case .hello, .report, .taken, .busy, .settled, .fact, .noted, .answer: .answers
        }
    }
}

/// The two ways into an instance, each a socket of its own, so that answers never wait behind work.
public enum Lane: String, Sendable, CaseIterable {
    case answers = "answers"
    case work = "work"
}
