import Arguments
import Contracts
import FoundationEssentials
import Service

/// `liveline doctor`: what is wrong with a deployment, running or stopped, and what to do about it.
struct DoctorCommand: Subcommand {
    static let name = "doctor"
    static let summary = "examines a deployment, running or stopped, and says what to do"
    static let usage = "[--config FILE] [--run DIR] [--data DIR] [--offline] [--thorough]"

    var configurationFile = ConfigurationFile.ofEnvironment
    var runDirectory: String?
    var dataDirectory: String?
    var isOffline = false
    var isThorough = false

    static var options: [CommandOption<DoctorCommand>] {
        [
            .text("--config", "FILE", "the configuration of the services", \.configurationFile),
            .text("--run", "DIR", "where their sockets are (as the configuration says)", \.runDirectory),
            .text("--data", "DIR", "where their stores are (as the configuration says)", \.dataDirectory),
            .flag("--offline", "do not try to reach APNs", \.isOffline),
            .flag("--thorough", "compare every index of the stores too (1 s for each 100 MB)", \.isThorough),
        ]
    }

    static let details = """
        Looks at the configuration and the files it names, the stores (only reading, also while they are in use), locks,
        sockets, permissions, free disk, limits, clock, certificates, whether each service answers and what it holds
        back, and whether APNs can be reached, where and how the gateway that runs reaches it. Ends with 1 if there is a
        finding; each says what to do. That all services are stopped is no finding.
        """

    func run(on console: Console) throws(CommandFailure) -> Verdict {
        var options = Options()
        options.configurationPath = configurationFile
        options.runDirectory = runDirectory
        options.dataDirectory = dataDirectory
        let (read, faults) = ConfigurationFile.check(options)
        var findings = faults.map {
            Finding($0, "correct the configuration; liveline check reports all of its faults")
        }
        if let read { findings += examine(read, options, console) }
        for finding in findings { console.say(finding.text) }
        console.say(
            findings.isEmpty ? "nothing found" : "\(findings.count) finding\(findings.count == 1 ? "" : "s")")
        return findings.isEmpty ? .good : .bad
    }

    private func examine(_ read: ReadConfiguration, _ options: Options, _ console: Console) -> [Finding] {
        let configuration = read.configuration
        let run = RunExamination(directory: configuration.runDirectory)
        let answers = AnswerExamination(configuration).ask(run.running)
        for remark in [run.remark].compactMap({ $0 }) + answers.remarks { console.say(remark) }
        let host = HostExamination(configuration: configuration, nowSeconds: Date().timeIntervalSince1970)
        return doubts(read) + host.findings + stores(configuration, run).findings + run.findings
            + answers.findings + (isOffline ? [] : reach(configuration, options, run).findings)
    }

    private func doubts(_ read: ReadConfiguration) -> [Finding] {
        let files = NamedFiles(read.configuration)
        return files.faults.map { Finding($0, "put the right file there, then send SIGHUP") }
            + read.warnings.map { Finding($0.description, "change it, or leave it if it is meant so") }
            + files.warnings.map { Finding($0, "chmod 600 the file") }
    }

    private func stores(_ configuration: Configuration, _ run: RunExamination) -> StoreExamination {
        let executables = try? Executables.besideThisOne()
        return StoreExamination(
            directory: configuration.dataDirectory, isThorough: isThorough,
            version: { service in executables.flatMap { StoreExamination.version(of: service, in: $0) } },
            opened: { service in
                run.running.filter { $0.name.service == service }.flatMap { run.kernel.opened($0.process) }
            })
    }

    /// Goes by the environment of a gateway that runs: `liveline up --simulator` names the simulator there.
    private func reach(_ configuration: Configuration, _ options: Options, _ run: RunExamination)
        -> ReachExamination
    {
        let gateway = run.running.first { $0.name.service == .apnsGateway }
        var configuration = configuration
        if let environment = gateway.flatMap({ run.kernel.environment($0.process) }),
            let read = ConfigurationFile.check(options, environment: environment).read
        {
            configuration.apns = read.configuration.apns
        }
        return ReachExamination(configuration: configuration, isRunning: gateway != nil)
    }
}
