import Contracts

typealias Gate = Record<GateFields>

/// What holds back one application in one environment, and how close it is to that.
struct GateFields: Equatable {
    let pause: Pause
    /// How many `BadDeviceToken` came in a row.
    var badTokens = 0
    /// The reason of a pause that the registry made; nil if there is none.
    var fault: String?
    /// When that pause began, milliseconds since 1970.
    var since: Int64 = 0
    /// How long after a failed trial the next one goes, in milliseconds.
    var trialDelay: Int64 = 0
    /// When the next trial goes, milliseconds since 1970.
    var trialAt: Int64 = 0
    /// The delivery that is out as the trial.
    var trial: PushID?
    /// Whether a person paused it.
    var isHeld = false
    /// The journal's sequence of a person's last word.
    var heldSequence: Int64 = 0

    /// Whether nothing but a trial goes.
    var isPaused: Bool { isHeld || fault != nil }

    /// When something may go, milliseconds since 1970: any time, or the next trial; nil if time does not change it.
    var opensAt: Int64? {
        guard isPaused else { return .min }
        return isHeld || trial != nil ? nil : trialAt
    }
}
