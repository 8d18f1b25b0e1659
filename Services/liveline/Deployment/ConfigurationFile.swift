import FoundationEssentials
import Service

/// The configuration file as commands read it.
enum ConfigurationFile {
    /// Reads it, with the environment over it.
    ///
    /// - Throws: `CommandFailure` with everything that is wrong.
    static func read(_ options: Options) throws(CommandFailure) -> ReadConfiguration {
        let (read, faults) = check(options)
        guard let read, faults.isEmpty else { throw CommandFailure(.configuration, faults) }
        return read
    }

    /// Reads it as far as it can be read.
    ///
    /// - Returns: what could be read, and everything that is wrong.
    static func check(_ options: Options) -> (read: ReadConfiguration?, faults: [String]) {
        do throws(ConfigurationFaults) {
            return (try Configuration.read(options, environment: ProcessInfo.processInfo.environment), [])
        } catch {
            return (error.readable, error.faults.map(\.description))
        }
    }
}
