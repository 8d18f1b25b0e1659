import Contracts
import Service
import Store

/// The calls that phones make.
enum PhoneCall {
    case registerDevice
    case unregisterDevice
    case setTags
    case registerUser
    case setActivityPushToStartToken
    case setActivityToken

    /// The word that metrics count it under.
    var kind: String {
        switch self {
        case .registerDevice: "device"
        case .unregisterDevice: "unregister"
        case .setTags: "tags"
        case .registerUser: "user"
        case .setActivityPushToStartToken: "start-token"
        case .setActivityToken: "activity-token"
        }
    }

    /// What the log says when such a call changes nothing.
    var ignoredEvent: String {
        switch self {
        case .setActivityPushToStartToken, .setActivityToken: "token-ignored"
        case .registerDevice, .unregisterDevice, .setTags, .registerUser: "\(kind)-ignored"
        }
    }

    /// What the call tells; the run of an activity's token is decided later.
    func change(_ reader: PushwooshDevices) throws(Refusal) -> Registration.Change {
        switch self {
        case .registerDevice: .profile(try reader.profile())
        case .unregisterDevice: .unregister
        case .setTags: .tags(try reader.tags())
        case .registerUser: .user(try reader.user())
        case .setActivityPushToStartToken: .startToken(try reader.startToken())
        case .setActivityToken: .activityToken(try reader.activityToken())
        }
    }
}

extension Ingest {
    /// Serves a call of a phone: journals what it tells.
    mutating func servePhone(_ call: HTTPCall, _ kind: PhoneCall, at now: Moment, in journal: Journal)
        throws(StoreError) -> Result<Served, Refusal>
    {
        let access = access
        let read = refusable { () throws(Refusal) -> (String, String, Registration.Change) in
            let request = try PushwooshRequest(call.body)
            let application = try request.application(access, phone: call)
            let reader = PushwooshDevices(members: request.members, nowSeconds: now.wallSeconds)
            return (application.code, try reader.hwid(), try kind.change(reader))
        }
        switch read {
        case .failure(let refusal): return .failure(refusal)
        case .success(let (application, device, change)):
            if let refusal = backlog.refusal(registrationOf: application) { return .failure(refusal) }
            var registration = Registration(
                sequence: 0, application: application, device: device, change: change,
                acceptedAtMilliseconds: now.wall)
            let ignored = try register(&registration, at: now, in: journal)
            var effects: [Effect<IngestOutput>] = [
                .count(Count("accepted", [("door", Door.pushwoosh.rawValue), ("kind", kind.kind)]))
            ]
            if let ignored {
                effects.append(
                    .log(LogLine(.info, kind.ignoredEvent, [("application", application), ("why", ignored)])))
            }
            return .success(Served(reply: PushwooshAnswer.success(call, nil), effects: effects))
        }
    }

    /// Journals a registration.
    ///
    /// - Returns: why it changes nothing and is not journalled; nil if it is.
    private mutating func register(_ registration: inout Registration, at now: Moment, in journal: Journal)
        throws(StoreError) -> String?
    {
        switch registration.change {
        case .activityToken(var token):
            switch try place(token, registration, at: now, in: journal) {
            case .ignored(let why): return why
            case .run(let number, let activity):
                registration.sequence = number.sequence
                token.run = number.run
                token.activity = activity
                registration.change = .activityToken(token)
            }
        case .startToken(let token):
            registration.sequence = try journal.nextSequence()
            if !token.token.isEmpty {
                try journal.register(
                    token.token, application: registration.application, run: nil, device: registration.device,
                    sequence: registration.sequence, atMilliseconds: now.wall)
            }
        case .tags(let tags) where tags.isEmpty: return "nothing-to-set"
        default: registration.sequence = try journal.nextSequence()
        }
        try journal.insert(registration)
        admit(RegistrationHead(registration))
        return nil
    }
}
