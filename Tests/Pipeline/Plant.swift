import Contracts
import Service

/// A mistake planted into the pipeline on purpose: the promises must catch each.
enum Plant: CaseIterable {
    /// A push carries the state before the last one that went to its token.
    case olderStateOvertakes
    /// A gateway says that an end was superseded, and does not send it.
    case endIsSuperseded
    /// A 410 is told of the token that the phone has by now, not of the one pushed to.
    case deadTokenTakesTheNewerOne

    /// How the breach that it leads to is told.
    var breach: String {
        switch self {
        case .olderStateOvertakes: "an older state after"
        case .endIsSuperseded: "goes on at"
        case .deadTokenTakesTheNewerOne: "a dead token is used again"
        }
    }
}

/// What a planted mistake remembers.
struct Planted {
    let plant: Plant
    /// The states that went to each token, oldest first.
    private var states: [String: [[UInt8]]] = [:]
    private var epochs: [InstanceName: Int64] = [:]
    private(set) var count = 0

    init(_ plant: Plant) { self.plant = plant }

    /// Notes who lives, as everything that it sends names its life.
    mutating func notice(_ parcel: Parcel) {
        epochs[parcel.envelope.from.instance] = parcel.envelope.from.epoch
    }

    /// Makes the mistake in a parcel, where it can be made.
    ///
    /// - Returns: the reports that the receiver sends in its place.
    mutating func spoil(_ parcel: inout Parcel, phones: SimulatedPhones, at now: Moment) -> [Report] {
        var reports: [Report] = []
        var messages: [Message] = []
        for var message in parcel.messages {
            switch (plant, message) {
            case (.olderStateOvertakes, .pushes(let pushes)) where pushes.notification.event == .update:
                message.payload.contentState = olderState(than: pushes)
            case (.endIsSuperseded, .pushes(let pushes)) where pushes.notification.event == .end:
                count += pushes.pushes.count
                reports += pushes.pushes.map { Report(superseding: $0, of: pushes.application) }
                continue
            case (.deadTokenTakesTheNewerOne, .report(var report)) where report.status == 410:
                guard let newer = phones.successor(of: report.token), newer != report.token else { break }
                count += 1
                report.token = newer
                report.apnsTimestampMilliseconds = now.wall
                message = .report(report)
            default: break
            }
            messages.append(message)
        }
        parcel.messages = messages
        return reports
    }

    private mutating func olderState(than pushes: Pushes) -> [UInt8] {
        let former = states[pushes.pushes[0].token] ?? []
        for push in pushes.pushes { states[push.token, default: []].append(pushes.payload.contentState) }
        guard former.count > 1 else { return pushes.payload.contentState }
        count += 1
        return former[former.count - 2]
    }

    /// A parcel of an instance's present life.
    func parcel(_ reports: [Report], from instance: InstanceName, at now: Moment) -> Parcel? {
        guard !reports.isEmpty, let epoch = epochs[instance] else { return nil }
        let envelope = Envelope(
            type: .report, id: 0, from: Sender(instance, epoch: epoch), sentAtMilliseconds: now.wall)
        return Parcel(envelope: envelope, messages: reports.map { .report($0) })
    }
}

extension Report {
    fileprivate init(superseding push: Push, of application: String) {
        self.init(
            id: push.id, attempt: push.attempt, application: application, environment: push.environment,
            result: .superseded)
    }
}
