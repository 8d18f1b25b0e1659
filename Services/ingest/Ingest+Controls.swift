import Contracts
import JSON
import Service
import Store

extension Ingest {
    /// Takes a start or update back, as far as it has not gone out; whoever asks again is answered the same.
    ///
    /// It is released no more from now on; the registry ends what it has of it, and says that it is taken.
    mutating func cancel(_ status: MessageStatus, at now: Moment, in journal: Journal) throws(StoreError)
        -> Refusal?
    {
        guard status.head.kind == .start || status.head.kind == .update else {
            return Refusal(
                .conflict, "",
                "only a start or an update can be cancelled; this is \(status.head.kind.article)",
                label: "event")
        }
        guard status.cancelledBy == nil else { return nil }
        var head = status.head
        head.kind = .cancel
        try admit(Control(head: head, cancels: head.sequence), at: now, in: journal)
        release.withhold(status.head.sequence)
        return nil
    }

    /// Serves `POST /v1/applications/{app}/pause` and `…/resume`, for one environment or for both.
    mutating func serveHold(_ call: HTTPCall, _ kind: Command.Kind, at now: Moment, in journal: Journal)
        throws(StoreError) -> Result<Served, Refusal>
    {
        let read = refusable { () throws(Refusal) -> (Configuration.Application, APNsEnvironment?) in
            (try access.application(code: call.path[2], of: call), try Ingest.environment(call.body))
        }
        switch read {
        case .failure(let refusal): return .failure(refusal)
        case .success(let (application, environment)):
            if let refusal = backlog.refusal(commandOf: application.code) { return .failure(refusal) }
            let head = MessageHead(
                sequence: 0, application: application.code, kind: kind,
                activity: ActivityName(application: application.code, space: .id, name: ""), run: 0,
                order: Order(seconds: now.wallSeconds, sequence: 0), acceptedAtMilliseconds: now.wall)
            let sequence = try admit(Control(head: head, environment: environment), at: now, in: journal)
            let body = JSONWriter.object { answer in
                answer.member("code", journal.codes.code(sequence))
                answer.member("application", application.code)
                answer.member("event", kind.rawValue)
                answer.member("environment", environment?.rawValue)
            }
            return .success(
                Served(
                    reply: HTTPReply(call, 200, json: body),
                    effects: [.count(Count("accepted", [("door", "own"), ("kind", kind.rawValue)]))]))
        }
    }

    /// Journals a command that sends nothing, under a sequence of its own, and lets it go.
    @discardableResult
    private mutating func admit(_ control: Control, at now: Moment, in journal: Journal) throws(StoreError)
        -> Int64
    {
        var control = control
        let sequence = try journal.nextSequence()
        control.head.sequence = sequence
        control.head.order = Order(
            seconds: try acceptanceSeconds(at: now, in: journal), sequence: sequence)
        control.head.acceptedAtMilliseconds = now.wall
        if control.cancels == nil { control.head.run = sequence }
        admit(control.head, bytes: try journal.insert(control, door: .own))
        return sequence
    }

    private static func environment(_ body: [UInt8]) throws(Refusal) -> APNsEnvironment? {
        guard !body.isEmpty else { return nil }
        let members = try ObjectReader(body: body)
        try members.refuseUnknown(known: ["environment"])
        guard let value = members.lenient("environment") else { return nil }
        return try PushwooshDevices.environment(value)
    }
}

extension Command.Kind {
    /// The kind as a sentence names it.
    fileprivate var article: String {
        switch self {
        case .end, .update: "an \(rawValue)"
        case .start, .cancel, .pause, .resume: "a \(rawValue)"
        }
    }
}

extension Access {
    /// An application that the caller's bearer token is for; another's is answered as one that is not there.
    func application(code: String, of call: HTTPCall) throws(Refusal) -> Configuration.Application {
        guard let application = try bearer(call).first(where: { $0.code == code }) else {
            throw Refusal(.notFound, "", "there is no such application", label: "application")
        }
        return application
    }
}
