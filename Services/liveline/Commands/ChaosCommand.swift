import Arguments
import Crypto
import FoundationEssentials
import Service
import Telemetry

/// `liveline chaos`: breaks what can break under load, and checks every promise.
struct ChaosCommand: Subcommand {
    static let name = "chaos"
    static let summary = "kills, holds and restarts services under load and checks every promise"
    static let usage = "[--minutes N | --seconds N] [--seed S] [options]"

    var parameters = ChaosParameters()
    var seed: UInt64?
    var minutes: Int64?
    var isKept = false

    static var options: [CommandOption<ChaosCommand>] {
        [
            .number("--minutes", "how long things break", 1...1_440, \.minutes),
            .number("--seconds", "the same in seconds (60)", 1...86_400, \.parameters.seconds),
            .number("--seed", "what follows from chance (random; it is printed)", 0...UInt64.max, \.seed),
            .number("--rate", "calls a second (100)", 1...100_000, \.parameters.rate),
            .number("--activities", "activities at a time (300)", 1...1_000_000, \.parameters.activities),
            .number(
                "--interval", "seconds between pushes of a participant (5)", 0...3_600,
                \.parameters.intervalSeconds),
            .number(
                "--kill-ms", "from one kill to the next (5500)", 100...86_400_000,
                \.parameters.killMilliseconds),
            .number(
                "--hold-ms", "from one SIGSTOP to the next (11000)", 100...86_400_000,
                \.parameters.holdMilliseconds),
            .number(
                "--restart-ms", "from one SIGTERM to the next (23000)", 100...86_400_000,
                \.parameters.restartMilliseconds),
            .number(
                "--fault-ms", "from one fault of APNs to the next (4000)", 100...86_400_000,
                \.parameters.faultMilliseconds),
            .number(
                "--token-ms", "from one changed token to the next (400)", 10...86_400_000,
                \.parameters.tokenMilliseconds),
            .number(
                "--settle", "seconds to come to rest in the end (300)", 150...86_400,
                \.parameters.settleSeconds
            ),
            .flag("--keep", "keep stores and logs also when all is well", \.isKept),
        ]
    }

    static let details = """
        Starts everything in a temporary directory and makes calls by the clock: activities start, change, end, and
        others follow. Meanwhile services are killed (each of the five once in five kills), held for up to 8 s and asked
        to stop; APNs refuses, is silent, slow, or ends connections; tokens change, people dismiss activities. A call
        without an answer goes again under its Idempotency-Key until it is answered. Then all comes to rest, each
        activity gets one more update, and what the README's table of states promises is checked message by message
        and phone by phone: what was accepted is settled, with one delivery for each phone, and delivered only where
        APNs has had it; no older state comes after a newer one; two updates come no closer than the interval, but
        where nobody could know of the former; when APNs refuses the provider token (403) everything waits, and goes
        out afterwards; a state comes twice only where a gateway ended before
        the registry can have had its report, once for each such end, or where APNs' answer was lost; no token is used
        after its 410 was told, with the same exceptions. Ends with 1 on any breach, and when less than 95 % of the calls
        that were due went out, and names the directory with stores and logs.
        """

    func run(on console: Console) throws(CommandFailure) -> Verdict {
        var parameters = parameters
        parameters.seed = seed ?? randomUInt64() >> 40
        if let minutes { parameters.seconds = minutes * 60 }
        let log = LogTail()
        var supervision = SupervisionSettings()
        // Every life counts as a long one: a service is back at once, however often it is killed.
        supervision.longLifeMilliseconds = 0
        let own = try OwnDeployment(
            intervalSeconds: parameters.intervalSeconds,
            simulatorOptions: [
                "--arrivals", "200000", "--start-budget", "0", "--activities-max", "10000", "--history", "5",
            ],
            supervision: supervision, sink: log.sink
        ) {
            $0.startBurst = 1_000
            // What follows a start that may never have come is settled before the run gives up.
            $0.tokenWaitSeconds = 120
            $0.logLevel = "info"
        }
        defer { own.stop() }
        let progress = Progress(console)
        progress.say("seed \(parameters.seed)")
        let report: ChaosReport
        do throws(CommandFailure) {
            report = try ChaosRun(parameters: parameters, own: own, progress: progress).run()
        } catch {
            try keep(own, log, console)
            throw error
        }
        console.say(report.text)
        if isKept || !report.isGood { try keep(own, log, console) }
        return report.isGood ? .good : .bad
    }

    private func keep(_ own: OwnDeployment, _ log: LogTail, _ console: Console) throws(CommandFailure) {
        let directory = own.keepDirectory()
        own.stop()
        try TextFile.write(log.text, to: "\(directory)/services.log")
        console.say("stores and logs: \(directory)")
    }
}
