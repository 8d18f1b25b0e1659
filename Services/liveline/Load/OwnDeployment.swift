import Contracts
import Processes
import Service
import Telemetry
import Web

/// A whole deployment with a simulator, in a temporary directory and on free ports, for as long as a command runs.
final class OwnDeployment {
    let running: RunningDeployment
    let door: Door
    let control: SimulatorControl
    private let directory: TemporaryDirectory
    private let interruption: Interruption

    /// Gets everything ready to start; the first turn of a loop starts it.
    ///
    /// - Parameters:
    ///   - intervalSeconds: how long a participant waits between pushes.
    ///   - simulatorOptions: further options of the simulator.
    ///   - sink: takes log lines.
    init(
        intervalSeconds: Int64, simulatorOptions: [String] = [], sink: @escaping LogSink
    ) throws(CommandFailure) {
        directory = try TemporaryDirectory()
        let ports = try FreePorts.find(3).map { "127.0.0.1:\($0)" }
        var setup = TrialSetup(directory: directory.path)
        setup.http = ports[0]
        setup.intervalSeconds = intervalSeconds
        setup.logLevel = "warning"
        try setup.write()
        var options = Options()
        options.configurationPath = setup.configurationFile
        let deployment = Deployment(
            executables: try .besideThisOne(), configurationFile: setup.configurationFile,
            configuration: try ConfigurationFile.read(options).configuration,
            simulator: Deployment.Simulator(
                listen: ports[1], control: ports[2], keys: setup.simulatorKeys, others: simulatorOptions))
        running = try RunningDeployment(deployment, settings: SupervisionSettings(), sink: sink)
        door = Door(url: deployment.doorURL, application: TrialSetup.application, auth: TrialSetup.apiToken)
        control = SimulatorControl(url: "http://\(ports[2])")
        interruption = try Interruption()
    }

    /// A loop that starts it and keeps it running.
    func loop(connectionsMax: Int = 64) -> CallLoop {
        CallLoop(
            connectionsMax: connectionsMax, with: running.supervisor.members + [interruption]
        ) { [running, interruption] in interruption.failure ?? running.failure }
    }

    /// Runs a loop until everything is ready.
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
final class Interruption: Pollable {
    private let inbox: SignalInbox
    private(set) var failure: CommandFailure?

    init() throws(CommandFailure) {
        do throws(ProcessError) {
            inbox = try SignalInbox([.terminate, .interrupt])
        } catch {
            throw CommandFailure(.unavailable, "\(error)")
        }
    }

    var descriptor: CInt { inbox.descriptor }
    var nextDeadlineMilliseconds: Int64? { nil }

    func process(nowMilliseconds: Int64) {
        if !inbox.take().isEmpty { failure = CommandFailure(.temporary, "interrupted") }
    }
}
