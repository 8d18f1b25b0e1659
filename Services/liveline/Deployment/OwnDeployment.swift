import Contracts
import Service
import Telemetry
import Web

/// A whole deployment with a simulator, in a temporary directory and on free ports, for as long as a command runs.
final class OwnDeployment {
    let running: RunningDeployment
    let door: Door
    let control: SimulatorControl
    private let directory: TemporaryDirectory
    private let interruption = Interruption()

    /// Gets everything ready to start; the first turn of a loop starts it.
    ///
    /// - Parameters:
    ///   - intervalSeconds: how long a participant waits between pushes.
    ///   - simulatorOptions: further options of the simulator.
    ///   - supervision: how services that end are started again.
    ///   - sink: takes log lines.
    ///   - change: changes the configuration before it is written.
    /// - Throws: `CommandFailure` if a program is missing or something cannot be written.
    init(
        intervalSeconds: Int64, simulatorOptions: [String] = [],
        supervision: SupervisionSettings = SupervisionSettings(), sink: @escaping LogSink,
        change: (inout TrialSetup) -> Void = { _ in }
    ) throws(CommandFailure) {
        directory = try TemporaryDirectory()
        let ports = try FreePorts.find(4).map { "127.0.0.1:\($0)" }
        var setup = TrialSetup(directory: directory.path)
        setup.http = ports[0]
        setup.intervalSeconds = intervalSeconds
        setup.logLevel = "warning"
        change(&setup)
        try setup.write()
        var options = Options()
        options.configurationPath = setup.configurationFile
        let deployment = Deployment(
            executables: try .besideThisOne(), configurationFile: setup.configurationFile,
            configuration: try ConfigurationFile.read(options).configuration,
            simulator: Deployment.Simulator(
                listen: ports[1], channels: ports[3], control: ports[2], keys: setup.simulatorKeys,
                others: simulatorOptions))
        running = try RunningDeployment(deployment, settings: supervision, sink: sink)
        door = Door(
            url: deployment.doorURL, application: TrialSetup.application, auth: TrialSetup.apiToken)
        control = SimulatorControl(url: "http://\(ports[2])")
    }

    /// Leaves the directory with its stores where it is.
    ///
    /// - Returns: its path.
    func keepDirectory() -> String {
        directory.isKept = true
        return directory.path
    }

    /// A loop that starts it and keeps it running; it ends when nothing more can come of it.
    func loop(connectionsMax: Int = 64) -> CallLoop {
        CallLoop(
            connectionsMax: connectionsMax, with: running.supervisor.members + [interruption.signals]
        ) { [running, interruption] in interruption.failure ?? running.failure }
    }

    /// Runs a loop until everything is ready.
    ///
    /// - Throws: `CommandFailure` if that takes too long, or something will never be ready.
    func waitUntilReady(_ loop: CallLoop, limitMilliseconds: Int64 = 60_000) throws(CommandFailure) {
        let supervisor = running.supervisor
        guard try loop.run(forMilliseconds: limitMilliseconds, until: { supervisor.isReady }) else {
            throw CommandFailure(.temporary, "not ready after \(limitMilliseconds / 1_000) s")
        }
    }

    /// Stops everything in order.
    func stop() {
        let supervisor = running.supervisor
        guard !supervisor.isOver else { return }
        supervisor.stop()
        Poller(supervisor.members).run(timeoutMilliseconds: 60_000) { supervisor.isOver }
    }
}

/// Ends a command's loop at SIGTERM and SIGINT.
final class Interruption {
    /// A member of the loop.
    let signals = Signals()
    private var hasCome = false

    /// Why the loop is to end; nil as long as it may go on.
    var failure: CommandFailure? {
        hasCome = hasCome || signals.take().contains(.stop)
        return hasCome ? CommandFailure(.temporary, "interrupted") : nil
    }
}
