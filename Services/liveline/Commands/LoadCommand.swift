import Arguments
import Service

/// `liveline load`: pushes load through the whole pipeline and measures it.
struct LoadCommand: DoorCaller, ControlCaller {
    static let name = "load"
    static let summary = "pushes load through the whole pipeline and measures it"
    static let usage = "orders|fan-out|latency|import|neighbours|outage [--own] [options]"

    var door = Door.trial
    var control = SimulatorControl.trial
    var parameters = LoadParameters()
    var hasScenario = false
    var devices: Int?
    var isOwn = false
    var drill: String?
    var configurationFile = ConfigurationFile.ofEnvironment
    var runDirectory: String?
    var app = LoadApp()
    var connections = 64
    var jsonFile: String?

    static var options: [CommandOption<LoadCommand>] {
        ownOptions + doorOptions + [controlOption] + runningOptions
    }

    private static var ownOptions: [CommandOption<LoadCommand>] {
        [
            .flag("--own", "start everything for this run, in a temporary directory", \.isOwn),
            .number("--activities", "orders: how many (5000)", 1...1_000_000, \.parameters.activities),
            .number(
                "--devices", "fan-out, import, neighbours: how many (20000; neighbours 100000)",
                1...5_000_000, \.devices),
            .number("--rate", "sends a second (orders 500, others 50)", 1...1_000_000, \.parameters.rate),
            .number(
                "--seconds", "orders, neighbours before the start: how long (60)", 1...86_400,
                \.parameters.seconds),
            .number("--sends", "latency: how many (1000)", 1...1_000_000, \.parameters.sends),
            .number(
                "--messages", "outage: how many wait (1000000)", 1...10_000_000, \.parameters.messages),
            .number(
                "--interval", "--own: seconds between pushes of a participant (15)", 0...3_600,
                \.parameters.intervalSeconds),
            .number("--rest", "seconds without sends after setting up", 0...3_600, \.parameters.restSeconds),
            .number(
                "--settle", "seconds to wait for what is not settled (180)", 1...86_400,
                \.parameters.settleSeconds),
            .number("--connections", "HTTP connections (64)", 1...4_096, \.connections),
            .text("--drill", "kill-each", "--own orders: kill -9 each service in turn meanwhile", \.drill),
            .text("--json", "FILE", "write the result as JSON too", \.jsonFile),
        ]
    }

    private static var runningOptions: [CommandOption<LoadCommand>] {
        [
            .text(
                "--device-token", "TOKEN", "what the app calls with (that of `liveline up --simulator`)",
                \.app.deviceToken),
            .text("--bundle", "ID", "the application's bundle id (\(TrialSetup.bundleID))", \.app.bundleID),
            .text(
                "--config", "FILE", "configuration of the running services, for their processor time",
                \.configurationFile),
            .text("--run", "DIR", "their run directory (as the configuration says)", \.runDirectory),
        ]
    }

    static let details = """
        orders    many activities with one phone each, updated one after the other at a fixed rate
        fan-out   one update to an activity on many phones
        latency   one update each to many activities, with nothing else to do
        import    a bulk import of devices; ends with 1 unless every one has arrived at the end
        neighbours  --own: single updates of one application, alone and while another starts an activity by filter
        outage    --own: accepts updates of as many activities while APNs refuses connections, shows the memory of each
                  service before, at its peak and after, and ends with 1 unless every message is settled once APNs
                  is back: delivered, superseded or expired

        Sends go out by the clock and never wait for answers; what goes late is counted. Without --own it loads the
        deployment at --url with the phones of the simulator at --control. --drill kill-each sends 2,000 updates to
        500 activities and kills each service once; it ends with 1 unless every accepted message is settled and every
        phone shows the newest state.
        """

    mutating func take(_ operand: String) -> Bool {
        guard !hasScenario, let scenario = LoadParameters.Scenario(rawValue: operand) else { return false }
        parameters.scenario = scenario
        hasScenario = true
        return true
    }

    var faults: [String] {
        var faults = hasScenario ? [] : ["orders, fan-out, latency, import, neighbours or outage: missing"]
        if let drill, drill != "kill-each" { faults.append("--drill \(drill): kill-each is expected") }
        if drill != nil, !isOwn { faults.append("--drill: only with --own") }
        if drill != nil, parameters.scenario != .orders { faults.append("--drill: only with orders") }
        if [.neighbours, .outage].contains(parameters.scenario), hasScenario, !isOwn {
            faults.append("\(parameters.scenario.rawValue): only with --own")
        }
        return faults
    }

    func run(on console: Console) throws(CommandFailure) -> Verdict {
        let progress = Progress(console)
        if parameters.scenario == .importing { return try runImport(console, progress) }
        if parameters.scenario == .neighbours { return try runNeighbours(progress, console) }
        if parameters.scenario == .outage { return try runOutage(progress, console) }
        let report = isOwn ? try runOwn(progress) : try runOther(progress)
        console.say(report.text)
        if let jsonFile {
            try TextFile.write(String(decoding: report.json, as: UTF8.self) + "\n", to: jsonFile)
        }
        guard drill != nil else { return .good }
        let isGood = report.unsettled == 0 && report.missing == 0
        console.say(isGood ? "drill passed" : "drill failed")
        return isGood ? .good : .bad
    }

