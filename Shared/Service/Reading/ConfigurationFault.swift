/// One thing that is wrong, or doubtful, in a configuration.
///
/// It shows the name of a member and what is wrong with it, never the value of a token.
public struct ConfigurationFault: Error, Sendable, Equatable, CustomStringConvertible {
    /// Where it is, such as `applications[0].keys[0].teamId`, or the name of an environment variable.
    public var path: String
    /// What is wrong there.
    public var problem: String

    /// Describes a fault.
    public init(_ path: String, _ problem: String) {
        self.path = path
        self.problem = problem
    }

    /// One line.
    public var description: String { path.isEmpty ? problem : "\(path): \(problem)" }
}

/// All that is wrong in a configuration, in the order of the file.
public struct ConfigurationFaults: Error, Sendable, Equatable, CustomStringConvertible {
    /// At least one.
    public var faults: [ConfigurationFault]
    /// What could be read in spite of them, so that more can be checked at once; nil if nothing could.
    public var readable: ReadConfiguration?

    /// Joins faults.
    public init(_ faults: [ConfigurationFault], readable: ReadConfiguration? = nil) {
        self.faults = faults
        self.readable = readable
    }

    /// One line a fault.
    public var description: String { faults.map(\.description).joined(separator: "\n") }
}
