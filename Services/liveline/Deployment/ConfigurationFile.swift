import FoundationEssentials
import Service

/// The configuration file as commands read it.
enum ConfigurationFile {
    /// Reads it, with the environment over it.
    ///
    /// - Throws: `CommandFailure` with everything that is wrong.
    static func read(_ options: Options) throws(CommandFailure) -> ReadConfiguration {
        do throws(ConfigurationFaults) {
            return try Configuration.read(options, environment: ProcessInfo.processInfo.environment)
        } catch {
            throw CommandFailure(.configuration, error.faults.map(\.description))
        }
    }
}
