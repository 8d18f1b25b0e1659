import Contracts
import Service
import Store

extension Ingest {
    /// Serves `POST /v1/projects/{project}/messages:send`.
    mutating func serveFirebase(_ call: HTTPCall, at now: Moment, in journal: Journal) throws(StoreError)
        -> Result<Served, Refusal>
    {
        let access = access
        let read = refusable { () throws(Refusal) -> (Configuration.Application, FirebaseRequest) in
            let application = try access.application(project: call.path[2], of: call)
            return (application, try FirebaseRequest(call.body, application, nowSeconds: now.wallSeconds))
        }
        switch read {
        case .failure(let refusal): return .failure(refusal)
        case .success(let (application, request)):
            if request.validateOnly { return try validate(call, request, at: now, in: journal) }
            guard !application.keys.isEmpty else {
                return .failure(
                    Refusal(.noPushKeys, "", "the project's app has no key for APNs", label: "keys"))
            }
            return try accept([request.draft], application, .firebase, at: now, in: journal).map { accepted in
                let code = accepted.first.map { journal.codes.code($0.sequence) } ?? ""
                return Served(
                    reply: FirebaseAnswer.success(call, name: "projects/\(call.path[2])/messages/\(code)"),
                    effects: counts(accepted, .firebase))
            }
        }
    }

    private func validate(_ call: HTTPCall, _ request: FirebaseRequest, at now: Moment, in journal: Journal)
        throws(StoreError) -> Result<Served, Refusal>
    {
        if let refusal = try refusal(of: request.draft, at: now, in: journal) { return .failure(refusal) }
        // The name that Google answers a dry run with.
        let name = "projects/\(call.path[2])/messages/fake_message_id"
        return .success(Served(reply: FirebaseAnswer.success(call, name: name)))
    }
}

extension Access {
    /// The application of a Firebase project, once the caller's token has been checked.
    func application(project: String, of call: HTTPCall) throws(Refusal) -> Configuration.Application {
        let application = application(project: project)
        if let application, admits(bearer: call, to: application) { return application }
        // Who has no token at all learns nothing of projects.
        _ = try bearer(call)
        guard application != nil else {
            throw Refusal(.notFound, "", "there is no such project", label: "project")
        }
        throw Refusal(.forbidden, "", "the token is not for this project", label: "auth")
    }

    /// The applications that the caller's bearer token is for, at least one.
    ///
    /// Pushwoosh's clients write other schemes than `Bearer`; with `anyScheme` any is taken, and none.
    func bearer(_ call: HTTPCall, anyScheme: Bool = false) throws(Refusal) -> [Configuration.Application] {
        let word = anyScheme ? call.header("authorization")?.split(separator: " ").last.map(String.init) : nil
        let admitted =
            anyScheme
            ? word.map { applications(apiToken: $0) } ?? []
            : applications.filter { admits(bearer: call, to: $0) }
        guard !admitted.isEmpty else {
            throw Refusal(.unauthenticated, "", "a valid bearer token is needed", label: "auth")
        }
        return admitted
    }

    /// Whether a call's bearer token is for an application: one of its own, or one that was issued for it.
    private func admits(bearer call: HTTPCall, to application: Configuration.Application) -> Bool {
        guard let token = call.credential("Bearer") else { return false }
        return admits(apiToken: token, to: application) || call.signedInto.contains(application.code)
    }
}
