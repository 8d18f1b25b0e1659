import Crypto
import FoundationEssentials
import HTTP2
import Service

/// The files that a configuration names: keys and certificates.
struct NamedFiles {
    private let configuration: Configuration

    init(_ configuration: Configuration) {
        self.configuration = configuration
    }

    /// What is wrong with them, in the order of the configuration.
    var faults: [String] {
        DoorFiles(configuration.http).faults + authorities
            + configuration.applications.enumerated().flatMap { place, application in
                Self.faults(application, "applications[\(place)]")
            }
    }

    /// What works, but is probably not meant, in the order of the configuration.
    var warnings: [String] {
        DoorFiles(configuration.http).warnings(at: Date())
            + privateKeys.compactMap { path, file in
                PrivateFile.isOpenToOthers(file) ? "\(path): \(file) can be read by every user" : nil
            }
    }

    private var privateKeys: [(path: String, file: String)] {
        let door = configuration.http.keyFile.map { [("http.keyFile", $0)] } ?? []
        return door
            + configuration.applications.enumerated().flatMap { place, application in
                application.keys.enumerated().map { number, key in
                    ("applications[\(place)].keys[\(number)].file", key.file)
                }
            }
    }

    private var authorities: [String] {
        guard let file = configuration.apns.caFile else { return [] }
        guard FileManager.default.isReadableFile(atPath: file) else {
            return ["apns.caFile: \(file) cannot be read"]
        }
        do {
            _ = try HTTP2ClientTLS(HTTP2TLSOptions(caFile: file))
            return []
        } catch {
            return ["apns.caFile: \(file) holds no certificate that can be used: \(error)"]
        }
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
