import Crypto
import Service

/// Who may call what: tokens are compared by their SHA-256, in a time that does not depend on where they differ.
struct Access: Sendable {
    /// The applications in the order of the configuration.
    let applications: [Configuration.Application]
    /// Who may sign in at the Firebase door.
    let accounts: SignInAccounts
    private let byCode: [String: Configuration.Application]
    private let byProject: [String: Configuration.Application]
    private let apiDigests: [String: [[UInt8]]]

    init(_ applications: [Configuration.Application]) {
        self.applications = applications
        accounts = SignInAccounts(applications)
        byCode = Dictionary(applications.map { ($0.code, $0) }, uniquingKeysWith: { first, _ in first })
        byProject = Dictionary(
            applications.compactMap { application in application.firebaseProject.map { ($0, application) } },
            uniquingKeysWith: { first, _ in first })
        apiDigests = byCode.mapValues { $0.apiTokenDigests.map { Array($0.utf8) } }
    }

    /// The application with a code.
    func application(_ code: String) -> Configuration.Application? { byCode[code] }

    /// The application that stands for a Firebase project.
    func application(project: String) -> Configuration.Application? { byProject[project] }

    /// The applications that a server's token is for.
    func applications(apiToken token: String) -> [Configuration.Application] {
        let digest = Access.digest(token)
        return applications.filter { Access.holds(digest, apiDigests[$0.code] ?? []) }
    }

    /// Whether a server's token is for an application.
    func admits(apiToken token: String, to application: Configuration.Application) -> Bool {
        Access.holds(Access.digest(token), apiDigests[application.code] ?? [])
    }

    /// Whether a phone may call: always where the application has no device tokens.
    func admits(phone call: HTTPCall, to application: Configuration.Application) -> Bool {
        guard let digests = application.deviceTokenDigests else { return true }
        guard let token = call.credential("Token") else { return false }
        return Access.holds(Access.digest(token), digests.map { Array($0.utf8) })
    }

    private static func digest(_ token: String) -> [UInt8] { Array(SHA256.hex(token).utf8) }

    private static func holds(_ digest: [UInt8], _ digests: [[UInt8]]) -> Bool {
        // Without an early exit, so that the time does not tell which one matched.
        digests.reduce(false) { constantTimeEquals($1, digest) || $0 }
    }
}

extension HTTPCall {
    /// What stands behind a scheme in the `Authorization` header.
    func credential(_ scheme: String) -> String? {
        guard let header = header("authorization") else { return nil }
        let parts = header.split(separator: " ", maxSplits: 1, omittingEmptySubsequences: true)
        guard parts.count == 2, parts[0].lowercased() == scheme.lowercased() else { return nil }
        let token = parts[1].drop { $0 == " " }
        return token.isEmpty ? nil : String(token)
    }
}
