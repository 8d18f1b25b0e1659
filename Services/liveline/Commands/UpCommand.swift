import Arguments
import Contracts
import FoundationEssentials
import Processes
import Service
import Web

/// `liveline up`: all services on one machine, watched.
struct UpCommand: Subcommand {
    static let name = "up"
    static let summary = "starts the five services on this machine and watches them"
    static let usage = "[--config FILE] [--run DIR] [--data DIR] [--simulator] [--only A,B]"

    var configurationFile = ConfigurationFile.ofEnvironment
    var runDirectory: String?
    var dataDirectory: String?
    var hasSimulator = false
    var only: [String] = []
    var http = "127.0.0.1:8080"
    var simulator = Deployment.Simulator()
    var channels: String?
    var drainSeconds: Int64 = 30

    static var options: [CommandOption<UpCommand>] {
        [
            .text("--config", "FILE", "the configuration that all services read", \.configurationFile),
            .text("--run", "DIR", "where sockets and locks are (as the configuration says)", \.runDirectory),
            .text("--data", "DIR", "where stores are (as the configuration says)", \.dataDirectory),
            .flag("--simulator", "start an APNs simulator too and push to it", \.hasSimulator),
            .list("--only", "A,B", "services to start (all five)", \.only),
            .text("--http", "ADDRESS", "HTTP door with --simulator alone (127.0.0.1:8080)", \.http),
            .text("--apns", "ADDRESS", "the simulator's APNs (127.0.0.1:2197)", \.simulator.listen),
            .text(
                "--apns-channels", "ADDRESS",
                "the simulator's host that manages channels (127.0.0.1:2196; beside --apns a free port)",
                \.channels),
            .text(
                "--control", "ADDRESS", "the simulator's control port (127.0.0.1:2198)", \.simulator.control),
            .list("--simulator-options", "A,B", "further options of the simulator", \.simulator.others),
            .number(
                "--drain", "seconds that stopping may take before the rest is killed (30)", 1...3_600,
                \.drainSeconds),
        ]
    }

    static let details = """
        A service that dies is started again, after 0.2 s, then doubling times up to 10 s; after 30 s of life they
        begin anew. All log lines come on the standard error output. SIGTERM and SIGINT stop the services one after
        the other, ingest first; a second one all at once, and kills what is left a second later. SIGHUP makes all of them read the configuration again.
        With --simulator and no --config a complete configuration with keys is made in the data directory, or in a
        temporary one that is removed at the end. Where another one runs the same services in the same run directory,
        this one ends with 75.
        """

    var faults: [String] {
        let known = ServiceName.allCases.map(\.rawValue)
        return only.filter { !known.contains($0) }.map {
            "--only \($0): no such service; there are \(known.joined(separator: ", "))"
        }
    }

    func run(on console: Console) throws(CommandFailure) -> Verdict {
        let isTrial = hasSimulator && configurationFile == nil
        let temporary = isTrial && dataDirectory == nil ? try TemporaryDirectory() : nil
        let simulator = try simulatorAddresses()
        let setup = isTrial ? (temporary?.path ?? dataDirectory).map { trial(in: $0, simulator) } : nil
        let deployment = try deployment(setup, simulator)
        let running = try RunningDeployment(
            deployment, settings: SupervisionSettings(drainMilliseconds: drainSeconds * 1_000),
            sink: console.remarks
        ) { () throws(CommandFailure) in try setup?.write() }
        if isTrial { announce(deployment, console) }
        Self.watch(running.supervisor)
        if let failure = running.failure { throw failure }
        return .good
    }

    private func simulatorAddresses() throws(CommandFailure) -> Deployment.Simulator {
        var simulator = simulator
        if let channels {
            simulator.channels = channels
        } else if hasSimulator, simulator.listen != Deployment.Simulator().listen {
            simulator.channels = try FreePorts.find(1).map { "127.0.0.1:\($0)" }.joined()
        }
        return simulator
    }

    private func trial(in directory: String, _ simulator: Deployment.Simulator) -> TrialSetup {
        var setup = TrialSetup(directory: directory, runDirectory: runDirectory)
        setup.http = http
        setup.simulator = simulator
        return setup
    }

    private func deployment(_ setup: TrialSetup?, _ simulator: Deployment.Simulator) throws(CommandFailure)
        -> Deployment
    {
        var options = Options()
        options.configurationPath = configurationFile
        options.runDirectory = runDirectory
        options.dataDirectory = dataDirectory
        let read = try ConfigurationFile.read(options, text: setup?.configuration)
        var simulator = simulator
        if let setup { simulator.keys = setup.simulatorKeys }
        return Deployment(
            executables: try .besideThisOne(),
            configurationFile: setup?.configurationFile ?? configurationFile,
            configuration: read.configuration, services: services,
            simulator: hasSimulator ? simulator : nil)
    }

    private var services: [ServiceName] {
        only.isEmpty ? Deployment.goingDown : only.compactMap(ServiceName.init)
    }

    private func announce(_ deployment: Deployment, _ console: Console) {
        console.say(
            """
            HTTP door    \(deployment.doorURL)
            application  \(TrialSetup.application)  API token \(TrialSetup.apiToken)
            simulator    http://\(simulator.control)  (liveline phones)
            directory    \(deployment.configuration.dataDirectory)
            """)
    }

    private static func watch(_ supervisor: Supervisor) {
        let signals = Signals()
        Poller(supervisor.members + [signals]).run(timeoutMilliseconds: .max / 4) {
            for request in signals.take() {
                switch request {
                case .stop: supervisor.stop()
                case .reload: supervisor.send(.hangUp)
                }
            }
            return supervisor.isOver
        }
    }
}