    private func runNeighbours(_ progress: Progress, _ console: Console) throws(CommandFailure) -> Verdict {
        var parameters = parameters
        parameters.devices = devices ?? 100_000
        let own = try OwnDeployment(
            intervalSeconds: parameters.interval,
            simulatorOptions: ["--arrivals", "1000000", "--registrations-max", "256"],
            sink: progress.graveLines
        ) { $0.hasNeighbour = true }
        defer { own.stop() }
        let report = try NeighboursRun(parameters: parameters, own: own, progress: progress).run()
        console.say(report.text)
        if let jsonFile {
            try TextFile.write(String(decoding: report.json, as: UTF8.self) + "\n", to: jsonFile)
        }
        return .good
    }

    private func runOutage(_ progress: Progress, _ console: Console) throws(CommandFailure) -> Verdict {
        // What waits is to go out at the end, however long the outage has been.
        let own = try OwnDeployment(
            intervalSeconds: parameters.interval, simulatorOptions: ["--any-token"], sink: progress.graveLines
        ) { $0.updateExpirationSeconds = 7 * 86_400 }
        defer { own.stop() }
        let loop = own.loop(connectionsMax: connections)
        try own.waitUntilReady(loop)
        let report = try OutageRun(
            messages: parameters.messages, own: own, loop: loop, connections: connections,
            progress: progress, settleMilliseconds: parameters.settleSeconds * 1_000,
            restMilliseconds: (parameters.restSeconds ?? 10) * 1_000
        ).run()
        console.say(report.text)
        if let jsonFile {
            try TextFile.write(String(decoding: report.json, as: UTF8.self) + "\n", to: jsonFile)
        }
        return report.breaches.isEmpty ? .good : .bad
    }

    private func runOwn(_ progress: Progress) throws(CommandFailure) -> LoadReport {
        var parameters = parameters
        parameters.killsEach = drill != nil
        parameters.devices = devices ?? parameters.devices
        let own = try OwnDeployment(
            intervalSeconds: parameters.interval, simulatorOptions: ["--arrivals", "1000000"],
            sink: progress.graveLines)
        defer { own.stop() }
        let loop = own.loop(connectionsMax: connections)
        try own.waitUntilReady(loop)
        progress.say("ready: \(own.door.url), simulator \(own.control.url)")
        return try LoadRun(
            parameters, door: own.door, control: own.control, app: app,
            configuration: own.running.deployment.configuration, loop: loop, progress: progress,
            supervisor: own.running.supervisor
        ).run()
    }

    private func runImport(_ console: Console, _ progress: Progress) throws(CommandFailure) -> Verdict {
        let report = isOwn ? try importOwn(progress) : try importOther(progress)
        console.say(report.text)
        if let jsonFile {
            try TextFile.write(String(decoding: report.json, as: UTF8.self) + "\n", to: jsonFile)
        }
        return report.isComplete ? .good : .bad
    }

    private func importOwn(_ progress: Progress) throws(CommandFailure) -> ImportReport {
        let own = try OwnDeployment(intervalSeconds: parameters.interval, sink: progress.graveLines)
        defer { own.stop() }
        let loop = own.loop()
        try own.waitUntilReady(loop)
        return try ImportRun(
            devices: devices ?? parameters.devices, door: own.door,
            configuration: own.running.deployment.configuration,
            loop: loop, progress: progress, settleMilliseconds: parameters.settleSeconds * 1_000
        ).run()
    }

    private func importOther(_ progress: Progress) throws(CommandFailure) -> ImportReport {
        let interruption = Interruption()
        let loop = CallLoop(with: [interruption.signals]) { interruption.failure }
        return try ImportRun(
            devices: devices ?? parameters.devices, door: door, configuration: try otherConfiguration(),
            loop: loop,
            progress: progress, settleMilliseconds: parameters.settleSeconds * 1_000
        ).run()
    }

    private func otherConfiguration() throws(CommandFailure) -> Configuration {
        var options = Options()
        options.configurationPath = configurationFile
        options.runDirectory = runDirectory
        return try ConfigurationFile.read(options).configuration
    }

    private func runOther(_ progress: Progress) throws(CommandFailure) -> LoadReport {
        let interruption = Interruption()
        let loop = CallLoop(connectionsMax: connections, with: [interruption.signals]) {
            interruption.failure
        }
        var parameters = parameters
        parameters.devices = devices ?? parameters.devices
        return try LoadRun(
            parameters, door: door, control: control, app: app,
            configuration: try otherConfiguration(), loop: loop, progress: progress
        ).run()
    }
}
