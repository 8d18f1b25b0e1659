import FoundationEssentials
import Service
import Telemetry
import Web

/// A deployment whose processes belong to this one: none of them outlives it.
final class RunningDeployment {
    let deployment: Deployment
    let supervisor: Supervisor
    private let claim: Claim

    /// Makes the directories and gets everything ready to start; the first turn of a loop starts it.
    ///
    /// - Parameters:
    ///   - deployment: what runs.
    ///   - settings: how what ends is started again, and how all is stopped.
    ///   - sink: takes log lines.
    ///   - prepare: called when nobody else runs these services in this run directory.
    /// - Throws: `CommandFailure` if somebody else does, a program is missing or a directory cannot be made.
    init(
        _ deployment: Deployment, settings: SupervisionSettings, sink: @escaping LogSink,
        prepare: () throws(CommandFailure) -> Void = {}
    ) throws(CommandFailure) {
        let plans = deployment.children
        try deployment.executables.require(plans.map(\.name))
        for directory in [deployment.configuration.runDirectory, deployment.configuration.dataDirectory] {
            try Self.make(directory)
        }
        claim = try Claim(deployment.services, in: deployment.configuration.runDirectory)
        try prepare()
        self.deployment = deployment
        supervisor = Supervisor(
            plans, environment: ProcessInfo.processInfo.environment, settings: settings, sink: sink)
    }

    private static func make(_ directory: String) throws(CommandFailure) {
        do {
            try FileManager.default.createDirectory(
                atPath: directory, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o750])
        } catch {
            throw CommandFailure(.unavailable, "\(directory): \(error)")
        }
    }

    /// Why it stopped by itself, if it did.
    var failure: CommandFailure? {
        supervisor.hopeless.map { name, code in
            CommandFailure(
                ExitCode(rawValue: code) ?? .software, "\(name) ended with \(code); its log says why")
        }
    }
}
