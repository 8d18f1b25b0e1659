import Crypto
import FoundationEssentials
import Service

/// The files that a configuration names: keys and certificates.
struct NamedFiles {
    private let configuration: Configuration

    init(_ configuration: Configuration) {
        self.configuration = configuration
    }

    /// What is wrong with them, in the order of the configuration.
    var faults: [String] {
        let own = [
            ("http.certificateFile", configuration.http.certificateFile),
            ("http.keyFile", configuration.http.keyFile), ("apns.caFile", configuration.apns.caFile),
        ]
        return own.compactMap(Self.unreadable)
            + configuration.applications.enumerated().flatMap { place, application in
                Self.faults(application, "applications[\(place)]")
            }
    }

    private static func unreadable(_ path: String, _ file: String?) -> String? {
        guard let file, !FileManager.default.isReadableFile(atPath: file) else { return nil }
        return "\(path): \(file) cannot be read"
    }

    private static func faults(_ application: Configuration.Application, _ path: String) -> [String] {
        let keys = application.keys.enumerated().compactMap { place, key in
            fault("\(path).keys[\(place)].file") { _ = try ProviderKey.load(file: key.file) }
        }
        let accounts = application.serviceAccounts.enumerated().compactMap { place, account in
            fault("\(path).serviceAccounts[\(place)].publicKeyFile") {
                _ = try VerifyingKey.load(file: account.publicKeyFile, algorithm: .rs256)
            }
        }
        return keys + accounts
    }

    private static func fault(_ path: String, _ load: () throws -> Void) -> String? {
        do {
            try load()
            return nil
        } catch {
            return "\(path): \(error)"
        }
    }
}
