import Contracts
import Service

/// What the core has to know of the configuration.
struct GatewaySettings: Equatable, Sendable {
    /// One iOS app.
    struct Application: Equatable, Sendable {
        var bundleID: String
        var keys: [Configuration.Key]
        /// How long APNs may take to answer.
        var answerWithinMilliseconds: Int64

        /// Takes what is needed.
        init(_ application: Configuration.Application) {
            bundleID = application.bundleID
            keys = application.keys
            answerWithinMilliseconds = application.delivery.answerDeadlineSeconds * 1_000
        }

        /// The key for an environment: one that names it before one that serves both.
        func key(for environment: APNsEnvironment) -> Configuration.Key? {
            keys.first { $0.environment == environment } ?? keys.first { $0.environment == nil }
        }

        /// `apns-topic` (Apple, Sending notification requests to APNs).
        func topic(_ pushType: PushType) -> String {
            pushType == .liveActivity ? bundleID + ".push-type.liveactivity" : bundleID
        }
    }

    /// The applications by their codes.
    var applications: [String: Application]

    /// Takes what is needed.
    init(_ configuration: Configuration) {
        applications = Dictionary(
            configuration.applications.map { ($0.code, Application($0)) },
            uniquingKeysWith: { first, _ in first })
    }
}
