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
    var pushState = TokenState.live
    /// When that was accepted, milliseconds since 1970.
    var pushAcceptedAt: Int64 = 0
    /// When APNs learned that it is dead, milliseconds since 1970; 0 for one that is not.
    var pushDiedAt: Int64 = 0
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

    /// The ordinary push token, if pushes may go to it.
    var usablePushToken: String? { pushState == .live ? pushToken : nil }

    /// Why no alert may go to it.
    var causeOfNoAlert: String {
        pushToken == nil ? Cause.noStartToken : pushState.cause ?? Cause.noStartToken
    }

    /// Takes an ordinary push token in, an empty one as none; one that has died since it was accepted stays dead.
    mutating func register(pushToken token: String, acceptedAt: Int64) {
        if token == pushToken, pushState == .dead, acceptedAt <= pushDiedAt { return }
        pushToken = token.isEmpty ? nil : token
        pushState = .live
        pushAcceptedAt = acceptedAt
        pushDiedAt = 0
    }

    /// Whether iOS can start an activity by a push: from 17.2 on (Apple, Starting and updating Live Activities with
    /// ActivityKit push notifications); a device that does not say its version is taken to be new enough.
    var canBeStarted: Bool {
        guard let osVersion else { return true }
        let parts = osVersion.split(separator: ".").map { Int($0) ?? 0 }
        guard let major = parts.first else { return true }
        return (major, parts.count > 1 ? parts[1] : 0) >= (17, 2)
    }
}
