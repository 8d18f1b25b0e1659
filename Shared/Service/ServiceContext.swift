public import Contracts
public import Store
public import Telemetry

/// What a service is made from: its configuration, its name, and the tools of its process.
public struct ServiceContext: Sendable {
    /// The configuration file with the environment and options over it.
    public var configuration: Configuration
    /// Which process of which service this is.
    public let instance: InstanceName
    /// The random number that names this life of the instance; at most 53 bits.
    public let epoch: Int64
    /// Where to log.
    public internal(set) var logger: Logger
    /// What `/metrics` shows.
    public let metrics: Metrics
    /// Whether the service runs alone on standard input and output.
    public let isAlone: Bool
    /// The values of the options that the service declared itself, by their names without dashes.
    public let options: [String: String]
    /// The store that `--store` names for a service that runs alone; nil keeps it in memory.
    let storePath: String?

    /// Describes a process; for tests, which need no options.
    public init(
        configuration: Configuration, instance: InstanceName, epoch: Int64, logger: Logger,
        metrics: Metrics = Metrics(), isAlone: Bool = false, options: [String: String] = [:],
        storePath: String? = nil
    ) {
        self.configuration = configuration
        self.instance = instance
        self.epoch = epoch
        self.logger = logger
        self.metrics = metrics
        self.isAlone = isAlone
        self.options = options
        self.storePath = storePath
    }

    /// Goes by a configuration that was read again; where it has its lock it has its store too.
    mutating func take(_ fresh: Configuration) {
        let directory = configuration.dataDirectory
        configuration = fresh
        configuration.dataDirectory = directory
        logger.level = LogLevel(name: fresh.log.level) ?? logger.level
    }

    /// Where a store lives: `<data>/<name>.sqlite`, or for a service that runs alone what `--store` says, else memory.
    public func store(_ name: String) -> Database.Location {
        guard isAlone else { return .file("\(configuration.dataDirectory)/\(name).sqlite") }
        return storePath.map { .file($0) } ?? .memory
    }
}
