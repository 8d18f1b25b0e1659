import Arguments
import Contracts
import FoundationEssentials
import Service
import Web

/// `liveline doctor`: what is wrong with a deployment, running or stopped, and what to do about it.
struct DoctorCommand: Subcommand {
    static let name = "doctor"
    static let summary = "examines a deployment, running or stopped, and says what to do"
    static let usage = "[--config FILE] [--run DIR] [--data DIR] [--offline] [--thorough]"

    var configurationFile: String?
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
        sockets, permissions, free disk, limits, clock, certificates, and whether APNs can be reached. Ends with 1 if
        there is a finding; each says what to do.
        """

    /// How long APNs may take to answer a connection, ms.
    private static let reachMilliseconds: Int64 = 5_000

    func run(on console: Console) throws(CommandFailure) -> Verdict {
        var options = Options()
        options.configurationPath = configurationFile
        options.runDirectory = runDirectory
        options.dataDirectory = dataDirectory
        let (read, faults) = ConfigurationFile.check(options)
        var findings = faults.map {
            Finding($0, "correct the configuration; liveline check reports all of its faults")
        }
        if let read { findings += examine(read) }
        for finding in findings { console.say(finding.text) }
        console.say(
            findings.isEmpty ? "nothing found" : "\(findings.count) finding\(findings.count == 1 ? "" : "s")")
        return findings.isEmpty ? .good : .bad
    }

    private func examine(_ read: ReadConfiguration) -> [Finding] {
        let configuration = read.configuration
        let files = NamedFiles(configuration)
        let doubts =
            files.faults.map { Finding($0, "put the right file there, then send SIGHUP") }
            + read.warnings.map { Finding($0.description, "change it, or leave it if it is meant so") }
            + files.warnings.map { Finding($0, "chmod 600 the file") }
        let executables = try? Executables.besideThisOne()
        let stores = StoreExamination(directory: configuration.dataDirectory, isThorough: isThorough) {
            service in
            executables.flatMap { StoreExamination.version(of: service, in: $0) }
        }
        let host = HostExamination(configuration: configuration, nowSeconds: Date().timeIntervalSince1970)
        return doubts + host.findings + stores.findings
            + RunExamination(directory: configuration.runDirectory).findings + readiness(configuration)
            + (isOffline ? [] : reach(configuration))
    }

    /// Services that answer, but cannot work.
    private func readiness(_ configuration: Configuration) -> [Finding] {
        Deployment.goingDown.compactMap { service in
            let request = AdminAddress(service, configuration).request("/readyz", timeoutMilliseconds: 2_000)
            guard let answer = try? HTTPClient.perform(request), answer.status != 200 else { return nil }
            let why = String(decoding: answer.body.prefix(400), as: UTF8.self).split(separator: "\n").joined(
                separator: ", ")
            return Finding(
                "\(service.rawValue) is not ready: \(why)", "see to what it lacks; its log says more")
        }
    }

    private func reach(_ configuration: Configuration) -> [Finding] {
        let environments = Set(
            configuration.applications.flatMap { application in
                application.keys.compactMap(\.environment) + [application.environment]
            })
        return APNsEnvironment.allCases.filter(environments.contains).compactMap { environment in
            let request = HTTPClientRequest(
                url: configuration.apns[environment], timeoutMilliseconds: Self.reachMilliseconds,
                caFile: configuration.apns.caFile)
            do throws(HTTPClientError) {
                _ = try HTTPClient.perform(request)
                return nil
            } catch {
                guard [.unresolved, .connectionFailed, .timedOut, .tls].contains(error.reason) else {
                    return nil
                }
                return Finding(
                    "\(configuration.apns[environment]) cannot be reached: \(error)",
                    "open the way out to port 443 of Apple's 17.0.0.0/8, or to the proxy that the environment names"
                )
            }
        }
    }
}
