import Service

/// How children are started again and stopped.
struct SupervisionSettings: Sendable, Equatable {
    /// How long after its end a child is started again, the first time, ms.
    var restartMilliseconds: Int64 = 200
    /// The longest of the doubling times, ms.
    var restartMillisecondsMax: Int64 = 10_000
    /// How long a child must have lived for the times to begin anew, ms.
    var longLifeMilliseconds: Int64 = 30_000
    /// How long all of them together may take to stop before they are killed, ms.
    var drainMilliseconds: Int64 = 30_000
    /// How long what is still there when it is told to stop again may take before it is killed, ms.
    var hurryMilliseconds: Int64 = 1_000

    /// The exit codes after which starting again makes no sense, if the child has never been ready.
    static let hopelessCodes = [ExitCode.usage.rawValue, ExitCode.configuration.rawValue]
}
