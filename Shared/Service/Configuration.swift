public import Contracts

/// Everything the one configuration file says; each service reads its part.
public struct Configuration: Sendable, Equatable {
    /// Where sockets and locks are; at most 107 bytes together with a socket's name.
    public var runDirectory = "/run/liveline"
    /// Where stores and provider tokens are.
    public var dataDirectory = "/var/lib/liveline"
    /// How long a settled message can be asked about, in seconds; 7 days.
    ///
    /// What is older is removed in small steps. At least a day: so long a call with an `Idempotency-Key` is answered
    /// with the code of its message.
    public var retentionSeconds: Int64 = 7 * 86_400
    /// The HTTP door.
    public var http = HTTP()
    /// Where each service serves `/metrics` and `/readyz`: an address, or nil for a Unix socket in the run
    /// directory named `<service>.<n>.admin`.
    public var adminListen: [ServiceName: String] = [:]
    /// How to reach APNs.
    public var apns = APNs()
    /// The pace for every application that does not set its own.
    public var delivery = DeliverySettings()
    /// The applications, with different codes.
    public var applications: [Application] = []
    /// How the log is written.
    public var log = Log()

    /// The defaults.
    public init() {}

    /// The HTTP door.
    public struct HTTP: Sendable, Equatable {
        /// `address:port`.
        public var listen = "127.0.0.1:8080"
        /// A PEM file; with it the door speaks TLS.
        public var certificateFile: String?
        /// The PEM file of its key.
        public var keyFile: String?
        /// How many connections may be open at once.
        public var connectionsMax = 16_384

        /// The defaults.
        public init() {}
    }

    /// How to reach APNs.
    public struct APNs: Sendable, Equatable {
        /// The production host.
        public var production = "https://api.push.apple.com"
        /// The sandbox host.
        public var sandbox = "https://api.sandbox.push.apple.com"
        /// The hosts that manage broadcast channels.
        public var channels = Channels()
        /// A PEM file of certificates to trust instead of the system's; for a simulator.
        public var caFile: String?
        /// The URL of a proxy that opens tunnels to APNs, as `ProxyAddress` reads it; may hold a password.
        public var proxy: String?

        /// The defaults.
        public init() {}

        /// The URL for an environment.
        public subscript(environment: APNsEnvironment) -> String {
            environment == .production ? production : sandbox
        }

        /// The hosts that manage broadcast channels (Apple, Sending channel management requests to APNs).
        public struct Channels: Sendable, Equatable {
            /// The production host.
            public var production = "https://api-manage-broadcast.push.apple.com:2196"
            /// The sandbox host.
            public var sandbox = "https://api-manage-broadcast.sandbox.push.apple.com:2195"

            /// The defaults.
            public init() {}

            /// The URL for an environment.
            public subscript(environment: APNsEnvironment) -> String {
                environment == .production ? production : sandbox
            }
        }
    }

    /// How the log is written.
    public struct Log: Sendable, Equatable {
        /// `error`, `warning`, `info`, `debug` or `trace`.
        public var level = "info"
        /// Lines of JSON instead of `key=value`.
        public var json = false

        /// The defaults.
        public init() {}
    }

    /// One iOS app.
    public struct Application: Sendable, Equatable {
        /// Its code, such as `AAAAA-00001`.
        public var code: String
        /// Its bundle id; `.push-type.liveactivity` is added for the topic.
        public var bundleID: String
        /// The Firebase project that stands for it; nil for none.
        public var firebaseProject: String?
        /// The environment of devices that do not name theirs.
        public var environment = APNsEnvironment.production
        /// The tokens that servers call with, each as the lower-case hex of its SHA-256.
        public var apiTokenDigests: [String] = []
        /// The tokens that phones call with, likewise; nil checks none, an empty list lets nobody in.
        public var deviceTokenDigests: [String]?
        /// Whether the app asks iOS for frequent updates.
        public var frequent = false
        /// Whether a start without `attributes.pushwoosh.activityId` gets it.
        public var pushwooshAttributes = false
        /// The keys its provider tokens are signed with.
        public var keys: [Key] = []
        /// The service accounts that may sign in at the Firebase door.
        public var serviceAccounts: [ServiceAccount] = []
        /// Its pace.
        public var delivery = DeliverySettings()

        /// Names an application.
        public init(code: String, bundleID: String) {
            self.code = code
            self.bundleID = bundleID
        }
    }

    /// An APNs signing key.
    public struct Key: Sendable, Equatable, Hashable {
        /// Ten characters.
        public var teamID: String
        /// Ten characters.
        public var keyID: String
        /// The `.p8` file, made absolute against the configuration file's directory.
        public var file: String
        /// The environment it serves; nil serves both.
        public var environment: APNsEnvironment?

        /// Joins a key.
        public init(teamID: String, keyID: String, file: String, environment: APNsEnvironment? = nil) {
            self.teamID = teamID
            self.keyID = keyID
            self.file = file
            self.environment = environment
        }
    }

    /// A Google service account's public half.
    public struct ServiceAccount: Sendable, Equatable {
        /// Its e-mail address, the assertion's issuer.
        public var clientEmail: String
        /// The PEM file of its public key.
        public var publicKeyFile: String

        /// Joins an account.
        public init(clientEmail: String, publicKeyFile: String) {
            self.clientEmail = clientEmail
            self.publicKeyFile = publicKeyFile
        }
    }

    /// The application with a code; nil if there is none.
    public func application(_ code: String) -> Application? { applications.first { $0.code == code } }
}
