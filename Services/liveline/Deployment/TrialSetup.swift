import Contracts
import Crypto
import FoundationEssentials
import JSON
import Service

/// A complete configuration with keys, to try Liveline or load it without one: written into a directory, never meant
/// for real phones.
struct TrialSetup: Sendable {
    /// The application.
    static let application = "AAAAA-00001"
    /// Its bundle id.
    static let bundleID = "com.example.orders"
    /// The token that servers call with.
    static let apiToken = "k-demo"
    /// Another application, where there is one.
    static let neighbour = "AAAAA-00002"
    /// Its bundle id.
    static let neighbourBundleID = "com.example.rides"
    /// The token that its servers call with.
    static let neighbourToken = "k-neighbour"
    /// The token that phones call with.
    static let deviceToken = "d-demo"
    /// The type of its Live Activity.
    static let attributesType = "OrderAttributes"
    private static let teamID = "TEAM123456"
    private static let keyID = "KEY1234567"

    /// Where everything is written, and where the services keep their stores.
    var directory: String
    /// Where sockets and locks are; in the directory unless said otherwise.
    var runDirectory: String
    /// Where the HTTP door listens.
    var http = "127.0.0.1:8080"
    /// How long a participant waits between pushes, seconds.
    var intervalSeconds: Int64 = 15
    /// How many starts a device takes at once; nil for the usual number.
    var startBurst: Int?
    /// How long after its acceptance an update is worth sending, seconds; nil for the usual time.
    var updateExpirationSeconds: Int64?
    /// How long an update waits for a token, seconds; nil for the usual time.
    var tokenWaitSeconds: Int64?
    /// The simulator that pushes go to; nil leaves Apple's hosts.
    var simulator: Deployment.Simulator?
    /// Whether there is a second application.
    var hasNeighbour = false
    /// How grave an event must be to be logged.
    var logLevel = "info"

    init(directory: String, runDirectory: String? = nil) {
        self.directory = directory.absolutePath
        self.runDirectory = runDirectory?.absolutePath ?? "\(self.directory)/run"
    }

    var configurationFile: String { "\(directory)/liveline.json" }
    private var keyFile: String { "\(directory)/AuthKey_\(Self.keyID).p8" }
    private var publicKeyFile: String { "\(directory)/AuthKey_\(Self.keyID).pem" }

    /// The options by which a simulator knows the key.
    var simulatorKeys: [String] { ["--key", "\(Self.teamID):\(Self.keyID):\(publicKeyFile)"] }

    /// Writes all files; a key that is there already is kept.
    ///
    /// - Throws: `CommandFailure` if they cannot be written.
    func write() throws(CommandFailure) {
        do {
            try FileManager.default.createDirectory(
                atPath: directory, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o750])
            let key =
                FileManager.default.fileExists(atPath: keyFile)
                ? try ProviderKey.load(file: keyFile) : try ProviderKey.generate()
            try PrivateFile.write(try key.privatePEM(), to: keyFile)
            try PrivateFile.write(try key.publicPEM(), to: publicKeyFile)
            try PrivateFile.write(
                String(decoding: configuration, as: UTF8.self) + "\n", to: configurationFile)
        } catch {
            throw CommandFailure(.unavailable, "\(directory): \(error)")
        }
    }

    /// The text of the configuration file.
    var configuration: [UInt8] {
        JSONWriter.object { file in
            file.member("runDirectory", runDirectory)
            file.member("dataDirectory", directory)
            file.object("http") { $0.member("listen", http) }
            if let simulator { file.object("apns") { write(simulator, to: &$0) } }
            file.object("log") { $0.member("level", logLevel) }
            file.object("delivery") {
                $0.member("intervalSeconds", intervalSeconds)
                if let startBurst { $0.member("startBurst", startBurst) }
                if let updateExpirationSeconds {
                    $0.member("updateExpirationSeconds", updateExpirationSeconds)
                }
                if let tokenWaitSeconds { $0.member("tokenWaitSeconds", tokenWaitSeconds) }
            }
            file.array("applications") { applications in
                applications.object {
                    $0.member("firebaseProject", "demo")
                    write(Self.application, Self.bundleID, Self.apiToken, to: &$0)
                }
                guard hasNeighbour else { return }
                applications.object {
                    write(Self.neighbour, Self.neighbourBundleID, Self.neighbourToken, to: &$0)
                }
            }
        }
    }

    private func write(_ simulator: Deployment.Simulator, to apns: inout JSONWriter) {
        for environment in APNsEnvironment.allCases {
            apns.member(environment.rawValue, "https://\(simulator.listen)")
        }
        apns.object("channels") {
            for environment in APNsEnvironment.allCases {
                $0.member(environment.rawValue, "https://\(simulator.channels)")
            }
        }
    }

    private func write(_ code: String, _ bundle: String, _ token: String, to writer: inout JSONWriter) {
        writer.member("code", code)
        writer.member("bundleId", bundle)
        writer.member("apiTokens", [token])
        writer.member("deviceTokens", [Self.deviceToken])
        writer.array("keys") {
            $0.object {
                $0.member("teamId", Self.teamID)
                $0.member("keyId", Self.keyID)
                $0.member("file", keyFile)
            }
        }
    }
}
