import Contracts

typealias Device = Record<DeviceFields>

/// One phone as the registry knows it.
struct DeviceFields: Equatable {
    var number: Int64
    let application: String
    let hwid: String
    /// nil is the application's.
    var environment: APNsEnvironment?
    var osVersion: String?
    /// The ordinary push token.
    var pushToken: String?
    /// When that was accepted, milliseconds since 1970.
    var pushAcceptedAt: Int64 = 0
    var frequentPushes: Bool?
    /// The journal's sequence of the last profile.
    var sequence: Int64 = 0
    var isUnregistered = false
    /// When the budget for starts is whole again, milliseconds since 1970.
    var startFullAt: Int64 = 0
    /// The start that is handed over.
    var startHanded: Int64?
    /// For a device that nobody registered, the newest run that knows it; it is forgotten with that run.
    var guestRun: Int64?

    /// Whether iOS can start an activity by a push: from 17.2 on (Apple, Starting and updating Live Activities with
    /// ActivityKit push notifications); a device that does not say its version is taken to be new enough.
    var canBeStarted: Bool {
        guard let osVersion else { return true }
        let parts = osVersion.split(separator: ".").map { Int($0) ?? 0 }
        guard let major = parts.first else { return true }
        return (major, parts.count > 1 ? parts[1] : 0) >= (17, 2)
    }
}
