import Contracts
import Crypto
import Telemetry

/// The provider tokens in use, one file for each (team, key), shared by all processes of a host.
///
/// Two signatures over the same claims differ, so that a token cannot be made twice: who finds none that is young
/// enough makes it, the others read it. Files are mode 0600 and replaced by renaming, under a lock that is never
/// waited for.
final class ProviderTokens {
    /// What became of asking for a token.
    enum Answer: Equatable {
        case token(StoredToken)
        /// Another process is at the file: ask again soon.
        case busy
        /// None can be had; what to say to an operator.
        case unavailable(String)
    }

    private static let fileBytesMax = 16_384

    private let directory: String
    private let nowSeconds: () -> Int64
    private let logger: Logger
    private let made: CounterSeries
    private var ring: KeyRing
    private var tokens: [KeyRing.Name: StoredToken] = [:]
    /// Tokens that APNs called expired and whose successor is not known yet.
    private var refusals: [KeyRing.Name: String] = [:]
    private var alarms: [KeyRing.Name: String] = [:]

    /// Keeps tokens in a directory.
    ///
    /// - Parameters:
    ///   - directory: the data directory.
    ///   - ring: the keys.
    ///   - nowSeconds: the wall clock: a token's time of issue is for others to read.
    ///   - logger: where to say what goes wrong.
    ///   - made: counts the tokens made.
    init(
        directory: String, ring: KeyRing, nowSeconds: @escaping () -> Int64, logger: Logger,
        made: CounterSeries
    ) {
        self.directory = directory
        self.ring = ring
        self.nowSeconds = nowSeconds
        self.logger = logger
        self.made = made
    }

    /// Goes by other keys from now on.
    func replace(ring: KeyRing) {
        self.ring = ring
        tokens = [:]
        refusals = [:]
        alarms = [:]
    }

    /// The token to use now.
    func current(_ name: KeyRing.Name) -> Answer {
        let refused = refusals[name]
        if refused == nil, let token = tokens[name], token.isFresh(nowSeconds: nowSeconds()) {
            return .token(token)
        }
        return renew(name, refused: refused)
    }

    /// Takes note that APNs called a token expired.
    ///
    /// - Returns: whether there is another one now or soon, so that it is worth sending again.
    func refused(_ text: String, _ name: KeyRing.Name) -> Bool {
        if let token = tokens[name], token.text != text { return true }
        refusals[name] = text
        return switch renew(name, refused: text) {
        case .token(let token): token.text != text
        case .busy: true
        case .unavailable: false
        }
    }

    private func renew(_ name: KeyRing.Name, refused: String?) -> Answer {
        guard let key = ring.keys[name] else { return .unavailable("no key \(name.keyID)") }
        do {
            guard let lock = try PrivateFile.Lock(path(name) + ".lock") else { return stopgap(name) }
            defer { withExtendedLifetime(lock) {} }
            return try renewLocked(name, key, refused)
        } catch let failure as PrivateFile.Failure {
            return make(name, key, isReplacement: refused != nil, storing: failure.description)
        } catch {
            return .unavailable("\(error)")
        }
    }

    private func renewLocked(_ name: KeyRing.Name, _ key: SigningKey, _ refused: String?) throws -> Answer {
        let stored = try PrivateFile.contents(path(name), bytesMax: Self.fileBytesMax).flatMap {
            StoredToken(file: $0)
        }
        let now = nowSeconds()
        switch StoredToken.advice(stored, keyDigest: key.digest, refused: refused, nowSeconds: now) {
        case .make(let isReplacement): return make(name, key, isReplacement: isReplacement, storing: nil)
        case .use: break
        case .keepThoughRefused: alarm(name, "provider-token-refused", "APNs calls the new token expired too")
        }
        guard let stored else { return .unavailable("no token") }
        return take(stored, name)
    }

    private func take(_ token: StoredToken, _ name: KeyRing.Name) -> Answer {
        tokens[name] = token
        refusals[name] = nil
        return .token(token)
    }

    /// Makes a token and stores it, unless storing is known to be impossible.
    private func make(
        _ name: KeyRing.Name, _ key: SigningKey, isReplacement: Bool, storing problem: String?
    ) -> Answer {
        // A disk that cannot be written must not cost a new token for each push.
        if problem != nil, let token = tokens[name],
            token.isFresh(nowSeconds: nowSeconds()), !isReplacement || token.isReplacement
        {
            return take(token, name)
        }
        do {
            let now = nowSeconds()
            let token = StoredToken(
                text: try key.token(issuedAtSeconds: now), issuedAtSeconds: now, isReplacement: isReplacement,
                keyDigest: key.digest)
            made.add()
            logger.info("provider-token-made", ["team": name.teamID, "key": name.keyID])
            store(token, name, problem)
            return take(token, name)
        } catch {
            return .unavailable(error.description)
        }
    }

    private func store(_ token: StoredToken, _ name: KeyRing.Name, _ problem: String?) {
        var problem = problem
        if problem == nil {
            do throws(PrivateFile.Failure) {
                // All pushes wait here, and a token that a power cut takes is made anew.
                try PrivateFile.write(token.fileText, to: path(name), isLasting: false)
                alarms[name] = nil
            } catch {
                problem = error.description
            }
        }
        // It is used all the same: a push late is worse than a token of one's own.
        if let problem { alarm(name, "provider-token-not-stored", problem) }
    }

    /// What to go on with while another process has the lock: the last one, as long as APNs takes it.
    private func stopgap(_ name: KeyRing.Name) -> Answer {
        let lastSeconds = StoredToken.freshSeconds + 300
        guard let token = tokens[name], refusals[name] == nil,
            nowSeconds() - token.issuedAtSeconds < lastSeconds
        else { return .busy }
        return .token(token)
    }

    private func alarm(_ name: KeyRing.Name, _ event: String, _ problem: String) {
        guard alarms[name] != event else { return }
        alarms[name] = event
        logger.error(event, ["team": name.teamID, "key": name.keyID, "problem": problem])
    }

    private func path(_ name: KeyRing.Name) -> String {
        "\(directory)/provider-token.\(name.teamID).\(name.keyID)"
    }
}
