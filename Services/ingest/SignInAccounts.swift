import Crypto
import Service

/// The service accounts that may sign in, with their public keys.
///
/// Files are read when this is made: at the start and when the configuration changes, never for a call.
struct SignInAccounts: Sendable {
    /// One e-mail address with one key, and what it is for.
    struct Account: Sendable, Equatable {
        /// Its address, the issuer of its assertions.
        let email: String
        /// Its public key, PEM.
        let key: [UInt8]
        /// The SHA-256 of the key: another key is another account.
        let keyDigest: [UInt8]
        /// The codes of the applications that name it.
        fileprivate(set) var applications: [String]
    }

    /// In the order of the configuration.
    private(set) var accounts: [Account] = []
    /// Why some of them cannot sign in, one sentence each.
    private(set) var faults: [String] = []

    /// Reads the key of every account that the applications name.
    init(_ applications: [Configuration.Application]) {
        for application in applications {
            for account in application.serviceAccounts {
                do {
                    let key = try VerifyingKey.load(file: account.publicKeyFile, algorithm: .rs256)
                    add(account.clientEmail, Array(try key.pem().utf8), application.code)
                } catch {
                    faults.append("\(application.code): \(error)")
                }
            }
        }
    }

    private mutating func add(_ email: String, _ key: [UInt8], _ application: String) {
        let digest = SHA256.digest(key)
        if let place = accounts.firstIndex(where: { $0.email == email && $0.keyDigest == digest }) {
            accounts[place].applications.append(application)
        } else {
            accounts.append(Account(email: email, key: key, keyDigest: digest, applications: [application]))
        }
    }

    /// Makes sure that every key can be read.
    ///
    /// - Throws: `ServiceFailure` (78) with the reason of each file that is refused.
    static func check(_ configuration: Configuration) throws(ServiceFailure) {
        let faults = SignInAccounts(configuration.applications).faults
        guard faults.isEmpty else {
            throw ServiceFailure(.configuration, "service-accounts", faults.joined(separator: "; "))
        }
    }
}
