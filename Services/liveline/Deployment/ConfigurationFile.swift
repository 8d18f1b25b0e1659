import FoundationEssentials
import Service

/// The configuration file as commands read it.
enum ConfigurationFile {
    /// The file that the environment names, as it does for the services; an option names another.
    static var ofEnvironment: String? { ProcessInfo.processInfo.environment["LIVELINE_CONFIG"] }

    /// Reads it, with the environment over it.
    ///
    /// - Parameters:
    ///   - options: the command line.
    ///   - text: what stands in it, if it is not written yet; all its paths are absolute.
    /// - Returns: the configuration, and what is doubtful in it.
    /// - Throws: `CommandFailure` with everything that is wrong.
    static func read(_ options: Options, text: [UInt8]? = nil) throws(CommandFailure) -> ReadConfiguration {
        let (read, faults) = check(options, text: text)
        guard let read, faults.isEmpty else { throw CommandFailure(.configuration, faults) }
        return read
    }

    /// Reads it as far as it can be read.
    ///
    /// - Parameters:
    ///   - options: the command line.
    ///   - environment: the process's environment.
    ///   - text: what stands in it, if it is not written yet; all its paths are absolute.
    /// - Returns: what could be read, and everything that is wrong.
    static func check(
        _ options: Options, environment: [String: String] = ProcessInfo.processInfo.environment,
        text: [UInt8]? = nil
    ) -> (read: ReadConfiguration?, faults: [String]) {
        do throws(ConfigurationFaults) {
            guard let text else { return (try Configuration.read(options, environment: environment), []) }
            return (
                try Configuration.read(text, directory: "/", options: options, environment: environment), []
            )
        } catch {
            return (error.readable, error.faults.map(\.description))
        }
    }
}
