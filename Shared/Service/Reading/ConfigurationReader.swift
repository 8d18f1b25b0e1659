import Bus
import Contracts
import JSON

/// A configuration and what is doubtful in it.
public struct ReadConfiguration: Sendable, Equatable {
    /// The configuration.
    public var configuration: Configuration
    /// What is allowed, but probably not meant.
    public var warnings: [ConfigurationFault]
}

extension Configuration {
    /// The largest configuration file, in bytes.
    static let fileBytesMax = 16 << 20

    /// Reads the configuration file, with the environment and the options over it.
    ///
    /// - Parameters:
    ///   - options: the command line; without a configuration file the defaults hold.
    ///   - environment: the process's environment, of which names that begin with `LIVELINE_` are read.
    /// - Returns: the configuration and what is doubtful in it.
    /// - Throws: `ConfigurationFaults` with everything that is wrong.
    public static func read(
        _ options: Options, environment: [String: String] = [:]
    ) throws(ConfigurationFaults) -> ReadConfiguration {
        guard let path = options.configurationPath else {
            return try read([UInt8]("{}".utf8), directory: ".", options: options, environment: environment)
        }
        let bytes: [UInt8]
        do {
            bytes = try readFile(path, bytesMax: fileBytesMax)
        } catch {
            throw ConfigurationFaults([ConfigurationFault(path, error.description)])
        }
        return try read(bytes, directory: directory(of: path), options: options, environment: environment)
    }

    /// Reads a configuration from bytes.
    ///
    /// - Parameters:
    ///   - bytes: the JSON text.
    ///   - directory: what relative paths of files are relative to.
    ///   - options: the command line.
    ///   - environment: the process's environment.
    /// - Returns: the configuration and what is doubtful in it.
    /// - Throws: `ConfigurationFaults` with everything that is wrong.
    public static func read(
        _ bytes: [UInt8], directory: String, options: Options = Options(), environment: [String: String] = [:]
    ) throws(ConfigurationFaults) -> ReadConfiguration {
        let document: JSONDocument
        do {
            document = try JSONDocument(bytes)
        } catch {
            throw ConfigurationFaults([ConfigurationFault("", "not JSON: \(error)")])
        }
        let findings = Findings(environment: environment)
        let root = Section(document.root, path: "", findings: findings)
        var configuration = Configuration(root, directory: directory)
        configuration.runDirectory = options.runDirectory ?? configuration.runDirectory
        configuration.dataDirectory = options.dataDirectory ?? configuration.dataDirectory
        configuration.checkPaths(findings)
        findings.warnAboutUnknownEnvironment()
        let read = ReadConfiguration(configuration: configuration, warnings: findings.warnings)
        guard findings.faults.isEmpty else { throw ConfigurationFaults(findings.faults, readable: read) }
        return read
    }

    private static func directory(of path: String) -> String {
        guard let slash = path.lastIndex(of: "/") else { return "." }
        return slash == path.startIndex ? "/" : String(path[..<slash])
    }

    private init(_ root: Section, directory: String) {
        self.init()
        runDirectory = root.string("runDirectory") ?? runDirectory
        dataDirectory = root.string("dataDirectory") ?? dataDirectory
        let day: Int64 = 86_400
        retentionSeconds = root.integer("retentionSeconds", in: day...(3_650 * day)) ?? retentionSeconds
        http = HTTP(root.section("http"), directory: directory)
        adminListen = Configuration.admin(root.section("admin"))
        apns = APNs(root.section("apns"), directory: directory)
        log = Log(root.section("log"))
        delivery = DeliverySettings(root.section("delivery"), defaults: DeliverySettings())
        let sections = root.sections("applications")
        applications = sections.compactMap { section in
            Application(section, delivery: delivery, directory: directory)
        }
        requireUnique(sections)
        root.finish()
    }

    private func requireUnique(_ sections: [Section]) {
        for name in ["code", "firebaseProject"] {
            var seen: [String: String] = [:]
            for section in sections {
                guard let text = section.member(name)?.string, !text.isEmpty else { continue }
                if let other = seen[text] {
                    section.fault(name, "is that of \(other) too, must be unique")
                } else {
                    seen[text] = section.path
                }
            }
        }
    }

    private static func admin(_ section: Section) -> [ServiceName: String] {
        defer { section.finish() }
        var listen: [ServiceName: String] = [:]
        for service in ServiceName.allCases {
            guard let text = section.string(service.rawValue) else { continue }
            listen[service] = text
            checkAddress(text, section, service.rawValue)
        }
        return listen
    }

    /// Every service refuses a run directory in which any of them would find no room for its socket's path, so that
    /// no part of them starts.
    private func checkPaths(_ findings: Findings) {
        if dataDirectory.isEmpty { findings.fault("dataDirectory", "is empty") }
        guard !runDirectory.isEmpty else { return findings.fault("runDirectory", "is empty") }
        for service in ServiceName.allCases {
            do {
                _ = try BusEndpoint(runDirectory: runDirectory, instance: InstanceName(service))
            } catch {
                return findings.fault("runDirectory", error.description)
            }
        }
    }
}

extension Findings {
    fileprivate func warnAboutUnknownEnvironment() {
        let known = environmentNamesUsed.union(["LIVELINE_CONFIG", "LIVELINE_INSTANCE"])
        for name in environment.keys.sorted()
        where name.hasPrefix(EnvironmentName.prefix) && !known.contains(name) {
            warn(name, "is no setting and is ignored")
        }
    }
}
